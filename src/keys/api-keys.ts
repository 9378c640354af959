/**
 * API keys: made, listed, revoked, and told from what is none. They live in the store, so that whoever opens the same file
 * makes keys for a server that runs, and takes them away from it.
 *
 * Invariants:
 * - A secret leaves this file once, in the answer to `create`. Nothing but `create` and `verify` ever sees one, and no error
 *   repeats one.
 * - `verify` asks the store every time: a key that was revoked, by any process, opens nothing from then on.
 */
import { timingSafeEqual } from "node:crypto";
import { HoldfastError } from "../errors.js";
import { parseIdentity } from "../input/identity.js";
import { type ApiKey, type StoredKey, shownKey } from "../stores/keys.js";
import type { Done, Store, Write } from "../stores/store.js";
import type { Page } from "../types.js";
import { type KeysOptions, type NewKey, parseKeysOptions, parseNewKey } from "./key-input.js";
import { hashOf, idIn, newSecret } from "./secret.js";

export interface ApiKeysParts {
  readonly store: Pick<Store, "keys">;
  readonly write: (write: Write) => Promise<Done>;
  readonly now: () => number;
}

export interface CreatedKey {
  readonly key: ApiKey;
  /** What its holder shows. It is not kept: nobody can read it again. */
  readonly secret: string;
}

/** No text has this hash that anyone knows; it stands in for that of a key that is not there. */
const NO_HASH = "00".repeat(32);

export class ApiKeys {
  readonly #store: ApiKeysParts["store"];
  readonly #write: ApiKeysParts["write"];
  readonly #now: ApiKeysParts["now"];

  constructor({ store, write, now }: ApiKeysParts) {
    this.#store = store;
    this.#write = write;
    this.#now = now;
  }

  async create(key: NewKey): Promise<CreatedKey> {
    const parsed = parseNewKey(key, this.#now());
    const { id, secret } = newSecret();
    const done = await this.#write({ op: "put_key", key: { ...parsed, id, hash: hashOf(secret).toString("hex") } });
    if (done.op === "put_key") return { key: done.key, secret };
    throw new HoldfastError("store_failed", "the store gave another answer than was asked for");
  }

  /** In the order of their making, revoked and expired ones too. */
  async list(options: KeysOptions = {}): Promise<Page<ApiKey>> {
    const page = await this.#store.keys(parseKeysOptions(options));
    return { ...page, items: page.items.map(shownKey) };
  }

  async get(id: string): Promise<ApiKey | undefined> {
    const found = await this.#find(parseIdentity(id, "id"));
    return found && shownKey(found);
  }

  /** From now on it opens nothing, in any process. Revoked again, it keeps the first time; `not_found` if there is none. */
  async revoke(id: string): Promise<ApiKey> {
    const done = await this.#write({ op: "revoke_key", id: parseIdentity(id, "id") });
    if (done.op === "revoke_key") return done.key;
    throw new HoldfastError("store_failed", "the store gave another answer than was asked for");
  }

  /**
   * The key of this secret; undefined if it is unknown, malformed, revoked or expired. What is compared is compared in the
   * same time wherever it differs, and there is something to compare even if the id is unknown.
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

function isInForce({ revokedAt, expiresAt }: ApiKey, now: number): boolean {
  return revokedAt === undefined && (expiresAt === undefined || now < expiresAt);
}
