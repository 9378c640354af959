/** The three ways to write, and how the lines of a block are grouped into transactions (raw) or calls (Holdfast). */
import type { Line } from "./data.js";

/** single: one add after another · concurrent: 32 callers, each with one add at a time · batch: addBatch of 100 rounds. */
export const MODES = ["single", "concurrent", "batch"] as const;
export type Mode = (typeof MODES)[number];

const GROUP: { readonly [mode in Mode]: number } = { single: 1, concurrent: 32, batch: 100 };

export const MODE_NAMES: { readonly [mode in Mode]: string } = {
  single: "1 add at a time",
  concurrent: "32 callers",
  batch: "addBatch of 100",
};

/** The lines of a block in groups: one transaction of raw SQLite, or the concurrent calls of Holdfast. */
export function groupsOf(mode: Mode, lines: readonly Line[]): readonly (readonly Line[])[] {
  const size = GROUP[mode];
  const count = Math.ceil(lines.length / size);
  if (mode === "concurrent") {
    // Each caller has its own part of the lines, so that callers are in different conversations.
    return Array.from({ length: count }, (_, at) => lines.filter((_line, place) => place % count === at));
  }
  return Array.from({ length: count }, (_, at) => {
    const group = lines.slice(at * size, (at + 1) * size);
    // A batch goes to one session, that of its first line.
    const conversation = group[0]?.conversation ?? "";
    return group.map(({ message }) => ({ conversation, message }));
  });
}
