/** What a key opens. Each answer is about the key alone: that it is genuine and in force, `ApiKeys.verify` has said. */
import { ACCESS, type Access, type ApiKey, type KeySpace } from "../stores/keys.js";
import type { SpaceKind, SpaceRef } from "../types.js";

/** Whether the key names this space, or all of its kind. */
export function covers(key: ApiKey, space: SpaceRef): boolean {
  const [kind, name] = partsOf(space);
  return key.spaces.some((named) => {
    if (typeof named === "string") return named === kind;
    const [namedKind, namedName] = partsOf(named);
    return namedKind === kind && namedName === name;
  });
}

/**
 * Whether whoever has the key may say that it is this agent, where the agent is an attribute of a scope. A key that names
 * agents is bound to them, and stays bound when they are forgotten; one that never named any is bound to none.
 */
export function mayActAs(key: ApiKey, agent: string): boolean {
  const isBound = key.spaces.some((named) => kindOf(named) === "agent") || key.forgotten?.includes("agent");
  return !isBound || covers(key, { agent });
}

/** Whether the key has this access, or one that includes it. What is no access at all is never allowed. */
export function allows(key: ApiKey, access: Access): boolean {
  const asked = ACCESS.indexOf(access);
  return asked >= 0 && asked <= ACCESS.indexOf(key.access);
}

function partsOf(space: SpaceRef): readonly [kind: SpaceKind, name: string] {
  if ("user" in space) return ["user", space.user];
  return "agent" in space ? ["agent", space.agent] : ["team", space.team];
}

const kindOf = (named: KeySpace): SpaceKind => (typeof named === "string" ? named : partsOf(named)[0]);
