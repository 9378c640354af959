/**
 * Forgets one thing with all that goes with it: an item with the fact that it is, a fact with the facts that rest on it
 * alone, and so on. Facts cannot rest on each other in a circle, so this comes to an end.
 */
import type { Gone } from "../gone.js";
import type { Database, Row, Statement } from "./driver.js";
import { type FactRecord, FactRecords } from "./fact-records.js";
import { ITEM_ROW, type ItemRow, wordsOf } from "./item-row.js";
import type { Residue } from "./residue.js";
import type { Transaction } from "./transaction.js";

export type How = "remove" | "mark";
type RemoveItem = (item: ItemRow, transaction: Transaction, how: How) => void;

export class Cascade {
  readonly #records: FactRecords;
  readonly #residue: Residue;
  readonly #removeItem: RemoveItem;
  readonly #item: Statement;
  readonly #isPlain: Statement;
  readonly #copies: Statement;
  readonly #dropCopies: Statement;

  constructor(database: Database, residue: Residue, removeItem: RemoveItem) {
    this.#records = new FactRecords(database);
    this.#residue = residue;
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

  /** Whatever has this id in the space: an item, a fact, or both. Says what went in `gone`. */
  forget(id: string, space: number, transaction: Transaction, how: How, gone: Gone): void {
    for (let ids: readonly string[] = [id]; ids.length > 0; ) {
      ids = ids.flatMap((next) => this.#forgetOne(next, space, transaction, how, gone));
    }
    transaction.forgot(how === "mark" ? 2 : 1);
  }

  /** The fact rests on this session no more. */
  loseSession(fact: number, session: number, transaction: Transaction, how: How, gone: Gone): void {
    this.#records.takeSession(session, fact);
    for (const id of this.#afterLoss([fact], transaction, gone)) {
      this.forget(id, this.#records.get(fact).space, transaction, how, gone);
    }
  }

  /** The ids of the facts that rest on nothing any more because of this. */
  #forgetOne(id: string, space: number, transaction: Transaction, how: How, gone: Gone): readonly string[] {
    const item = this.#item.get(id, space) as ItemRow | undefined;
    if (item) {
      this.#removeItem(item, transaction, how);
      gone.items++;
    }
    gone.removedCopy(id, space);
    if (this.#isPlain.get(id, space)) return []; // most items are: neither a fact nor the ground of one, never copied
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
    // The words of its item, which may have left the index long ago, are looked for as well.
    this.#residue.remember({ id, category, content, space, words: wordsOf(undefined, content).words } satisfies Row);
    transaction.touch(space);
  }

  /** These facts have lost a source. Which of them rest on nothing now? */
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
