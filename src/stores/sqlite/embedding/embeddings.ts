/**
 * The vectors of items inside a write transaction. `index` writes them (`reindex` for the next vector space). They are
 * removed from every vector table together with the text they were computed from.
 *
 * Invariant: `item.indexed` is 0 or the item's version, never an older one. Code that removes an item's vectors sets it
 * to 0 or removes the item.
 */
import { encode } from "../../../retrieval/vectors/codes.js";
import type { VectorSpace } from "../../../types.js";
import type { EmbeddedItem } from "../../indexing.js";
import type { Database, Statement } from "../file/driver.js";
import type { Residue } from "../rows/residue.js";
import type { Transaction } from "../rows/transaction.js";
import type { OutboxWriter } from "./outbox.js";
import { NextDue } from "./reindex-due.js";
import {
  PARTS,
  PLACE,
  packSpans,
  TABLELESS,
  type VectorTable,
  type VectorTableRole,
  VectorTables,
} from "./vector-table.js";

/** The keys of an item that its vectors need. */
export interface Embeddable {
  readonly key: number;
  readonly space: number;
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
  readonly #due: NextDue;
  readonly #statements = new Map<number, Statements>();
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
         AND (SELECT count(*) FROM vector_space WHERE state <> ${TABLELESS}) = 1`,
    );
    this.#unindex = database.prepare("UPDATE item SET indexed = 0 WHERE key = ?");
  }

  /** The table of the served vectors. */
  get table(): VectorTable | undefined {
    return this.#tables.current();
  }

  /** Creates the first vector table. Requires that the file has no vectors yet. */
  create(vectorSpace: VectorSpace, transaction: Transaction): VectorTable {
    transaction.kept();
    const table = this.#tables.create(vectorSpace, transaction.now);
    this.#database.prepare("UPDATE head SET vector_space = ?").run(table.key);
    return table;
  }

  /** Replaces the vectors of an item. Does not update the item itself. */
  put(item: Embeddable, embedded: EmbeddedItem, table: VectorTable, transaction: Transaction): void {
    this.#drop(item, { ...table, role: "served" }, transaction, false);
    this.#giveBackUnlessOthers.run(item.key); // its vectors of another space may include the same lenders' text
    this.#insert(item, embedded, table, transaction);
    if (embedded.spans.length > 0) this.#outbox.upsert(item, embedded.spans.length);
    transaction.touch(item.space);
  }

  /** Writes the vectors of an item for the next space. Readers are not notified, because no served data changes. */
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
    const codes = encode(vectors, table.space.dimensions);
    this.#of(table).insert.run(space, key, key, transaction.commit, packSpans(spans), codes);
    transaction.embedded(table.key, 1, spans.length);
  }

  /**
   * Removes everything computed from an item's text: its vectors, and those of every item that borrowed from it. The
   * borrowers become pending. With `forget`, the removal is permanent, and no bytes of the vectors may stay in the
   * file.
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
    if (forget) this.#residue.rememberVectors(row["vectors"] as Uint8Array);
    if (table.role === "served" || table.role === "former") this.#outbox.delete(item, parts, table.key);
    transaction.embedded(table.key, -1, parts);
  }

  /** Requires that the table exists. */
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
