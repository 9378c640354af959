/** A table without a terminal: a line of column names, then rows with their cells uncut, separated by tabs. */
import { printableLine } from "./printable.js";
import { type Part, textOf } from "./style.js";

export interface Column {
  readonly name: string;
  readonly align?: "right";
  /** True: broken into lines where it does not fit, instead of cut. */
  readonly isWhole?: boolean;
}

export function plainLines(columns: readonly Column[], rows: readonly (readonly Part[])[]): string[] {
  const lines = rows.map((row) => row.map((cell) => printableLine(textOf(cell))));
  return [columns.map(({ name }) => name), ...lines].map((row) => row.join("\t"));
}
