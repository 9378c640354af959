/** Reads the items named by the lines of a batch, with one read per space. */
import { spaceKey } from "../space-key.js";
import type { SpaceRef } from "../types.js";
import type { Numbered } from "./report.js";

/** The results, by "space id" (`spaceKey`). */
export async function readBySpace<L extends { readonly space: SpaceRef }, T extends { readonly id: string }>(
  batch: readonly Numbered<L>[],
  idsOf: (line: L) => readonly string[],
  read: (space: SpaceRef, ids: readonly string[]) => Promise<readonly T[]>,
): Promise<Map<string, T>> {
  const wanted = new Map<string, { readonly space: SpaceRef; readonly ids: Set<string> }>();
  for (const { line } of batch) {
    const name = spaceKey(line.space);
    const ids = wanted.get(name)?.ids ?? new Set();
    for (const id of idsOf(line)) ids.add(id);
    wanted.set(name, { space: line.space, ids });
  }
  const found = new Map<string, T>();
  for (const [name, { space, ids }] of wanted) {
    if (ids.size === 0) continue;
    for (const thing of await read(space, [...ids])) found.set(`${name} ${thing.id}`, thing);
  }
  return found;
}
