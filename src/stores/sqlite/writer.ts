/** The writing side of the file: one connection, in its own thread. */
import { setTimeout as sleep } from "node:timers/promises";
import { HoldfastError, toRecord } from "../../errors.js";
import { ANALYSIS_VERSION } from "../../retrieval/words/analyse.js";
import type { Committed, Done, Outcome, Unit, Write } from "../store.js";
import { Blocks } from "./blocks.js";
import { retryBusy } from "./busy.js";
import { connect, examine } from "./connection.js";
import { type Database, isRefusal, type Statement } from "./driver.js";
import { Embeddings } from "./embeddings.js";
import { Facts } from "./facts.js";
import { secureFile } from "./file.js";
import { Forgetter } from "./forget.js";
import { Indexer } from "./indexer.js";
import { Items } from "./items.js";
import { Keys } from "./keys.js";
import { Leases } from "./leases.js";
import { Ledgers } from "./ledgers.js";
import { OutboxWriter } from "./outbox.js";
import { Parking } from "./parking.js";
import { Promotions } from "./promotions.js";
import { Registrar } from "./registrar.js";
import { Registry } from "./registry.js";
import { Reindexing } from "./reindex.js";
import { SpaceSwitch } from "./reindex-switch.js";
import { Residue, type Traces } from "./residue.js";
import { migrate, refuseForeign } from "./schema.js";
import { Head, type Transaction } from "./transaction.js";
import { rebuildWords } from "./word-rebuild.js";
import { WordWriter } from "./words.js";

export interface WriterOptions {
  readonly path: string;
  /** Names this process in the table `writer`. */
  readonly id: string;
  readonly busyTimeoutMs: number;
}

/** Removals are remembered for other processes' caches for this many commits. */
const TOMBSTONES_KEPT = 100_000;
/** Owners without leases, living ones and those of processes that died; more than this many are trimmed. */
const OWNERS_KEPT = 100;
const DAY_MS = 24 * 60 * 60 * 1000;

export class Writer {
  readonly #options: WriterOptions;
  readonly #database: Database;
  readonly #registrar: Registrar;
  readonly #items: Items;
  readonly #words: WordWriter;
  readonly #blocks: Blocks;
  readonly #facts: Facts;
  readonly #ledgers: Ledgers;
  readonly #promotions: Promotions;
  readonly #keys: Keys;
  readonly #forgetter: Forgetter;
  readonly #indexer: Indexer;
  readonly #spaceSwitch: SpaceSwitch;
  readonly #residue = new Residue();
  readonly #head: Head;
  readonly #begin: Statement;
  readonly #commit: Statement;
  readonly #savepoint: Statement;
  readonly #release: Statement;
  readonly #rollbackTo: Statement;
  #forgotten = 0;
  #busyRetries = 0;
  #busyMs = 0;
  /** Whether a merge of the words index was begun and is not done. */
  #isMerging = false;

  private constructor(database: Database, options: WriterOptions) {
    this.#options = options;
    this.#database = database;
    const registry = new Registry(database);
    this.#registrar = new Registrar(database, registry);
    this.#words = new WordWriter(database);
    const leases = new Leases(database, registry);
    const outbox = new OutboxWriter(database, leases);
    const embeddings = new Embeddings(database, outbox, this.#residue);
    const parking = new Parking(database, registry, leases);
    const reindexing = new Reindexing(database, embeddings);
    this.#spaceSwitch = new SpaceSwitch(database, outbox);
    const parts = { registry, leases, embeddings, parking, outbox, reindexing, spaceSwitch: this.#spaceSwitch };
    this.#indexer = new Indexer(database, parts);
    this.#items = new Items(database, registry, { words: this.#words, embeddings, parking, residue: this.#residue });
    this.#blocks = new Blocks(database, registry, this.#residue);
    this.#facts = new Facts(database, registry, this.#items);
    this.#ledgers = new Ledgers(database, registry, this.#residue);
    this.#promotions = new Promotions(database, registry, this.#items, this.#facts, this.#residue);
    this.#keys = new Keys(database, registry);
    const carried = { blocks: this.#blocks, ledgers: this.#ledgers, promotions: this.#promotions };
    this.#forgetter = new Forgetter(database, registry, this.#items, leases, this.#residue, carried);
    this.#head = new Head(database, options.path);
    this.#begin = database.prepare("BEGIN IMMEDIATE");
    this.#commit = database.prepare("COMMIT");
    this.#savepoint = database.prepare("SAVEPOINT unit");
    this.#release = database.prepare("RELEASE unit");
    this.#rollbackTo = database.prepare("ROLLBACK TO unit");
  }

  static async open(options: WriterOptions): Promise<Writer> {
    secureFile(options.path);
    const { path, busyTimeoutMs } = options;
    await retryBusy(() => examine(path, (database) => refuseForeign(database, path)), busyTimeoutMs);
    const database = await retryBusy(() => connect(path, "writer"), busyTimeoutMs);
    try {
      await retryBusy(() => migrate(database), busyTimeoutMs);
      const writer = new Writer(database, options);
      await writer.#reindexIfOutdated();
      return writer;
    } catch (error) {
      database.close();
      throw error;
    }
  }

  /** Runs `work` in a write transaction. Waits for other processes outside the driver, so that nothing else blocks. */
  async #transact<T>(work: () => T): Promise<T> {
    const started = performance.now();
    let retries = 0;
    await retryBusy(
      () => this.#begin.run(),
      this.#options.busyTimeoutMs,
      () => retries++,
    );
    if (retries > 0) {
      this.#busyRetries += retries;
      this.#busyMs += performance.now() - started;
    }
    let result: T;
    try {
      result = work();
    } catch (error) {
      this.#rollback();
      this.#words.undoTo(0);
      throw error;
    }
    try {
      this.#commit.run();
    } catch (cause) {
      this.#rollback();
      throw new HoldfastError("outcome_unknown", `the store failed while committing: ${(cause as Error).message}`, {
        cause,
      });
    }
    return result;
  }

  /** A failed statement may have ended the transaction already; then there is nothing to roll back. */
  #rollback(): void {
    if (this.#database.isTransaction) this.#database.exec("ROLLBACK");
  }

  /**
   * Commits units in one transaction. Most groups have no unit that fails, so they are first applied without savepoints;
   * if one fails, everything is rolled back and applied again with a savepoint for each.
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
      if (transaction.changed) this.#head.end(transaction, this.#options.id, group);
      if (transaction.summary.purge > 0) this.#forgotten++;
      workMs = performance.now() - started;
      const { changed } = transaction;
      return { commit: changed ? transaction.commit : transaction.commit - 1, changed, outcomes };
    });
    return { ...done, workMs };
  }

  #applyPlainly(unit: Unit, transaction: Transaction): Outcome {
    try {
      const done = unit.map((write) => this.#apply(write, transaction));
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
      const done = unit.map((write) => this.#apply(write, transaction));
      this.#release.run();
      transaction.endUnit(true);
      return { ok: true, done };
    } catch (error) {
      if (!isUnitError(error)) throw error;
      this.#rollbackTo.run();
      this.#release.run();
      this.#words.undoTo(pendingWords);
      transaction.endUnit(false);
      return { ok: false, error: toRecord(error) };
    }
  }

  #apply(write: Write, transaction: Transaction): Done {
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
  }

  wasCommitted(group: string): boolean {
    const row = this.#database.prepare("SELECT grp FROM writer WHERE id = ?").get(this.#options.id);
    return row?.["grp"] === group;
  }

  /** Copies what it can of the log into the file, without waiting for anyone. */
  checkpoint(): void {
    this.#database.exec("PRAGMA wal_checkpoint(PASSIVE)");
  }

  /** Merges forgotten words out of the index, if that is due. */
  async mergeWords(): Promise<void> {
    if (Number(this.#head.read()["purge"]) < 2) return;
    await this.#transact(() => this.#words.beginMerge());
    while (await this.#transact(() => this.#words.continueMerge()));
  }

  /** A slice of merging the words index, if it is scattered or a merge is under way. True if there may be more to do. */
  async tidyWords(): Promise<boolean> {
    if (this.#isMerging) this.#isMerging = await this.#transact(() => this.#words.continueMerge());
    else if (this.#words.isScattered()) {
      await this.#transact(() => this.#words.beginMerge());
      this.#isMerging = true;
    }
    return this.#isMerging;
  }

  /** Empties the log. False if other connections still read from it when the deadline has passed. */
  async truncateLog(deadlineMs: number): Promise<boolean> {
    const statement = this.#database.prepare("PRAGMA wal_checkpoint(TRUNCATE)");
    const until = performance.now() + deadlineMs;
    for (let wait = 1; ; wait = Math.min(wait * 2, 25)) {
      if (Number(statement.get()?.["busy"]) === 0) return true;
      if (performance.now() > until) return false;
      await sleep(wait * (0.5 + Math.random()));
    }
  }

  /**
   * What there is to purge: how many transactions have forgotten something, and the traces to look for; none if there are
   * too many, or if another process has forgotten as well, whose traces are not known here.
   */
  beginPurge(): { readonly unpurged: number; readonly traces: Traces | undefined } {
    const unpurged = Number(this.#head.read()["unpurged"]);
    const own = this.#forgotten;
    const traces = this.#residue.take();
    this.#forgotten = 0;
    return { unpurged, traces: unpurged > own ? undefined : traces };
  }

  /** Whether a forget of some process has not been purged for a minute, because that process ended before it could. */
  purgeOverdue(now: number): boolean {
    const head = this.#head.read();
    return Number(head["purge"]) > 0 && now - Number(head["purge_since"]) > 60_000;
  }

  /** Rewrites the whole file, so that nothing but live data is in it. */
  async vacuum(): Promise<void> {
    await retryBusy(() => this.#database.exec("VACUUM"), this.#options.busyTimeoutMs);
  }

  /** Ends the purge of that many forgetting transactions; those that came meanwhile are still to be purged. */
  async endPurge(unpurged: number): Promise<void> {
    const update = this.#database.prepare(
      `UPDATE head SET unpurged = max(unpurged - ?1, 0), purge = CASE WHEN unpurged <= ?1 THEN 0 ELSE purge END`,
    );
    await this.#transact(() => update.run(unpurged));
  }

  /** Forgets old records of removals and of processes that are gone, if there are any. */
  async trim(now: number): Promise<void> {
    const head = this.#head.read();
    const floor = Number(head["commit_no"]) - TOMBSTONES_KEPT;
    const gone = now - DAY_MS;
    const idle = "SELECT id FROM owner WHERE id NOT IN (SELECT owner FROM lease)";
    const trimmable = this.#database.prepare(
      `SELECT EXISTS (SELECT 1 FROM tombstone WHERE commit_no <= ?) OR EXISTS (SELECT 1 FROM writer WHERE at < ?)
         OR (SELECT count(*) FROM (${idle})) > ${OWNERS_KEPT} AS any`,
    );
    if (!trimmable.get(floor, gone)?.["any"]) return;
    await this.#transact(() => {
      this.#database.prepare("DELETE FROM tombstone WHERE commit_no <= ?").run(floor);
      this.#database.prepare("UPDATE head SET tombstone_floor = max(tombstone_floor, ?)").run(Math.max(floor, 0));
      this.#database.prepare("DELETE FROM writer WHERE at < ?").run(gone);
      this.#database.exec(`DELETE FROM owner WHERE id IN (${idle})`); // whoever lives comes back with its next claim
    });
  }

  /** In this process's own row, with another time than is there, or SQLite would write nothing. */
  async proveWritable(now: number): Promise<void> {
    const touch = this.#database.prepare(
      "INSERT INTO writer (id, grp, at) VALUES (?, '', ?) ON CONFLICT (id) DO UPDATE SET at = max(at + 1, excluded.at)",
    );
    await this.#transact(() => touch.run(this.#options.id, now));
  }

  /** Does a slice of what a change of the vector space has left to do. False if nothing is. */
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
    return { busyRetries: this.#busyRetries, busyMs: this.#busyMs };
  }

  /** Builds the words index anew if the text was analysed by another version. One transaction: nobody sees half of it. */
  async #reindexIfOutdated(): Promise<void> {
    if (Number(this.#head.read()["analysis"]) === ANALYSIS_VERSION) return;
    await this.#transact(() => {
      if (Number(this.#head.read()["analysis"]) === ANALYSIS_VERSION) return;
      rebuildWords(this.#database, this.#words);
    });
  }

  /** Closes the connection and leaves everything as it is, above all the name of the last group. */
  leave(): void {
    this.#database.close();
  }

  async close(): Promise<void> {
    try {
      await this.#transact(() => this.#database.prepare("DELETE FROM writer WHERE id = ?").run(this.#options.id));
      await this.truncateLog(0);
    } finally {
      this.#database.close();
    }
  }
}

type Apply = (unit: Unit, transaction: Transaction) => Outcome;

/** A unit has failed in a group that was applied without savepoints. */
class UnitFailure extends Error {}

/** The fault of one unit, not of the store. A file that has become too new for this program is nobody's unit's. */
const isUnitError = (error: unknown): boolean =>
  (error instanceof HoldfastError && error.code !== "store_newer") || isRefusal(error);
