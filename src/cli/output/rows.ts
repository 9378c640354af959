/** A table where no terminal is: a row is its cells with a tab between, whole, under a line with the columns' names. */
import { printableLine } from "./printable.js";
import { type Part, textOf } from "./style.js";

export interface Column {
  readonly name: string;
  readonly align?: "right";
}

export function plainLines(columns: readonly Column[], rows: readonly (readonly Part[])[]): string[] {
  const lines = rows.map((row) => row.map((cell) => printableLine(textOf(cell))));
  return [columns.map(({ name }) => name), ...lines].map((row) => row.join("\t"));
}
