/**
 * API keys inside a write transaction.
 *
 * A key refers to spaces by number, so a rename needs no update here: the reader looks up the current name, or finds
 * none if the space was forgotten. When the last space that a key was created for is forgotten, the key loses its own
 * name.
 */
import { keyTaken, noSuchKey } from "../../key-rules.js";
import { type ApiKey, type PutKeyDone, type PutKeyWrite, type RevokeKeyDone, shownKey } from "../../keys.js";
import { Statements } from "../file/connection.js";
import type { Database, Statement } from "../file/driver.js";
import { spaceCode, spaceParts } from "../rows/codec.js";
import type { Registry } from "../rows/registry.js";
import type { Residue } from "../rows/residue.js";
import type { Transaction } from "../rows/transaction.js";
import { KeyReader } from "./key-reader.js";

/** Stands for all spaces of a kind. */
const ALL = 0;

export class Keys {
  readonly #registry: Registry;
  readonly #reader: KeyReader;
  readonly #insert: Statement;
  readonly #name: Statement;
  readonly #revoke: Statement;
  readonly #onlyFor: Statement;
  readonly #unname: Statement;
  readonly #residue: Residue;

  constructor(database: Database, registry: Registry, residue: Residue) {
    this.#registry = registry;
    this.#residue = residue;
    this.#reader = new KeyReader(new Statements(database), registry);
    this.#insert = database.prepare(
      "INSERT INTO api_key (id, name, access, hash, created_at, expires_at) VALUES (?, ?, ?, ?, ?, ?)",
    );
    this.#name = database.prepare("INSERT INTO api_key_space (api_key, place, kind, space) VALUES (?, ?, ?, ?)");
    this.#revoke = database.prepare("UPDATE api_key SET revoked_at = ? WHERE id = ?");
    this.#onlyFor = database.prepare(
      `SELECT key, name FROM api_key JOIN api_key_space AS this ON this.api_key = api_key.key
       WHERE this.space = ?1 AND name IS NOT NULL AND NOT EXISTS (
         SELECT 1 FROM api_key_space AS other WHERE other.api_key = api_key.key AND other.space <> ?1
           AND (other.space = ${ALL} OR other.space IN (SELECT key FROM space)))`,
    );
    this.#unname = database.prepare("UPDATE api_key SET name = NULL WHERE key = ?");
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

  /** Removes the names of keys created for this space alone, because such a name usually tells whose key it is. */
  forgetSpace(space: number): void {
    for (const { key, name } of this.#onlyFor.all(space)) {
      this.#residue.remember({ name: name as string });
      this.#unname.run(Number(key));
    }
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
