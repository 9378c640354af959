/**
 * Forgets a thing and everything that depends on it: an item with the fact it belongs to, a fact with the facts whose
 * only source it is, and so on. Fact sources never form a cycle, so this terminates.
 */
import type { Gone } from "../../gone.js";
import type { Database, Row, Statement } from "../file/driver.js";
import { ITEM_ROW, type ItemRow, wordsOf } from "../rows/item-row.js";
import type { Receipts } from "../rows/receipts.js";
import type { Residue } from "../rows/residue.js";
import type { Transaction } from "../rows/transaction.js";
import type { How } from "../words/word-writer.js";
import { type FactRecord, FactRecords } from "./fact-records.js";

type RemoveItem = (item: ItemRow, transaction: Transaction, how: How) => void;

export class Cascade {
  readonly #records: FactRecords;
  readonly #residue: Residue;
  readonly #receipts: Receipts;
  readonly #removeItem: RemoveItem;
  readonly #item: Statement;
  readonly #isPlain: Statement;
  readonly #copies: Statement;
  readonly #dropCopies: Statement;

  constructor(
    database: Database,
    { residue, receipts }: { readonly residue: Residue; readonly receipts: Receipts },
    removeItem: RemoveItem,
  ) {
    this.#records = new FactRecords(database);
    this.#residue = residue;
    this.#receipts = receipts;
    this.#removeItem = removeItem;
    this.#item = database.prepare(`${ITEM_ROW} WHERE id = ? AND space = ?`);
    this.#isPlain = database.prepare(
      `SELECT 1 WHERE NOT EXISTS (SELECT 1 FROM fact WHERE id = ?1 AND space = ?2)
         AND NOT EXISTS (SELECT 1 FROM fact_source WHERE message = ?1 AND space = ?2)
         AND NOT EXISTS (SELECT 1 FROM copy WHERE id = ?1)`,
    );
    this.#copies = database.prepare("SELECT to_space FROM copy WHERE id = ? AND from_space = ?");
    this.#dropCopies = database.prepare("DELETE FROM copy WHERE id = ?1 AND (from_space = ?2 OR to_space = ?2)");
  }

  /** Forgets whatever has this id in the space: an item, a fact, or both. Records what was removed in `gone`. */
  forget(id: string, space: number, transaction: Transaction, how: How, gone: Gone): void {
    for (let ids: readonly string[] = [id]; ids.length > 0; ) {
      ids = ids.flatMap((next) => this.#forgetOne(next, space, transaction, how, gone));
    }
    transaction.forgot(1);
  }

  /** Removes this session from the fact's sources. */
  loseSession(fact: number, session: number, transaction: Transaction, how: How, gone: Gone): void {
    this.#records.takeSession(session, fact);
    for (const id of this.#afterLoss([fact], transaction, gone)) {
      this.forget(id, this.#records.get(fact).space, transaction, how, gone);
    }
  }

  /** Returns the ids of the facts that have no source left because of this. */
  #forgetOne(id: string, space: number, transaction: Transaction, how: How, gone: Gone): readonly string[] {
    const item = this.#item.get(id, space) as ItemRow | undefined;
    if (item) {
      this.#removeItem(item, transaction, how);
      gone.items++;
    }
    if (this.#receipts.forget(id, space)) gone.keysLeft = true;
    gone.removedCopy(id, space);
    if (this.#isPlain.get(id, space)) return []; // most items: no fact, no source of one, never copied
    const fact = this.#records.find(id, space);
    if (fact) {
      this.#removeFact(fact, transaction);
      gone.removedFact(fact.key);
    }
    for (const { to_space: target } of this.#copies.all(id, space)) gone.leftCopy(id, Number(target));
    this.#dropCopies.run(id, space);
    return this.#afterLoss(this.#records.takeMessage(id, space), transaction, gone);
  }

  #removeFact(fact: FactRecord, transaction: Transaction): void {
    this.#records.remove(fact.key);
    const { id, category, content, space } = fact;
    // Includes the words of the fact's item, which may have left the index long ago.
    this.#residue.remember({ id, category, content, space, words: wordsOf(undefined, content).words } satisfies Row);
    transaction.touch(space);
  }

  /** Updates facts that have lost a source. Returns the ids of those that have none left. */
  #afterLoss(keys: readonly number[], transaction: Transaction, gone: Gone): readonly string[] {
    return keys.flatMap((key) => {
      const fact = this.#records.get(key);
      if (!this.#records.restsOnAnything(key)) return fact.id;
      this.#records.touch(key, transaction.now);
      gone.lostSource(fact);
      transaction.touch(fact.space);
      return [];
    });
  }
}
