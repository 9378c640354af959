/** Reads what the lines of a batch name, one read per space. */
import type { SpaceRef } from "../types.js";
import { spaceName } from "./format.js";
import type { Numbered } from "./report.js";

/** What was found, by "space id" (`spaceName`). */
export async function readBySpace<L extends { readonly space: SpaceRef }, T extends { readonly id: string }>(
  batch: readonly Numbered<L>[],
  idsOf: (line: L) => readonly string[],
  read: (space: SpaceRef, ids: readonly string[]) => Promise<readonly T[]>,
): Promise<Map<string, T>> {
  const asked = new Map<string, { readonly space: SpaceRef; readonly ids: Set<string> }>();
  for (const { line } of batch) {
    const name = spaceName(line.space);
    const ids = asked.get(name)?.ids ?? new Set();
    for (const id of idsOf(line)) ids.add(id);
    asked.set(name, { space: line.space, ids });
  }
  const found = new Map<string, T>();
  for (const [name, { space, ids }] of asked) {
    if (ids.size === 0) continue;
    for (const thing of await read(space, [...ids])) found.set(`${name} ${thing.id}`, thing);
  }
  return found;
}
