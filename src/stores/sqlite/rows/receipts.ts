/**
 * Receipts inside a write transaction.
 *
 * Invariants:
 * - Receipt keys come from the item key counter, so they are never reused and the oldest receipt has the lowest key.
 * - `receipt_part` has a row for each item, fact, block and point that a receipt names, while both exist. If the receipt was
 *   removed with its session, the row remains without effect until the thing that it names is forgotten.
 */
import { type Note, namedIn, notesWithout, type OnceWrite, RECEIPT_MS, refuseOtherRequest } from "../../receipts.js";
import type { Database, Row, Statement } from "../file/driver.js";
import type { Registry } from "./registry.js";
import type { Transaction } from "./transaction.js";

/** Stands for no space or no session. */
const NONE = 0;
/** How many expired receipts each new receipt removes. */
const LEAVING = 2;

interface LaneKeys {
  readonly space: number;
  readonly session: number;
}

export class Receipts {
  readonly #registry: Registry;
  /** The scope of the unit being applied, if it existed before. */
  #place: LaneKeys | undefined;
  readonly #find: Statement;
  readonly #insert: Statement;
  readonly #insertPart: Statement;
  readonly #oldest: Statement;
  readonly #leaving: Statement;
  readonly #delete: Statement;
  readonly #deletePart: Statement;
  readonly #naming: Statement;
  readonly #update: Statement;
  readonly #takeParts: Statement;
  readonly #emptySession: Statement;
  readonly #emptySpace: Statement;

  constructor(database: Database, registry: Registry) {
    this.#registry = registry;
    this.#find = database.prepare("SELECT * FROM receipt WHERE space = ? AND session = ? AND name = ?");
    this.#insert = database.prepare(
      `INSERT INTO receipt (key, space, session, name, hash, notes, in_use_ms) VALUES (?, ?, ?, ?, ?, ?, ?)
       ON CONFLICT (space, session, name) DO NOTHING`,
    );
    this.#insertPart = database.prepare("INSERT OR IGNORE INTO receipt_part (id, space, receipt) VALUES (?, ?, ?)");
    this.#oldest = database.prepare("SELECT in_use_ms FROM receipt ORDER BY key LIMIT 1");
    this.#leaving = database.prepare(`SELECT * FROM receipt ORDER BY key LIMIT ${LEAVING}`);
    this.#delete = database.prepare("DELETE FROM receipt WHERE key = ?");
    this.#deletePart = database.prepare("DELETE FROM receipt_part WHERE id = ? AND space = ? AND receipt = ?");
    this.#naming = database.prepare(
      `SELECT receipt.key, receipt.notes FROM receipt_part JOIN receipt ON receipt.key = receipt_part.receipt
         WHERE receipt_part.id = ? AND receipt_part.space = ?`,
    );
    this.#update = database.prepare("UPDATE receipt SET hash = '', notes = ? WHERE key = ?");
    this.#takeParts = database.prepare("DELETE FROM receipt_part WHERE id = ? AND space = ?");
    this.#emptySession = database.prepare(
      "UPDATE receipt SET hash = '' WHERE space = ? AND session = ? AND hash <> ''",
    );
    this.#emptySpace = database.prepare("UPDATE receipt SET hash = '' WHERE space = ? AND hash <> ''");
  }

  find(once: OnceWrite, transaction: Transaction): readonly Note[] | undefined {
    this.#place = this.#placeOf(once);
    const found = this.#place && this.#receiptAt(this.#place, once.key);
    if (!found || isOver(found, transaction)) return undefined;
    refuseOtherRequest(once, String(found["hash"]));
    return notesOf(found);
  }

  /** Requires that `find` was just called with the same write and found nothing. */
  keep(once: OnceWrite, notes: readonly Note[], transaction: Transaction): void {
    const place = this.#place ?? this.#placeOf(once);
    if (!place) return; // the unit wrote nothing and did not create its scope
    const key = transaction.takeKey();
    const { space, session } = place;
    const row = [key, space, session, once.key, once.hash, JSON.stringify(notes), transaction.inUseMs];
    if (this.#insert.run(...row).changes === 0) {
      this.#remove(this.#receiptAt(place, once.key) as Row); // an expired one
      this.#insert.run(...row);
    }
    for (const id of namedIn(notes)) this.#insertPart.run(id, space, key);
    this.#letGo(transaction);
    transaction.kept();
  }

  /** Removes expired receipts, oldest first, a few at a time. */
  #letGo(transaction: Transaction): void {
    const oldest = this.#oldest.get();
    if (!oldest || !isOver(oldest, transaction)) return;
    for (const receipt of this.#leaving.all()) if (isOver(receipt, transaction)) this.#remove(receipt);
  }

  /** Called when an item, fact, block or point is forgotten. Returns true if a receipt names it. */
  forget(id: string, space: number): boolean {
    const naming = this.#naming.all(id, space);
    for (const receipt of naming) {
      this.#update.run(JSON.stringify(notesWithout(id, notesOf(receipt))), Number(receipt["key"]));
    }
    this.#takeParts.run(id, space);
    return naming.length > 0;
  }

  /**
   * Called when all of a session or space is being forgotten. Clears the hashes, because they reveal something about
   * the text.
   */
  forgetHashes(space: number, session?: number): void {
    if (session === undefined) this.#emptySpace.run(space);
    else this.#emptySession.run(space, session);
  }

  #receiptAt({ space, session }: LaneKeys, name: string): Row | undefined {
    return this.#find.get(space, session, name);
  }

  #placeOf({ space: ref, session: name }: OnceWrite): LaneKeys | undefined {
    if (ref === undefined) return { space: NONE, session: NONE };
    const space = this.#registry.findSpace(ref)?.key;
    if (space === undefined) return undefined;
    const session = name === undefined ? NONE : this.#registry.findSession(space, name)?.key;
    return session === undefined ? undefined : { space, session };
  }

  #remove(receipt: Row): void {
    const [key, space] = [Number(receipt["key"]), Number(receipt["space"])];
    for (const id of namedIn(notesOf(receipt))) this.#deletePart.run(id, space, key);
    this.#delete.run(key);
  }
}

const notesOf = (receipt: Row): readonly Note[] => JSON.parse(String(receipt["notes"])) as readonly Note[];

const isOver = (receipt: Row, { inUseMs }: Transaction): boolean =>
  inUseMs - Number(receipt["in_use_ms"]) >= RECEIPT_MS;
