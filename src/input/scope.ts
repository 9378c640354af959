import { signatureOf } from "../actor.js";
import { spaceKey } from "../space-key.js";
import type { SpaceKind, SpaceRef } from "../types.js";
import { parseIdentity } from "./identity.js";
import { SPACES_MAX } from "./limits.js";
import { invalid, objectWith, parseChoice, tooLarge, wrongType } from "./refusal.js";

/** A scope in the store's form: the space that owns the caller's items, and the attributes that the items carry. */
export interface ParsedScope {
  readonly space: SpaceRef;
  readonly session?: string;
  readonly agent?: string;
}

/** The kinds of space, in the order of precedence for a scope's own space. */
const SPACE_KINDS = ["user", "team", "agent"] as const satisfies readonly SpaceKind[];
const SPACE_KEYS: ReadonlySet<string> = new Set(SPACE_KINDS);
const SCOPE_KEYS: ReadonlySet<string> = new Set([...SPACE_KINDS, "session", "space"]);
const SPACE_HINT = 'for example { user: "ada" }';

export function parseScope(value: unknown, where = "scope"): ParsedScope {
  const scope = objectWith(value, SCOPE_KEYS, where);
  const names: { [kind in SpaceKind]?: string } = {};
  for (const kind of SPACE_KINDS) {
    const name = scope[kind];
    if (name !== undefined) names[kind] = parseIdentity(name, `${where}.${kind}`);
  }
  const parsed: { -readonly [key in keyof ParsedScope]: ParsedScope[key] } = {
    space: spaceOf(names, scope["space"], where),
  };
  if (scope["session"] !== undefined) parsed.session = parseIdentity(scope["session"], `${where}.session`);
  if (names.agent !== undefined) parsed.agent = names.agent;
  return parsed;
}

function spaceOf(names: { readonly [kind in SpaceKind]?: string }, chosen: unknown, where: string): SpaceRef {
  const kind =
    chosen === undefined
      ? SPACE_KINDS.find((candidate) => names[candidate] !== undefined)
      : parseChoice(chosen, SPACE_KINDS, `${where}.space`);
  if (kind === undefined) throw invalid(where, "must name a user, a team or an agent", SPACE_HINT);
  const name = names[kind];
  if (name === undefined) throw invalid(`${where}.space`, `is "${kind}", but the scope names no ${kind}`);
  return { [kind]: name } as SpaceRef;
}

/** Parses a reference to a space: exactly one of user, team or agent. */
export function parseSpace(value: unknown, where = "space"): SpaceRef {
  const space = objectWith(value, SPACE_KEYS, where);
  const kinds = SPACE_KINDS.filter((kind) => space[kind] !== undefined);
  const [kind] = kinds;
  if (kind === undefined || kinds.length > 1) {
    throw invalid(where, "must name exactly one of user, team or agent", SPACE_HINT);
  }
  return { [kind]: parseIdentity(space[kind], `${where}.${kind}`) } as SpaceRef;
}

/**
 * Parses the spaces that a read may access, without duplicates. An empty list is rejected: no call reads all spaces.
 */
export function parseSpaces(value: unknown, where = "spaces"): readonly SpaceRef[] {
  if (!Array.isArray(value)) throw wrongType(where, "a list of spaces", value, 'for example [{ user: "ada" }]');
  if (value.length === 0) throw invalid(where, "must name at least one space", "leave it out for the caller's own");
  if (value.length > SPACES_MAX) throw tooLarge(where, `${SPACES_MAX} spaces`, "ask in several calls");
  const spaces = new Map<string, SpaceRef>();
  for (let index = 0; index < value.length; index++) {
    const space = parseSpace(value[index], `${where}[${index}]`);
    spaces.set(spaceKey(space), space);
  }
  return [...spaces.values()];
}

/** The default actor: the agent, or else the space itself. */
export function actorOf({ space, agent }: ParsedScope): string {
  return signatureOf(agent === undefined ? space : { agent });
}
