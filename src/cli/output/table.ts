/** A table on a terminal: aligned columns, the last one cut to the remaining width. */
import { cut, padEnd, padStart, widthOf } from "./cut.js";
import { printableLine } from "./printable.js";
import type { Column } from "./rows.js";
import { type Part, painted, textOf } from "./style.js";

const GAP = "  ";
/** Minimum width of the last column, even on a narrow terminal. */
const LAST_MIN = 20;
/** Maximum width of other cells, so that later columns stay visible. */
const CELL_MAX = 40;

interface Look {
  readonly width: number;
  readonly isColored: boolean;
}

export function tableLines(columns: readonly Column[], rows: readonly (readonly Part[])[], look: Look): string[] {
  const cells = [columns.map(({ name }) => name), ...rows.map((row) => row.map((cell) => printableLine(textOf(cell))))];
  const last = columns.length - 1;
  const shown = cells.map((row) => row.map((cell, at) => (at === last ? cell : cut(cell, CELL_MAX))));
  const widths = columns.map((_, at) => Math.max(...shown.map((row) => widthOf(row[at] ?? ""))));
  const before = widths.slice(0, last).reduce((sum, width) => sum + width + GAP.length, 0);
  const left = Math.max(LAST_MIN, look.width - before);
  return shown.map((row, line) =>
    row
      .map((cell, at) => {
        const style = line === 0 ? "bold" : styleOf(rows[line - 1]?.[at]);
        const text = at === last ? cut(cell, left) : cell;
        const isRight = columns[at]?.align === "right";
        const width = at === last && !isRight ? 0 : (widths[at] ?? 0);
        const padded = isRight ? padStart(text, width) : padEnd(text, width);
        return look.isColored ? painted(padded, style) : padded;
      })
      .join(GAP)
      .trimEnd(),
  );
}

const styleOf = (part: Part | undefined) => (typeof part === "object" ? part.style : undefined);
