/**
 * API keys in the Store contract: who has access, and what each key may read and write.
 *
 * Guarantees of every implementation:
 * - Only the hash of a secret is stored.
 * - A key refers to spaces, not to names: a rename updates it in the same transaction. A forgotten space is removed
 *   from every key. A later space with its name is a different space, to which no older key refers.
 * - A key is never removed and never gains access. A revoked key stays revoked.
 * - No search returns keys, so key writes do not change the version of an existing space.
 */
import type { Page, SpaceKind, SpaceRef } from "../types.js";

/** What a key may do in its spaces. Each level includes those before it. */
export const ACCESS = ["read", "write", "admin"] as const;
/** What a key may do in its spaces. Each level includes those before it. */
export type Access = (typeof ACCESS)[number];

/** One space, or all spaces of a kind. */
export type KeySpace = SpaceRef | SpaceKind;

/** An API key, without its secret. */
export interface ApiKey {
  /** The id of the key, which is part of its secret. */
  readonly id: string;
  /** The purpose of the key, in its creator's words. */
  readonly name?: string;
  /** What it may do. */
  readonly access: Access;
  /** In the order in which they were named. */
  readonly spaces: readonly KeySpace[];
  /** The kinds of the forgotten spaces that it named. Absent if there are none. */
  readonly forgotten?: readonly SpaceKind[];
  /** Epoch milliseconds. */
  readonly createdAt: number;
  /** When the key stops working. */
  readonly expiresAt?: number;
  /** Epoch milliseconds; absent if it was not revoked. */
  readonly revokedAt?: number;
}

/** A key as it is stored. */
export interface StoredKey extends ApiKey {
  /** The SHA-256 of its secret, in hex. */
  readonly hash: string;
}

/** Creates a key; fails with `conflict` if the id exists. Registers the spaces it names if they are new. */
export interface PutKeyWrite {
  readonly op: "put_key";
  readonly key: Pick<StoredKey, "id" | "name" | "access" | "spaces" | "expiresAt" | "hash">;
}

/**
 * Revokes a key permanently; fails with `not_found` if it does not exist. A key that was revoked before keeps its first
 * revocation time.
 */
export interface RevokeKeyWrite {
  readonly op: "revoke_key";
  readonly id: string;
}

export interface PutKeyDone {
  readonly op: "put_key";
  readonly key: ApiKey;
}

export interface RevokeKeyDone {
  readonly op: "revoke_key";
  readonly key: ApiKey;
}

export interface KeysRequest {
  readonly id?: string;
  /** Keys that name this space. Keys for all spaces of its kind are not included. */
  readonly space?: SpaceRef;
  readonly limit: number;
  readonly cursor?: string;
}

export interface KeyReads {
  /** In creation order, including revoked and expired keys. */
  keys(request: KeysRequest): Promise<Page<StoredKey>>;
}

/** The key without its hash, safe to show. */
export function shownKey({ hash: _hash, ...key }: StoredKey): ApiKey {
  return key;
}
