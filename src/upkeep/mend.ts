/**
 * Repairs a file, in an upkeep thread, while other processes may write it. Each repair is an ordinary transaction that checks
 * again what it repairs and invalidates the caches of other processes.
 */
import { randomUUID } from "node:crypto";
import { fromRecord } from "../errors.js";
import type { ReplayWrite } from "../stores/indexing.js";
import { connect, retryBusy } from "../stores/sqlite/file/connection.js";
import type { Database } from "../stores/sqlite/file/driver.js";
import { lacksLog } from "../stores/sqlite/file/lost-log.js";
import { spaceRef } from "../stores/sqlite/rows/codec.js";
import { Head, type Transaction } from "../stores/sqlite/rows/transaction.js";
import { Writer } from "../stores/sqlite/writer.js";
import type { Unit } from "../stores/store.js";
import { findLeases, leasesOf } from "./checks/work.js";
import { type CheckName, count } from "./diagnosis.js";
import { mendCounts } from "./mend-counts.js";
import { mendVectors } from "./mend-vectors.js";
import { mendWords } from "./mend-words.js";
import type { Steps } from "./progress.js";

export interface MendJob {
  readonly path: string;
  readonly now: number;
  readonly deep: boolean;
  /** The checks that found something to repair. */
  readonly repairs: readonly CheckName[];
}

const BUSY_MS = 10_000;
/** Longest wait for readers of the log. */
const LOG_MS = 5_000;

/** A file under repair. */
export interface Mending {
  readonly database: Database;
  readonly deep: boolean;
  transact<T>(work: (transaction: Transaction) => T): Promise<T>;
}

export async function mend({ path, now, deep, repairs }: MendJob, steps: Steps): Promise<readonly string[]> {
  const done: string[] = [];
  const step = async (name: CheckName, work: () => Promise<string | undefined>): Promise<void> => {
    if (!repairs.includes(name)) return;
    steps.begin(name, repairs.indexOf(name), repairs.length);
    const said = await work();
    if (said !== undefined) done.push(said);
  };
  const withoutLog = repairs.includes("log") && lacksLog(path);
  const writer = await Writer.open({ path, id: randomUUID(), busyTimeoutMs: BUSY_MS, withoutLog }); // upgrades the schema
  if (repairs.includes("schema")) done.push("upgraded the file");
  const database = await retryBusy(() => connect(path, "writer"), BUSY_MS);
  const mending = { database, deep, transact: transactions(database, path, now) };
  try {
    await step("leases", () => endDeadLeases(mending, writer, now));
    await step("counts", () => mendCounts(mending));
    await step("words", () => mendWords(mending));
    await step("vectors", () => mendVectors(mending));
    await step("parked", () => replayParked(database, writer, now));
    await step("purge", () => finishPurge(writer));
    await step("log", () => emptyLog(writer, withoutLog));
  } finally {
    database.close();
    await writer.close();
  }
  return done;
}

/** Each call is one write transaction on its own connection. */
function transactions(database: Database, path: string, now: number): Mending["transact"] {
  const head = new Head(database, path);
  return async (work) => {
    await retryBusy(() => database.exec("BEGIN IMMEDIATE"), BUSY_MS);
    try {
      const transaction = head.begin(now);
      const result = work(transaction);
      transaction.endUnit(true);
      if (transaction.changed) head.end(transaction, "", "");
      database.exec("COMMIT");
      return result;
    } catch (error) {
      if (database.isTransaction) database.exec("ROLLBACK");
      throw error;
    }
  };
}

async function endDeadLeases({ database, transact }: Mending, writer: Writer, now: number): Promise<string> {
  const { dead, ownerless } = findLeases(database);
  await commit(
    writer,
    dead.map(({ id }) => ({ op: "release", owner: id }) as const),
    now,
  );
  await transact(() => database.exec("DELETE FROM lease WHERE owner NOT IN (SELECT id FROM owner)"));
  return `ended ${count(leasesOf(dead) + ownerless, "lease")} of ended processes`;
}

async function replayParked(database: Database, writer: Writer, now: number): Promise<string> {
  const spaces = database
    .prepare(
      "SELECT DISTINCT space.kind, space.name FROM item JOIN space ON space.key = item.space WHERE item.parked = 1",
    )
    .all();
  let replayed = 0;
  for (const { kind, name } of spaces) {
    const write: ReplayWrite = { op: "replay", which: { space: spaceRef(kind, name) } };
    for (let remaining = true; remaining; ) {
      const [done] = await commit(writer, [write], now);
      remaining = done?.op === "replay" && done.remaining;
      if (done?.op === "replay") replayed += done.replayed;
    }
  }
  return `queued ${count(replayed, "parked item")} again; the next process with the model will embed them`;
}

async function commit(writer: Writer, unit: Unit, now: number) {
  if (unit.length === 0) return [];
  const { outcomes } = await writer.commit([unit], now, "");
  const [outcome] = outcomes;
  if (outcome && !outcome.ok) throw fromRecord(outcome.error);
  return outcome?.done ?? [];
}

/** Rewrites the whole file, because no one knows any more which text to search the gaps for. */
async function finishPurge(writer: Writer): Promise<string | undefined> {
  const { unpurged } = writer.beginPurge();
  let slice: "first" | "next" = "first";
  while (await writer.mergeWords(slice)) slice = "next";
  if (!(await writer.truncateLog(LOG_MS))) return undefined;
  await writer.vacuum();
  if (!(await writer.truncateLog(LOG_MS))) return undefined;
  await writer.endPurge(unpurged);
  return "rewrote the file without forgotten bytes";
}

async function emptyLog(writer: Writer, withoutLog: boolean): Promise<string | undefined> {
  if (!(await writer.truncateLog(LOG_MS))) return undefined;
  return withoutLog ? "gave up the missing log" : "emptied the log";
}
