/**
 * A table on a terminal: aligned columns, without those that are empty, the last one cut to the remaining width, or broken into lines if it has to stay
 * whole. The first column, which names the row for later commands, is never cut. On a terminal that is too narrow, each row is a list of its cells under
 * their names, as psql's expanded display does it.
 */
import { cut, padEnd, padStart, widthOf } from "./cut.js";
import { printableLine } from "./printable.js";
import type { Column } from "./rows.js";
import { type Part, painted, textOf } from "./style.js";
import { wrapped } from "./wrap.js";

const GAP = "  ";
/** Minimum width of the last column, unless its cells are shorter. */
const LAST_MIN = 20;
/** Maximum widths of the cells between the first column and the last: the second where the first leaves too little. */
const CELL_MAX = [40, 20];

interface Look {
  readonly width: number;
  readonly isColored: boolean;
}

export function tableLines(all: readonly Column[], given: readonly (readonly Part[])[], look: Look): string[] {
  const isUsed = (at: number): boolean => given.length === 0 || given.some((row) => textOf(row[at] ?? "") !== "");
  const columns = all.filter((_, at) => isUsed(at));
  const rows = given.map((row) => row.filter((_, at) => isUsed(at)));
  for (const cellMax of CELL_MAX) {
    const lines = alignedLines(columns, rows, look, cellMax);
    if (lines) return lines;
  }
  return expandedLines(columns, rows, look);
}

/** Undefined if the terminal is too narrow. */
function alignedLines(
  columns: readonly Column[],
  rows: readonly (readonly Part[])[],
  look: Look,
  cellMax: number,
): string[] | undefined {
  const cells = [columns.map(({ name }) => name), ...rows.map((row) => row.map((cell) => printableLine(textOf(cell))))];
  const last = columns.length - 1;
  const shown = cells.map((row) => row.map((cell, at) => (at === 0 || at === last ? cell : cut(cell, cellMax))));
  const widths = columns.map((_, at) => Math.max(...shown.map((row) => widthOf(row[at] ?? ""))));
  const before = widths.slice(0, last).reduce((sum, width) => sum + width + GAP.length, 0);
  const left = look.width - before;
  if (left < Math.min(LAST_MIN, widths[last] ?? 0)) return undefined;
  return shown.flatMap((row, line) => {
    const [text = "", ...more] = linesOf(columns[last], row[last] ?? "", left);
    const first = row.map((cell, at) => {
      const style = line === 0 ? "bold" : styleOf(rows[line - 1]?.[at]);
      const isRight = columns[at]?.align === "right";
      const width = at === last && !isRight ? 0 : (widths[at] ?? 0);
      const padded = isRight ? padStart(at === last ? text : cell, width) : padEnd(at === last ? text : cell, width);
      return look.isColored ? painted(padded, style) : padded;
    });
    return [first.join(GAP).trimEnd(), ...more.map((rest) => " ".repeat(before) + rest)];
  });
}

/** Rows are separated by an empty line; empty cells are left out. */
function expandedLines(columns: readonly Column[], rows: readonly (readonly Part[])[], look: Look): string[] {
  const margin = Math.max(...columns.map(({ name }) => widthOf(name))) + GAP.length;
  const width = Math.max(LAST_MIN, look.width - margin);
  return rows.flatMap((row, at) => {
    const lines = columns.flatMap((column, cell) => {
      const text = printableLine(textOf(row[cell] ?? ""));
      if (text === "") return [];
      const values = linesOf(cell === 0 ? { ...column, isWhole: true } : column, text, width);
      return values.map((value, line) => {
        const label = padEnd(line === 0 ? column.name : "", margin);
        return look.isColored ? painted(label, "bold") + painted(value, styleOf(row[cell])) : label + value;
      });
    });
    return at === 0 ? lines : ["", ...lines];
  });
}

const linesOf = (column: Column | undefined, text: string, width: number): readonly string[] =>
  column?.isWhole ? wrapped(text, width, widthOf).split("\n") : [cut(text, width)];

const styleOf = (part: Part | undefined) => (typeof part === "object" ? part.style : undefined);
