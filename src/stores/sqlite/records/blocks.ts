/**
 * Memory blocks inside a write transaction.
 *
 * No search returns a block, so an edit does not change the version of its space: cached results stay valid.
 */
import { refuseConflict } from "../../block-conflicts.js";
import type { PutBlockDone, PutBlockWrite } from "../../blocks.js";
import type { Database, Row, Statement } from "../file/driver.js";
import type { Receipts } from "../rows/receipts.js";
import type { Registry } from "../rows/registry.js";
import type { Residue } from "../rows/residue.js";
import type { Transaction } from "../rows/transaction.js";
import { BLOCK_SELECT, readBlock } from "./block-reader.js";

export class Blocks {
  readonly #registry: Registry;
  readonly #residue: Residue;
  readonly #receipts: Receipts;
  readonly #byId: Statement;
  readonly #byName: Statement;
  readonly #bySpace: Statement;
  readonly #newest: Statement;
  readonly #insert: Statement;
  readonly #advance: Statement;
  readonly #insertEdit: Statement;
  readonly #texts: Statement;
  readonly #delete: Statement;
  readonly #deleteEdits: Statement;

  constructor(database: Database, registry: Registry, residue: Residue, receipts: Receipts) {
    this.#registry = registry;
    this.#residue = residue;
    this.#receipts = receipts;
    this.#byId = database.prepare("SELECT key, id, version FROM block WHERE id = ? AND space = ?");
    this.#byName = database.prepare("SELECT id FROM block WHERE space = ? AND name = ?");
    this.#bySpace = database.prepare("SELECT key, id FROM block WHERE space = ?");
    this.#newest = database.prepare(`${BLOCK_SELECT} WHERE block.key = ?`);
    this.#insert = database.prepare("INSERT INTO block (space, id, name, version, created_at) VALUES (?, ?, ?, 1, ?)");
    this.#advance = database.prepare("UPDATE block SET name = ?, version = ? WHERE key = ?");
    this.#insertEdit = database.prepare(
      `INSERT INTO block_edit
         (block, version, name, content, description, max_tokens, counter, policy, read_only, reason, actor, at)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    );
    this.#texts = database.prepare("SELECT name, content, description, reason, actor FROM block_edit WHERE block = ?");
    this.#delete = database.prepare("DELETE FROM block WHERE key = ?");
    this.#deleteEdits = database.prepare("DELETE FROM block_edit WHERE block = ?");
  }

  put(write: PutBlockWrite, transaction: Transaction): PutBlockDone {
    const { id, expect, state, reason, actor } = write;
    const { now } = transaction;
    const space = this.#registry.ensureSpace(write.space, transaction);
    const found = this.#byId.get(id, space);
    const named = this.#byName.get(space, state.name);
    refuseConflict(write, Number(found?.["version"] ?? 0), named && String(named["id"]));

    const key = Number(found?.["key"] ?? this.#insert.run(space, id, state.name, now).lastInsertRowid);
    const version = expect + 1;
    if (found) this.#advance.run(state.name, version, key);
    const { name, content, description = null, maxTokens, counter, policy, readOnly } = state;
    const settings = [maxTokens, counter, policy, readOnly ? 1 : 0] as const;
    this.#insertEdit.run(key, version, name, content, description, ...settings, reason, actor ?? null, now);
    transaction.kept();
    return { op: "put_block", block: readBlock(this.#newest.get(key) as Row, write.space) };
  }

  /** Removes the block with all its versions. Returns false if it does not exist. */
  forget(space: number, id: string, transaction: Transaction): boolean {
    const found = this.#byId.get(id, space);
    if (found) this.#remove(found, space, transaction);
    return found !== undefined;
  }

  /** Removes all blocks of the space. Returns how many there were. */
  forgetSpace(space: number, transaction: Transaction): number {
    const found = this.#bySpace.all(space);
    for (const block of found) this.#remove(block, space, transaction);
    return found.length;
  }

  #remove({ key, id }: Row, space: number, transaction: Transaction): void {
    this.#receipts.forget(String(id), space);
    this.#residue.remember({ id: id as string });
    for (const texts of this.#texts.all(Number(key))) this.#residue.remember(texts);
    this.#deleteEdits.run(Number(key));
    this.#delete.run(Number(key));
    transaction.kept();
    transaction.forgot(1);
  }
}
