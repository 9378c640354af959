/**
 * A table on a terminal: aligned columns, without those that are empty, the last one cut to the remaining width. On a terminal that is too narrow for
 * them, each row is a list of its cells under their names, as psql's expanded display does it, so that ids stay whole.
 */
import { cut, padEnd, padStart, widthOf } from "./cut.js";
import { printableLine } from "./printable.js";
import type { Column } from "./rows.js";
import { type Part, painted, textOf } from "./style.js";

const GAP = "  ";
/** Minimum width of the last column, unless its cells are shorter. */
const LAST_MIN = 20;
/** Maximum width of other cells, so that later columns stay visible. */
const CELL_MAX = 40;

interface Look {
  readonly width: number;
  readonly isColored: boolean;
}

export function tableLines(all: readonly Column[], given: readonly (readonly Part[])[], look: Look): string[] {
  const isUsed = (at: number): boolean => given.length === 0 || given.some((row) => textOf(row[at] ?? "") !== "");
  const columns = all.filter((_, at) => isUsed(at));
  const rows = given.map((row) => row.filter((_, at) => isUsed(at)));
  const cells = [columns.map(({ name }) => name), ...rows.map((row) => row.map((cell) => printableLine(textOf(cell))))];
  const last = columns.length - 1;
  const shown = cells.map((row) => row.map((cell, at) => (at === last ? cell : cut(cell, CELL_MAX))));
  const widths = columns.map((_, at) => Math.max(...shown.map((row) => widthOf(row[at] ?? ""))));
  const before = widths.slice(0, last).reduce((sum, width) => sum + width + GAP.length, 0);
  const left = look.width - before;
  if (left < Math.min(LAST_MIN, widths[last] ?? 0)) return expandedLines(columns, rows, look);
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

/** Rows are separated by an empty line; empty cells are left out. */
function expandedLines(columns: readonly Column[], rows: readonly (readonly Part[])[], look: Look): string[] {
  const margin = Math.max(...columns.map(({ name }) => widthOf(name))) + GAP.length;
  return rows.flatMap((row, at) => {
    const lines = columns.flatMap(({ name }, cell) => {
      const text = printableLine(textOf(row[cell] ?? ""));
      if (text === "") return [];
      const [label, value] = [padEnd(name, margin), cut(text, Math.max(LAST_MIN, look.width - margin))];
      return [look.isColored ? painted(label, "bold") + painted(value, styleOf(row[cell])) : label + value];
    });
    return at === 0 ? lines : ["", ...lines];
  });
}

const styleOf = (part: Part | undefined) => (typeof part === "object" ? part.style : undefined);
