/**
 * API keys: create, list, revoke, verify. They live in the store, so any process that opens the file can manage the keys of
 * a running server.
 *
 * Invariants:
 * - A secret is returned once, by `create`. Only `create` and `verify` ever see one, and no error repeats one.
 * - `verify` reads the store every time: once any process has revoked a key, it is refused.
 */
import { timingSafeEqual } from "node:crypto";
import { HoldfastError } from "../errors.js";
import { parseWriteOptions, type WriteOptions } from "../input/call.js";
import { parseIdentity } from "../input/identity.js";
import { onceWith } from "../input/once.js";
import { type ApiKey, type StoredKey, shownKey } from "../stores/keys.js";
import type { OnceWrite } from "../stores/receipts.js";
import type { DoneOf, Store, Write } from "../stores/store.js";
import type { Page } from "../types.js";
import { type KeysOptions, type NewKey, parseKeysOptions, parseNewKey } from "./key-input.js";
import { hashOf, idIn, newSecret } from "./secret.js";

export interface ApiKeysParts {
  readonly store: Pick<Store, "keys">;
  readonly write: <W extends Write>(write: W, once?: OnceWrite) => Promise<DoneOf<W>>;
  readonly now: () => number;
}

/** A new API key with its secret. */
export interface CreatedKey {
  /** The key as it is listed. */
  readonly key: ApiKey;
  /** Sent by the key's holder. It is not stored and cannot be shown again. */
  readonly secret: string;
}

/** Compared when the id is unknown. No known text has this hash. */
const NO_HASH = "00".repeat(32);

/** The API keys of a server, which are in its file. */
export class ApiKeys {
  readonly #store: ApiKeysParts["store"];
  readonly #write: ApiKeysParts["write"];
  readonly #now: ApiKeysParts["now"];

  constructor({ store, write, now }: ApiKeysParts) {
    this.#store = store;
    this.#write = write;
    this.#now = now;
  }

  /**
   * A retry with the same idempotency key creates no second key. Because the first secret cannot be shown again, the retry is
   * a `conflict` (details.id), whatever it asks for.
   */
  async create(key: NewKey, options?: WriteOptions): Promise<CreatedKey> {
    const parsed = parseNewKey(key, this.#now());
    const idempotencyKey = parseWriteOptions(options);
    const once = idempotencyKey === undefined ? undefined : onceWith(idempotencyKey, {}, "");
    const { id, secret } = newSecret();
    const write = { op: "put_key", key: { ...parsed, id, hash: hashOf(secret).toString("hex") } } as const;
    const done = await this.#write(write, once);
    if (done.op !== "put_key") {
      throw new HoldfastError("store_failed", "the store returned an unexpected outcome");
    }
    if (done.key.id !== id) throw madeAlready(done.key.id);
    return { key: done.key, secret };
  }

  /** In order of creation, including revoked and expired keys. */
  async list(options: KeysOptions = {}): Promise<Page<ApiKey>> {
    const page = await this.#store.keys(parseKeysOptions(options));
    return { ...page, items: page.items.map(shownKey) };
  }

  /** The key with this id; undefined if there is none. */
  async get(id: string): Promise<ApiKey | undefined> {
    const found = await this.#find(parseIdentity(id, "id"));
    return found && shownKey(found);
  }

  /** Revokes the key for every process. A second call keeps the first time. `not_found` if there is no such key. */
  async revoke(id: string): Promise<ApiKey> {
    return (await this.#write({ op: "revoke_key", id: parseIdentity(id, "id") })).key;
  }

  /**
   * The key of this secret; undefined if it is unknown, malformed, revoked or expired. The comparison takes constant time,
   * and happens even if the id is unknown.
   */
  async verify(secret: string): Promise<ApiKey | undefined> {
    const id = idIn(secret);
    if (id === undefined) return undefined;
    const given = hashOf(secret);
    const found = await this.#find(id);
    const kept = Buffer.from(found?.hash ?? NO_HASH, "hex");
    const isSame = kept.length === given.length && timingSafeEqual(kept, given);
    return found && isSame && isInForce(found, this.#now()) ? shownKey(found) : undefined;
  }

  async #find(id: string): Promise<StoredKey | undefined> {
    return (await this.#store.keys({ id, limit: 1 })).items[0];
  }
}

function madeAlready(id: string): HoldfastError {
  return new HoldfastError("conflict", "an API key was already created with this idempotency key", {
    hint: "its secret was shown once; if you lost it, revoke that key and create another",
    details: { id },
  });
}

function isInForce({ revokedAt, expiresAt }: ApiKey, now: number): boolean {
  return revokedAt === undefined && (expiresAt === undefined || now < expiresAt);
}
