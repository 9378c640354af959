/**
 * The vectors of items inside a write transaction: they come with `index`, and go with the text they were made from.
 *
 * Invariant: `item.indexed` is 0 or the item's version, never an older one. Whoever takes an item's vectors away sets
 * it to 0, or removes the item.
 */
import type { VectorSpace } from "../../types.js";
import type { AdoptWrite, EmbeddedItem, IndexingDone } from "../indexing.js";
import type { Database, Statement } from "./driver.js";
import type { OutboxWriter } from "./outbox.js";
import type { Residue } from "./residue.js";
import type { Transaction } from "./transaction.js";
import {
  anotherVectorSpace,
  isSameSpace,
  PARTS,
  PLACE,
  packSpans,
  packVectors,
  type VectorTable,
  VectorTables,
} from "./vector-table.js";

/** An item as its vectors see it. */
export interface Embeddable {
  readonly key: number;
  readonly space: number;
  readonly indexed: number;
}

interface Statements {
  readonly insert: Statement;
  readonly delete: Statement;
}

export class Embeddings {
  readonly #database: Database;
  readonly #tables: VectorTables;
  readonly #outbox: OutboxWriter;
  readonly #residue: Residue;
  readonly #statements = new Map<number, Statements>();
  readonly #borrowers: Statement;
  readonly #lend: Statement;
  readonly #giveBack: Statement;
  readonly #unindex: Statement;

  constructor(database: Database, outbox: OutboxWriter, residue: Residue) {
    this.#database = database;
    this.#tables = new VectorTables(database);
    this.#outbox = outbox;
    this.#residue = residue;
    this.#borrowers = database.prepare(
      "SELECT item.key, item.space, item.indexed FROM borrow JOIN item ON item.key = borrow.borrower WHERE lender = ?",
    );
    this.#lend = database.prepare("INSERT OR IGNORE INTO borrow (lender, borrower) VALUES (?, ?)");
    this.#giveBack = database.prepare("DELETE FROM borrow WHERE borrower = ?");
    this.#unindex = database.prepare("UPDATE item SET indexed = 0 WHERE key = ?");
  }

  get table(): VectorTable | undefined {
    return this.#tables.current();
  }

  adopt({ vectorSpace }: AdoptWrite, transaction: Transaction): IndexingDone {
    const kept = this.table?.space;
    if (kept && !isSameSpace(kept, vectorSpace)) throw anotherVectorSpace(kept, vectorSpace);
    if (!kept) this.create(vectorSpace, transaction);
    return { op: "adopt" };
  }

  /** Requires that the file keeps no vectors yet. */
  create(vectorSpace: VectorSpace, transaction: Transaction): VectorTable {
    transaction.kept();
    return this.#tables.create(vectorSpace, transaction.now);
  }

  /** Writes the vectors of an item in place of those it had. Sets nothing in the item itself. */
  put(
    item: Embeddable,
    { spans, vectors, borrowed }: EmbeddedItem,
    table: VectorTable,
    transaction: Transaction,
  ): void {
    this.#drop(item, transaction, false);
    for (const { key } of borrowed) if (key !== item.key) this.#lend.run(key, item.key);
    if (spans.length > 0) {
      const bytes = [packSpans(spans), packVectors(vectors)] as const;
      this.#of(table).insert.run(item.space, item.key, item.key, transaction.commit, ...bytes);
      this.#outbox.upsert(item, spans.length);
      transaction.embedded(1, spans.length);
    }
    transaction.touch(item.space);
  }

  /**
   * Takes away what was made from an item's text: its vectors, and those of every item that borrowed from it, which
   * become pending. `forget`: for good, so that no bytes of them may stay in the file.
   */
  remove(item: Embeddable, transaction: Transaction, forget: boolean): void {
    this.#drop(item, transaction, forget);
    for (const row of this.#borrowers.all(item.key)) {
      const borrower = row as unknown as Embeddable;
      this.#drop(borrower, transaction, forget);
      this.#unindex.run(borrower.key);
      transaction.touch(borrower.space);
    }
  }

  #drop(item: Embeddable, transaction: Transaction, forget: boolean): void {
    if (item.indexed === 0) return;
    this.#giveBack.run(item.key);
    const table = this.table;
    const row = table && this.#of(table).delete.get(item.space, item.key);
    if (!row) return;
    const parts = Number(row["parts"]);
    if (forget) this.#residue.rememberVectors(row["vectors"] as Uint8Array);
    this.#outbox.delete(item, parts);
    transaction.embedded(-1, parts);
  }

  /** Requires that the table is there. */
  #of({ key, name }: VectorTable): Statements {
    const known = this.#statements.get(key);
    if (known) return known;
    const statements = {
      insert: this.#database.prepare(
        `INSERT INTO ${name} (place, item, commit_no, spans, vectors) VALUES (${PLACE}, ?, ?, ?, ?)`,
      ),
      delete: this.#database.prepare(`DELETE FROM ${name} WHERE place = ${PLACE} RETURNING ${PARTS} AS parts, vectors`),
    };
    this.#statements.set(key, statements);
    return statements;
  }
}
