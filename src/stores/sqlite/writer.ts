/** The writing side of the file: one connection, in its own thread. */
import { HoldfastError, toRecord } from "../../errors.js";
import { ANALYSIS_VERSION } from "../../retrieval/words/analyse.js";
import { applyUnit, type PlainWrite } from "../receipts.js";
import type { Committed, Done, Outcome, Unit } from "../store.js";
import { Embeddings } from "./embedding/embeddings.js";
import { Indexer } from "./embedding/indexer.js";
import { Leases } from "./embedding/leases.js";
import { OutboxWriter } from "./embedding/outbox.js";
import { Parking } from "./embedding/parking.js";
import { Reindexing } from "./embedding/reindex.js";
import { SpaceSwitch } from "./embedding/reindex-switch.js";
import { type Database, isRefusal, type Statement } from "./file/driver.js";
import { asStoreError } from "./file/failure.js";
import { WriteConnection, type WriteConnectionOptions } from "./file/write-connection.js";
import { Forgetter, SLICE_ITEMS } from "./forget.js";
import { Items } from "./items/items.js";
import { Actors } from "./records/actors.js";
import { Blocks } from "./records/blocks.js";
import { Facts } from "./records/facts.js";
import { Keys } from "./records/keys.js";
import { Ledgers } from "./records/ledgers.js";
import { Points } from "./records/points.js";
import { Promotions } from "./records/promotions.js";
import { Registrar } from "./records/registrar.js";
import { Receipts } from "./rows/receipts.js";
import { Registry } from "./rows/registry.js";
import { Residue, type Traces } from "./rows/residue.js";
import { Head, inUseOf, type Transaction } from "./rows/transaction.js";
import { isTrimmable, trim } from "./trim.js";
import { rebuildWords } from "./words/word-rebuild.js";
import { WordWriter } from "./words/word-writer.js";

export interface WriterOptions extends WriteConnectionOptions {
  /** Identifies this process in the table `writer`. */
  readonly id: string;
}

export class Writer {
  readonly #options: WriterOptions;
  readonly #connection: WriteConnection;
  readonly #database: Database;
  readonly #registrar: Registrar;
  readonly #items: Items;
  readonly #words: WordWriter;
  readonly #blocks: Blocks;
  readonly #facts: Facts;
  readonly #points: Points;
  readonly #ledgers: Ledgers;
  readonly #promotions: Promotions;
  readonly #keys: Keys;
  readonly #receipts: Receipts;
  readonly #forgetter: Forgetter;
  readonly #indexer: Indexer;
  readonly #spaceSwitch: SpaceSwitch;
  readonly #residue = new Residue();
  readonly #head: Head;
  readonly #savepoint: Statement;
  readonly #release: Statement;
  readonly #rollbackTo: Statement;
  #forgotten = 0;
  /** Whether a merge of the word index is in progress. */
  #isMerging = false;

  private constructor(connection: WriteConnection, options: WriterOptions) {
    const { database } = connection;
    this.#options = options;
    this.#connection = connection;
    this.#database = database;
    const registry = new Registry(database);
    const actors = new Actors(database, this.#residue);
    this.#registrar = new Registrar(database, registry, actors, this.#residue);
    this.#receipts = new Receipts(database, registry);
    this.#words = new WordWriter(database);
    const leases = new Leases(database, registry);
    const outbox = new OutboxWriter(database, leases);
    const embeddings = new Embeddings(database, outbox, this.#residue);
    const parking = new Parking(database, registry, leases);
    const reindexing = new Reindexing(database, embeddings);
    this.#spaceSwitch = new SpaceSwitch(database, outbox);
    const parts = { registry, leases, embeddings, parking, outbox, reindexing, spaceSwitch: this.#spaceSwitch };
    this.#indexer = new Indexer(database, parts);
    const [residue, receipts] = [this.#residue, this.#receipts];
    this.#items = new Items(database, registry, { words: this.#words, embeddings, parking, residue, receipts });
    this.#blocks = new Blocks(database, registry, residue, receipts);
    this.#facts = new Facts(database, registry, this.#items);
    this.#points = new Points(database, { registry, residue, receipts, outbox }, SLICE_ITEMS);
    this.#ledgers = new Ledgers(database, registry, this.#residue);
    this.#promotions = new Promotions(database, registry, this.#items, this.#facts, this.#residue);
    this.#keys = new Keys(database, registry, this.#residue);
    const [blocks, points, ledgers] = [this.#blocks, this.#points, this.#ledgers];
    const [promotions, keys] = [this.#promotions, this.#keys];
    const records = { blocks, points, ledgers, promotions, receipts, keys, actors };
    this.#forgetter = new Forgetter(database, registry, this.#items, leases, this.#residue, records);
    this.#head = new Head(database, options.path);
    this.#savepoint = database.prepare("SAVEPOINT unit");
    this.#release = database.prepare("RELEASE unit");
    this.#rollbackTo = database.prepare("ROLLBACK TO unit");
  }

  static open(options: WriterOptions): Promise<Writer> {
    return Writer.#on(options, () => WriteConnection.open(options));
  }

  static inMemory(options: WriterOptions, database: Database): Promise<Writer> {
    return Writer.#on(options, async () => WriteConnection.inMemory(database));
  }

  static async #on(options: WriterOptions, connect: () => Promise<WriteConnection>): Promise<Writer> {
    const connection = await connect();
    try {
      const writer = new Writer(connection, options);
      await writer.#reindexIfOutdated();
      return writer;
    } catch (error) {
      connection.leave();
      throw error;
    }
  }

  /** The id that distinguishes this file from all others. */
  fileId(): string {
    return this.#connection.fileId;
  }

  assertInPlace(): void {
    this.#connection.assertInPlace();
  }

  async #transact<T>(work: () => T): Promise<T> {
    return this.#connection.transact(() => {
      try {
        return work();
      } catch (error) {
        this.#words.undoTo(0);
        throw error;
      }
    });
  }

  /**
   * Commits units in one transaction. In most groups no unit fails, so the group is first applied without savepoints.
   * If a unit fails, the transaction is rolled back and applied again with one savepoint per unit.
   */
  async commit(units: readonly Unit[], now: number, group: string): Promise<Committed> {
    try {
      return await this.#commitGroup(units, now, group, (unit, transaction) => this.#applyPlainly(unit, transaction));
    } catch (error) {
      if (!(error instanceof UnitFailure)) throw error;
      return this.#commitGroup(units, now, group, (unit, transaction) => this.#applyUnit(unit, transaction));
    }
  }

  async #commitGroup(units: readonly Unit[], now: number, group: string, apply: Apply): Promise<Committed> {
    let workMs = 0;
    const done = await this.#transact(() => {
      const started = performance.now();
      const transaction = this.#head.begin(now);
      const outcomes = units.map((unit) => apply(unit, transaction));
      this.#words.flush();
      const { changed } = transaction;
      const versions = changed ? this.#head.end(transaction, this.#options.id, group) : [];
      if (transaction.summary.purge > 0) this.#forgotten++;
      workMs = performance.now() - started;
      return { changed, versions, outcomes };
    });
    return { ...done, workMs };
  }

  #applyPlainly(unit: Unit, transaction: Transaction): Outcome {
    try {
      const done = applyUnit(unit, transaction, this.#receipts, this.#apply);
      transaction.endUnit(true);
      return { ok: true, done };
    } catch (error) {
      throw isUnitError(error) ? new UnitFailure() : error;
    }
  }

  #applyUnit(unit: Unit, transaction: Transaction): Outcome {
    const pendingWords = this.#words.pending;
    this.#savepoint.run();
    try {
      const done = applyUnit(unit, transaction, this.#receipts, this.#apply);
      this.#release.run();
      transaction.endUnit(true);
      return { ok: true, done };
    } catch (error) {
      if (!isUnitError(error)) throw error;
      this.#rollbackTo.run();
      this.#release.run();
      this.#words.undoTo(pendingWords);
      transaction.endUnit(false);
      return { ok: false, error: toRecord(asStoreError(error)) };
    }
  }

  readonly #apply = (write: PlainWrite, transaction: Transaction): Done => {
    switch (write.op) {
      case "add":
        return this.#items.add(write, transaction);
      case "update":
        return this.#items.update(write, transaction);
      case "forget":
        transaction.forgetPlaces();
        return this.#forgetter.forget(write, transaction);
      case "register":
        transaction.forgetPlaces();
        return this.#registrar.register(write, transaction);
      case "amend":
        transaction.forgetPlaces();
        return this.#registrar.amend(write, transaction);
      case "put_block":
        return this.#blocks.put(write, transaction);
      case "put_point":
        return this.#points.put(write, transaction);
      case "put_fact":
        return this.#facts.put(write, transaction);
      case "end_fact":
        return this.#facts.end(write, transaction);
      case "restore_fact":
        return this.#facts.restore(write, transaction);
      case "extracted":
        return this.#facts.noteExtracted(write, transaction);
      case "ledger":
        return this.#ledgers.write(write, transaction);
      case "promote":
        return this.#promotions.promote(write, transaction);
      case "restore_promotion":
        return this.#promotions.restore(write, transaction);
      case "put_key":
        return this.#keys.put(write, transaction);
      case "revoke_key":
        return this.#keys.revoke(write.id, transaction);
      default:
        return this.#indexer.apply(write, transaction);
    }
  };

  wasCommitted(group: string): boolean {
    const last = this.#database.prepare(
      `SELECT last_group AS grp FROM head WHERE last_writer = ?1
       UNION ALL SELECT grp FROM writer WHERE id = ?1 AND id IS NOT (SELECT last_writer FROM head)`,
    );
    return last.get(this.#options.id)?.["grp"] === group;
  }

  checkpoint(): void {
    this.#connection.checkpoint();
  }

  /**
   * Merges one slice of forgotten words out of the index, if due; the first slice starts the merge. Returns true if
   * there is more to do. Adds run between slices.
   */
  async mergeWords(slice: "first" | "next"): Promise<boolean> {
    if (slice === "next") return this.#transact(() => this.#words.continueMerge());
    if (Number(this.#head.read()["purge"]) < 2) return false;
    await this.#transact(() => this.#words.beginMerge());
    return true;
  }

  /**
   * Merges one slice of the word index if it is fragmented or a merge is in progress. Returns true if there may be
   * more.
   */
  async tidyWords(): Promise<boolean> {
    if (this.#isMerging) this.#isMerging = await this.#transact(() => this.#words.continueMerge());
    else if (this.#words.isScattered()) {
      await this.#transact(() => this.#words.beginMerge());
      this.#isMerging = true;
    }
    return this.#isMerging;
  }

  truncateLog(deadlineMs: number): Promise<boolean> {
    return this.#connection.truncateLog(deadlineMs);
  }

  /**
   * The work of a purge: how many transactions have forgotten something, and the traces to search for. `traces` is
   * undefined if there are too many, or if another process has also forgotten something, because its traces are unknown
   * here.
   */
  beginPurge(): { readonly unpurged: number; readonly traces: Traces | undefined } {
    const unpurged = Number(this.#head.read()["unpurged"]);
    const own = this.#forgotten;
    const traces = this.#residue.take();
    this.#forgotten = 0;
    return { unpurged, traces: unpurged > own ? undefined : traces };
  }

  /** Whether a forget of any process has gone unpurged for a minute, or the clock was set back since. */
  purgeOverdue(now: number): boolean {
    const head = this.#head.read();
    return Number(head["purge"]) > 0 && Math.abs(now - Number(head["purge_since"])) > 60_000;
  }

  vacuum(): Promise<void> {
    return this.#connection.vacuum();
  }

  /** Marks that many forgetting transactions as purged. Later ones remain to be purged. */
  async endPurge(unpurged: number): Promise<void> {
    const update = this.#database.prepare(
      `UPDATE head SET unpurged = max(unpurged - ?1, 0), purge = CASE WHEN unpurged <= ?1 THEN 0 ELSE purge END`,
    );
    await this.#transact(() => update.run(unpurged));
  }

  /** Deletes old records of removals and of dead processes, if there are any. */
  async trim(): Promise<void> {
    const head = this.#head.read();
    if (isTrimmable(this.#database, head)) await this.#transact(() => trim(this.#database, head));
  }

  /** Writes to this process's own row, with a changed time, because SQLite would not write an unchanged row. */
  async proveWritable(now: number): Promise<void> {
    const touch = this.#database.prepare(
      `INSERT INTO writer (id, grp, in_use_ms) VALUES (?, '', ?)
       ON CONFLICT (id) DO UPDATE SET in_use_ms = max(in_use_ms + 1, excluded.in_use_ms)`,
    );
    await this.#transact(() => touch.run(this.#options.id, inUseOf(this.#head.read(), now)));
  }

  /** Does one slice of the cleanup after a change of the vector space. Returns false if there was nothing to do. */
  async tidyVectors(now: number): Promise<boolean> {
    if (!this.#spaceSwitch.isUntidy) return false;
    return this.#transact(() => {
      const transaction = this.#head.begin(now);
      const wasUntidy = this.#spaceSwitch.tidy(transaction);
      transaction.endUnit(true);
      if (wasUntidy) this.#head.end(transaction, this.#options.id, "");
      return wasUntidy;
    });
  }

  stats(): { busyRetries: number; busyMs: number } {
    return this.#connection.busy;
  }

  /**
   * Rebuilds the word index if another version of the analysis built it. One transaction, so that no reader sees half
   * of it.
   */
  async #reindexIfOutdated(): Promise<void> {
    if (Number(this.#head.read()["analysis"]) === ANALYSIS_VERSION) return;
    await this.#transact(() => {
      if (Number(this.#head.read()["analysis"]) === ANALYSIS_VERSION) return;
      rebuildWords(this.#database, this.#words);
    });
  }

  /** Closes the connection and changes nothing in the file, above all not the name of the last group. */
  leave(): void {
    this.#connection.leave();
  }

  async close(): Promise<void> {
    try {
      await this.#transact(() => {
        this.#database.prepare("DELETE FROM writer WHERE id = ?").run(this.#options.id);
        this.#database.prepare("UPDATE head SET last_writer = NULL WHERE last_writer = ?").run(this.#options.id);
      });
      await this.#connection.truncateLog(0);
    } finally {
      this.#connection.leave();
    }
  }
}

type Apply = (unit: Unit, transaction: Transaction) => Outcome;

/** A unit failed in a group that was applied without savepoints. */
class UnitFailure extends Error {}

/**
 * Whether the error belongs to one unit and not to the store. A file that became too new for this program fails all
 * units.
 */
const isUnitError = (error: unknown): boolean =>
  (error instanceof HoldfastError && error.code !== "store_newer") || isRefusal(error);
