/**
 * API keys in the Store contract: who may come in through a door, and what each may read and write there.
 *
 * Guarantees of every implementation:
 * - Of a secret only its hash is kept.
 * - A key names spaces, not names: it follows a space when that is renamed, in the same transaction. A space that is
 *   forgotten leaves every key; who comes later under its name is somebody else, whom no older key has named.
 * - A key is never removed and never gains anything. A revoked one stays revoked.
 * - Keys are in no answer of a search, so they change no version of a space that is there already.
 */
import type { Page, SpaceKind, SpaceRef } from "../types.js";

/** What a key may do in its spaces; each includes those before it. */
export const ACCESS = ["read", "write", "admin"] as const;
export type Access = (typeof ACCESS)[number];

/** One space, or all spaces of a kind. */
export type KeySpace = SpaceRef | SpaceKind;

export interface ApiKey {
  readonly id: string;
  /** What it is for, in the words of whoever made it. */
  readonly name?: string;
  readonly access: Access;
  /** In the order in which they were named. */
  readonly spaces: readonly KeySpace[];
  /** The kinds of spaces that it named and that are forgotten; absent if there are none. */
  readonly forgotten?: readonly SpaceKind[];
  readonly createdAt: number;
  /** From this moment on it opens nothing. */
  readonly expiresAt?: number;
  readonly revokedAt?: number;
}

/** A key as it is kept. */
export interface StoredKey extends ApiKey {
  /** The SHA-256 of its secret, in hex. */
  readonly hash: string;
}

/** Makes a key; `conflict` if there is one of this id. Registers the spaces it names if they are new. */
export interface PutKeyWrite {
  readonly op: "put_key";
  readonly key: Pick<StoredKey, "id" | "name" | "access" | "spaces" | "expiresAt" | "hash">;
}

/** Ends a key for good; `not_found` if there is none. One that is revoked already keeps the time of the first. */
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
  /** Those that name this one space; those for all of its kind do not count. */
  readonly space?: SpaceRef;
  readonly limit: number;
  readonly cursor?: string;
}

export interface KeyReads {
  /** In the order of their making, revoked and expired ones too. */
  keys(request: KeysRequest): Promise<Page<StoredKey>>;
}

/** The key without its hash: what may be shown. */
export function shownKey({ hash: _hash, ...key }: StoredKey): ApiKey {
  return key;
}
