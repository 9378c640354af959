/**
 * API keys inside a write transaction.
 *
 * A key names spaces by their numbers. So nothing is to be done here when a space is renamed or forgotten: the reader finds
 * the name of the day, or none.
 */
import { keyTaken, noSuchKey } from "../key-rules.js";
import { type ApiKey, type PutKeyDone, type PutKeyWrite, type RevokeKeyDone, shownKey } from "../keys.js";
import { spaceCode, spaceParts } from "./codec.js";
import type { Database, Statement } from "./driver.js";
import { KeyReader } from "./key-reader.js";
import type { Registry } from "./registry.js";
import { Statements } from "./statements.js";
import type { Transaction } from "./transaction.js";

/** In the place of a space: all of its kind. */
const ALL = 0;

export class Keys {
  readonly #registry: Registry;
  readonly #reader: KeyReader;
  readonly #insert: Statement;
  readonly #name: Statement;
  readonly #revoke: Statement;

  constructor(database: Database, registry: Registry) {
    this.#registry = registry;
    this.#reader = new KeyReader(new Statements(database), registry);
    this.#insert = database.prepare(
      "INSERT INTO api_key (id, name, access, hash, created_at, expires_at) VALUES (?, ?, ?, ?, ?, ?)",
    );
    this.#name = database.prepare("INSERT INTO api_key_space (api_key, place, kind, space) VALUES (?, ?, ?, ?)");
    this.#revoke = database.prepare("UPDATE api_key SET revoked_at = ? WHERE id = ?");
  }

  put({ key }: PutKeyWrite, transaction: Transaction): PutKeyDone {
    const { id, name, access, spaces, expiresAt, hash } = key;
    if (this.#find(id)) throw keyTaken();
    const row = [id, name ?? null, access, hash, transaction.now, expiresAt ?? null];
    const added = Number(this.#insert.run(...row).lastInsertRowid);
    for (const [place, named] of spaces.entries()) {
      const one = typeof named === "string" ? undefined : named;
      const kind = typeof named === "string" ? spaceCode(named) : spaceParts(named)[1];
      this.#name.run(added, place, kind, one ? this.#registry.ensureSpace(one, transaction) : ALL);
    }
    transaction.kept();
    return { op: "put_key", key: this.#require(id) };
  }

  revoke(id: string, transaction: Transaction): RevokeKeyDone {
    const key = this.#require(id);
    if (key.revokedAt !== undefined) return { op: "revoke_key", key };
    this.#revoke.run(transaction.now, id);
    transaction.kept();
    return { op: "revoke_key", key: { ...key, revokedAt: transaction.now } };
  }

  #find(id: string): ApiKey | undefined {
    const [key] = this.#reader.keys({ id, limit: 1 }).items;
    return key && shownKey(key);
  }

  #require(id: string): ApiKey {
    const key = this.#find(id);
    if (!key) throw noSuchKey();
    return key;
  }
}
