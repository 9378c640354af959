/**
 * The vectors of items inside a write transaction: they come with `index` (or with `reindex`, for the next vector space),
 * and go with the text they were made from, from every table of vectors that there is.
 *
 * Invariant: `item.indexed` is 0 or the item's version, never an older one. Whoever takes an item's vectors away sets
 * it to 0, or removes the item.
 */
import { Coder } from "../../retrieval/vectors/codes.js";
import type { VectorSpace } from "../../types.js";
import type { AdoptWrite, EmbeddedItem, IndexingDone } from "../indexing.js";
import { isSameSpace } from "../vector-space.js";
import type { Database, Statement } from "./driver.js";
import type { OutboxWriter } from "./outbox.js";
import { NextDue } from "./reindex-due.js";
import type { Residue } from "./residue.js";
import type { Transaction } from "./transaction.js";
import {
  anotherVectorSpace,
  PARTS,
  PLACE,
  packSpans,
  packVectors,
  REMOVED,
  unpackVectors,
  type VectorTable,
  type VectorTableRole,
  VectorTables,
} from "./vector-table.js";

/** An item as its vectors see it. */
export interface Embeddable {
  readonly key: number;
  readonly space: number;
}

interface Statements {
  readonly insert: Statement;
  readonly insertCodes: Statement;
  readonly delete: Statement;
}

export class Embeddings {
  readonly #database: Database;
  readonly #tables: VectorTables;
  readonly #outbox: OutboxWriter;
  readonly #residue: Residue;
  readonly #due: NextDue;
  readonly #statements = new Map<number, Statements>();
  #coder: Coder | undefined;
  readonly #borrowers: Statement;
  readonly #lend: Statement;
  readonly #giveBack: Statement;
  readonly #giveBackUnlessOthers: Statement;
  readonly #unindex: Statement;

  constructor(database: Database, outbox: OutboxWriter, residue: Residue) {
    this.#database = database;
    this.#tables = new VectorTables(database);
    this.#outbox = outbox;
    this.#residue = residue;
    this.#due = new NextDue(database);
    this.#borrowers = database.prepare(
      "SELECT item.key, item.space FROM borrow JOIN item ON item.key = borrow.borrower WHERE lender = ?",
    );
    this.#lend = database.prepare("INSERT OR IGNORE INTO borrow (lender, borrower) VALUES (?, ?)");
    this.#giveBack = database.prepare("DELETE FROM borrow WHERE borrower = ?");
    this.#giveBackUnlessOthers = database.prepare(
      `DELETE FROM borrow WHERE borrower = ?
         AND (SELECT count(*) FROM vector_space WHERE state <> ${REMOVED}) = 1`,
    );
    this.#unindex = database.prepare("UPDATE item SET indexed = 0 WHERE key = ?");
  }

  /** The table of the vectors that are served. */
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
    const table = this.#tables.create(vectorSpace, transaction.now);
    this.#database.prepare("UPDATE head SET vector_space = ?").run(table.key);
    return table;
  }

  /** Writes the vectors of an item in place of those it had. Sets nothing in the item itself. */
  put(item: Embeddable, embedded: EmbeddedItem, table: VectorTable, transaction: Transaction): void {
    this.#drop(item, { ...table, role: "served" }, transaction, false);
    this.#giveBackUnlessOthers.run(item.key); // its vectors of another space may carry text of the same lenders
    this.#insert(item, embedded, table, transaction);
    if (embedded.spans.length > 0) this.#outbox.upsert(item, embedded.spans.length);
    transaction.touch(item.space);
  }

  /** Writes the vectors of an item for the next space. Nobody is told: nothing that is served has changed. */
  putNext(item: Embeddable, embedded: EmbeddedItem, table: VectorTable, transaction: Transaction): void {
    this.#drop(item, { ...table, role: "next" }, transaction, false);
    this.#insert(item, embedded, table, transaction);
    transaction.kept();
  }

  #insert(
    { key, space }: Embeddable,
    { spans, vectors, borrowed }: EmbeddedItem,
    table: VectorTable,
    transaction: Transaction,
  ): void {
    for (const { key: lender } of borrowed) if (lender !== key) this.#lend.run(lender, key);
    if (spans.length === 0) return;
    const { insert, insertCodes } = this.#of(table);
    insert.run(space, key, key, transaction.commit, packSpans(spans), packVectors(vectors));
    insertCodes.run(space, key, this.#codesOf(vectors, table));
    transaction.embedded(table.key, 1, spans.length);
  }

  /**
   * Takes away what was made from an item's text: its vectors, and those of every item that borrowed from it, which
   * become pending. `forget`: for good, so that no bytes of them may stay in the file.
   */
  remove(item: Embeddable, transaction: Transaction, forget: boolean): void {
    const tables = this.#tables.all();
    if (tables.length === 0) return;
    const drop = (from: Embeddable): void => {
      this.#giveBack.run(from.key);
      for (const table of tables) this.#drop(from, table, transaction, forget);
    };
    const isReindexing = tables.some(({ role }) => role === "next");
    drop(item);
    if (isReindexing && forget) this.#due.removed(item.key);
    else if (isReindexing) this.#due.outdated(item.key);
    for (const row of this.#borrowers.all(item.key)) {
      const borrower = row as unknown as Embeddable;
      drop(borrower);
      if (isReindexing) this.#due.outdated(borrower.key);
      this.#unindex.run(borrower.key);
      transaction.touch(borrower.space);
    }
  }

  #drop(
    item: Embeddable,
    table: VectorTable & { readonly role: VectorTableRole },
    transaction: Transaction,
    forget: boolean,
  ): void {
    const row = this.#of(table).delete.get(item.space, item.key);
    if (!row) return;
    const parts = Number(row["parts"]);
    if (forget) {
      const vectors = row["vectors"] as Uint8Array;
      this.#residue.rememberVectors(vectors);
      this.#residue.rememberVectors(this.#codesOf(unpackVectors(vectors), table));
    }
    if (table.role === "served" || table.role === "former") this.#outbox.delete(item, parts, table.key);
    transaction.embedded(table.key, -1, parts);
  }

  #codesOf(vectors: Float32Array, { space }: VectorTable): Uint8Array {
    this.#coder ??= new Coder(); // a process that embeds nothing does without
    return this.#coder.encode(vectors, space.dimensions);
  }

  /** Requires that the table is there. */
  #of({ key, name, codes }: VectorTable): Statements {
    const known = this.#statements.get(key);
    if (known) return known;
    const statements = {
      insert: this.#database.prepare(
        `INSERT INTO ${name} (place, item, commit_no, spans, vectors) VALUES (${PLACE}, ?, ?, ?, ?)`,
      ),
      insertCodes: this.#database.prepare(`INSERT OR REPLACE INTO ${codes} (place, codes) VALUES (${PLACE}, ?)`),
      delete: this.#database.prepare(`DELETE FROM ${name} WHERE place = ${PLACE} RETURNING ${PARTS} AS parts, vectors`),
    };
    this.#statements.set(key, statements);
    return statements;
  }
}
