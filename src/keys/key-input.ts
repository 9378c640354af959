/** Validates what callers say about keys. */

import { parseIdentity } from "../input/identity.js";
import { parseInstant } from "../input/instant.js";
import { CURSOR_UNITS_MAX } from "../input/limits.js";
import { type PageOptions, parsePage } from "../input/page.js";
import { invalid, objectWith, parseChoice, tooLarge, wrongType } from "../input/refusal.js";
import { parseSpace } from "../input/scope.js";
import { spaceKey } from "../space-key.js";
import { ACCESS, type Access, type KeySpace, type KeysRequest, type PutKeyWrite } from "../stores/keys.js";
import type { Instant, SpaceKind, SpaceRef } from "../types.js";

/** An API key to create. */
export interface NewKey {
  /** Its purpose; shown in lists. */
  readonly name?: string;
  /** read · write (and read) · admin (everything, in all spaces). */
  readonly access: Access;
  /** Single spaces, or every space of a kind, such as "user". New spaces are registered. */
  readonly spaces: readonly KeySpace[];
  /** The key is refused from this time on. Without it, the key is valid until it is revoked. */
  readonly expiresAt?: Instant;
}

/** Which keys to list. */
export interface KeysOptions extends PageOptions {
  /** Only keys that name this space. */
  readonly space?: SpaceRef;
}

const KINDS = ["user", "agent", "team"] as const satisfies readonly SpaceKind[];
const SPACES_MAX = 1_000;
const SPACES_HINT = 'for example [{ user: "ada" }], or ["user"] for all users';
const NEW_KEYS: ReadonlySet<string> = new Set(["name", "access", "spaces", "expiresAt"]);
const LIST_KEYS: ReadonlySet<string> = new Set(["space", "limit", "cursor"]);

export function parseNewKey(value: unknown, now: number): Omit<PutKeyWrite["key"], "id" | "hash"> {
  const { name, access: given, spaces: named, expiresAt } = objectWith(value, NEW_KEYS, "key");
  const access = parseChoice(given, ACCESS, "key.access");
  const spaces = parseKeySpaces(named);
  if (access === "admin" && KINDS.some((kind) => !spaces.includes(kind))) {
    const hint = 'an admin key has access to everything: spaces: ["user", "agent", "team"]; otherwise use "write"';
    throw invalid("key.spaces", "of an admin key must cover all users, agents and teams", hint);
  }
  return {
    ...(name !== undefined && { name: parseIdentity(name, "key.name") }),
    access,
    spaces,
    ...(expiresAt !== undefined && { expiresAt: parseExpiry(expiresAt, now) }),
  };
}

/** Without duplicates, in the given order. */
function parseKeySpaces(value: unknown): readonly KeySpace[] {
  if (!Array.isArray(value)) throw wrongType("key.spaces", "a list of spaces", value, SPACES_HINT);
  if (value.length === 0) throw invalid("key.spaces", "must name at least one space", SPACES_HINT);
  const spaces = new Map<string, KeySpace>();
  for (let at = 0; at < value.length; at++) {
    const space = parseKeySpace(value[at], `key.spaces[${at}]`);
    spaces.set(typeof space === "string" ? space : spaceKey(space), space);
  }
  if (value.length > SPACES_MAX) {
    throw tooLarge("key.spaces", `${SPACES_MAX} spaces`, 'cover a whole kind, such as "user", or create several keys');
  }
  return [...spaces.values()];
}

function parseKeySpace(value: unknown, where: string): KeySpace {
  return typeof value === "string" ? parseChoice(value, KINDS, where) : parseSpace(value, where);
}

function parseExpiry(value: unknown, now: number): number {
  const at = parseInstant(value, "key.expiresAt");
  if (at <= now) throw invalid("key.expiresAt", "must be in the future", "omit it for a key that does not expire");
  return at;
}

export function parseKeysOptions(options: unknown): KeysRequest {
  const { space, ...page } = objectWith(options ?? {}, LIST_KEYS, "options");
  const { cursor } = page;
  if (cursor !== undefined && (typeof cursor !== "string" || cursor.length > CURSOR_UNITS_MAX)) {
    throw invalid("options.cursor", "is not a cursor", "pass the `next` of the previous page, unchanged");
  }
  return { ...parsePage(page), ...(space !== undefined && { space: parseSpace(space, "options.space") }) };
}
