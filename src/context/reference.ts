/** References: how the ledger names the contents of a window. */
import { spaceKey } from "../space-key.js";
import { KINDS, type Kind, type SpaceRef } from "../types.js";

/**
 * past: a fact as it held at some time, given with its dates. It may be in the window beside the same fact as it holds
 * now, and stays true when that ends.
 */
const NAMED_KINDS = [...KINDS, "past"] as const;
export type NamedKind = Kind | "past";

export interface Reference {
  readonly kind: NamedKind;
  readonly space: SpaceRef;
  readonly id: string;
}

export function refOf({ kind, space, id }: Reference): string {
  return JSON.stringify([kind, ...(Object.entries(space)[0] ?? []), id]);
}

/** Undefined for an entry that another program wrote. */
export function parseRef(ref: string): Reference | undefined {
  try {
    const [kind, spaceKind, name, id, ...rest] = JSON.parse(ref) as readonly unknown[];
    const known = NAMED_KINDS.find((candidate) => candidate === kind);
    if (!known || typeof spaceKind !== "string" || typeof name !== "string" || typeof id !== "string") return undefined;
    return rest.length > 0 ? undefined : { kind: known, space: { [spaceKind]: name } as SpaceRef, id };
  } catch {
    return undefined; // not JSON, or not a list
  }
}

export const itemKind = (kind: NamedKind): Kind => (kind === "past" ? "fact" : kind);

export const sameSpace = (a: SpaceRef, b: SpaceRef): boolean => spaceKey(a) === spaceKey(b);
