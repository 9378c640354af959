/** What a key gives access to. Requires a key that `ApiKeys.verify` has accepted. */
import { ACCESS, type Access, type ApiKey, type KeySpace } from "../stores/keys.js";
import type { SpaceKind, SpaceRef } from "../types.js";

/** Whether the key names this space, or every space of its kind. */
export function covers(key: ApiKey, space: SpaceRef): boolean {
  const [kind, name] = partsOf(space);
  return key.spaces.some((named) => {
    if (typeof named === "string") return named === kind;
    const [namedKind, namedName] = partsOf(named);
    return namedKind === kind && namedName === name;
  });
}

/** A key that names agents is bound to them, and stays bound when they are forgotten. Other keys are not bound. */
export function isBound(key: ApiKey): boolean {
  if (key.spaces.includes("agent")) return false; // it covers all agents
  return key.spaces.some((named) => kindOf(named) === "agent") || key.forgotten?.includes("agent") === true;
}

/** Whether a caller with this key may act as this agent. */
export const mayActAs = (key: ApiKey, agent: string): boolean => !isBound(key) || covers(key, { agent });

/** Whether the key has this access, or one that includes it. Unknown access is never allowed. */
export function allows(key: ApiKey, access: Access): boolean {
  const asked = ACCESS.indexOf(access);
  return asked >= 0 && asked <= ACCESS.indexOf(key.access);
}

function partsOf(space: SpaceRef): readonly [kind: SpaceKind, name: string] {
  if ("user" in space) return ["user", space.user];
  return "agent" in space ? ["agent", space.agent] : ["team", space.team];
}

const kindOf = (named: KeySpace): SpaceKind => (typeof named === "string" ? named : partsOf(named)[0]);
