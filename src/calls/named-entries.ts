/** The registry entries that a caller's key names individually. */
import type { Entries } from "../registry.js";
import type { Entry, SpaceKind, SpaceRef } from "../types.js";
import type { Caller } from "./caller.js";

export const spaceOf = (kind: SpaceKind, name: string): SpaceRef => ({ [kind]: name }) as unknown as SpaceRef;

export async function namedEntries(entries: Entries, kind: SpaceKind, caller: Caller): Promise<Entry[]> {
  const names = caller.named(kind).flatMap((space) => Object.values(space) as string[]);
  const found = await Promise.all(names.map((name) => entries.get(name)));
  return found.filter((entry) => entry !== undefined);
}
