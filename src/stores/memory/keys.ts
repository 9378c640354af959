/** API keys in memory. A key names spaces themselves, so it follows their names, and a space that is gone opens nothing. */
import type { Page, SpaceKind } from "../../types.js";
import { keyTaken, noSuchKey } from "../key-rules.js";
import {
  type KeySpace,
  type KeysRequest,
  type PutKeyDone,
  type PutKeyWrite,
  type RevokeKeyDone,
  type RevokeKeyWrite,
  type StoredKey,
  shownKey,
} from "../keys.js";
import type { Attempt } from "./attempt.js";
import { pageOf } from "./page.js";
import type { Registry } from "./registry.js";
import type { Space } from "./space.js";
import type { State } from "./state.js";

export interface KeyRecord extends Omit<StoredKey, "spaces" | "forgotten"> {
  readonly order: number;
  readonly named: readonly (Space | SpaceKind)[];
}

export function putKey({ key }: PutKeyWrite, state: State, attempt: Attempt): PutKeyDone {
  const { id, name, access, spaces, expiresAt, hash } = key;
  if (state.keys.has(id)) throw keyTaken();
  const record: KeyRecord = {
    order: state.nextArrival(),
    id,
    ...(name !== undefined && { name }),
    access,
    named: spaces.map((space) => (typeof space === "string" ? space : state.registry.ensure(space, attempt))),
    createdAt: attempt.now,
    ...(expiresAt !== undefined && { expiresAt }),
    hash,
  };
  attempt.set(state.keys, id, record);
  attempt.changed = true; // no search shows a key
  return { op: "put_key", key: shownKey(toKey(record, state.registry)) };
}

export function revokeKey({ id }: RevokeKeyWrite, { keys, registry }: State, attempt: Attempt): RevokeKeyDone {
  const record = keys.get(id);
  if (!record) throw noSuchKey();
  const revoked = record.revokedAt === undefined ? { ...record, revokedAt: attempt.now } : record;
  if (revoked !== record) {
    attempt.set(keys, id, revoked);
    attempt.changed = true;
  }
  return { op: "revoke_key", key: shownKey(toKey(revoked, registry)) };
}

export function keys({ id, space: ref, limit, cursor }: KeysRequest, state: State): Page<StoredKey> {
  const space = ref && state.registry.find(ref);
  const found = [...state.keys.values()].filter(
    (record) =>
      (id === undefined || record.id === id) && (ref === undefined || (space && record.named.includes(space))),
  );
  const page = pageOf(found, { list: "keys", key: ({ order }) => [order], order: "asc", limit, cursor });
  return { ...page, items: page.items.map((record) => toKey(record, state.registry)) };
}

function toKey({ order: _order, named, ...record }: KeyRecord, registry: Registry): StoredKey {
  const spaces: KeySpace[] = [];
  const forgotten = new Set<SpaceKind>();
  for (const space of named) {
    if (typeof space === "string") spaces.push(space);
    else if (registry.find(space.ref) === space) spaces.push(space.ref);
    else forgotten.add(space.entry.kind);
  }
  return { ...record, spaces, ...(forgotten.size > 0 && { forgotten: [...forgotten] }) };
}
