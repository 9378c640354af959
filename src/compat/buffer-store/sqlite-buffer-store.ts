/**
 * A BufferStore in its own file, on its own connection, on the caller's thread. A push is on disk when it returns. Any number
 * of stores and processes may have the file open, bound to sessions or not.
 */
import { parseInteger } from "../../input/integer.js";
import { invalid, objectWith, wrongType } from "../../input/refusal.js";
import type { Row } from "../../stores/sqlite/file/driver.js";
import {
  type Binding,
  parseBinding,
  parseInjectedId,
  parseLease,
  parseLeases,
  parsePush,
  parseRowids,
} from "./arguments.js";
import { BufferFile } from "./buffer-file.js";
import {
  type BufferedEntry,
  type BufferStore,
  type BufferStoreOptions,
  INJECTED_IDS_MAX,
  type Lease,
  type LeasedEntry,
  type LeaseOptions,
} from "./buffer-store.js";
import { type BufferStatements, prepareStatements } from "./statements.js";
import type { WebhookPayload } from "./webhook-payload.js";

/** The options of a `SqliteBufferStore`. */
export interface SqliteBufferStoreOptions extends BufferStoreOptions {
  /**
   * How long a call may block its thread while another connection holds the file, before it throws `busy`. Default: 2,000; at
   * most 60,000. Others usually hold it for about a millisecond.
   */
  readonly busyTimeoutMs?: number;
}

const KEYS = new Set(["session", "clock", "busyTimeoutMs"]);
const BUSY_TIMEOUT_MS = { usual: 2_000, max: 60_000 };

/** A BufferStore in an SQLite file of its own, which several processes may use. */
export class SqliteBufferStore<Payload = WebhookPayload> implements BufferStore<Payload> {
  readonly #binding: Binding;
  readonly #file: BufferFile;
  readonly #sql: BufferStatements;
  /** The session, or null for all: the first parameter of every statement about entries. */
  readonly #session: string | null;
  readonly #scope: string;

  /** Creates the file if it does not exist, readable by this account only. */
  constructor(path: string, options: SqliteBufferStoreOptions = {}) {
    const given = objectWith(options, KEYS, "options");
    const { busyTimeoutMs = BUSY_TIMEOUT_MS.usual } = given;
    const timeout = parseInteger(busyTimeoutMs, "options.busyTimeoutMs", 0, BUSY_TIMEOUT_MS.max);
    this.#binding = parseBinding(given);
    this.#session = this.#binding.session ?? null;
    this.#scope = this.#binding.session ?? "";
    this.#file = new BufferFile(parsePath(path), timeout);
    this.#sql = this.#file.read((database) => prepareStatements(database, this.#binding.session));
  }

  get session(): string | undefined {
    return this.#binding.session;
  }

  push(payload: Payload, sessionId: string, sessionKey: string): void {
    this.#file.assertOpen();
    const pushed = parsePush(payload, sessionId, sessionKey, this.#binding.session);
    const at = this.#binding.clock.now();
    this.#file.write(() => this.#sql.push.run(pushed.sessionId, pushed.sessionKey, at, pushed.text));
  }

  getAll(): BufferedEntry<Payload>[] {
    return this.#file.read(() => this.#sql.all.all(this.#session)).map((row) => readEntry<Payload>(row));
  }

  count(): number {
    return this.#file.read(() => Number(this.#sql.count.get(this.#session)?.["entries"]));
  }

  clear(): void {
    this.#file.write(() => this.#sql.clear.run(this.#session));
  }

  deleteByRowids(rowids: readonly number[]): void {
    this.#file.assertOpen();
    const parsed = parseRowids(rowids);
    this.#file.write(() => {
      for (const rowid of parsed) this.#sql.remove.run(this.#session, rowid);
    });
  }

  lease(options: LeaseOptions = {}): LeasedEntry<Payload>[] {
    this.#file.assertOpen();
    const { limit, leaseMs } = parseLease(options);
    const now = this.#binding.clock.now();
    const leasedUntil = now + leaseMs;
    const rows = this.#file.write(() => {
      const free = this.#sql.free.all(this.#session, now, limit);
      for (const { key } of free) this.#sql.hold.run(Number(key), leasedUntil, leaseMs);
      return free;
    });
    return rows.map((row) => {
      const fence = Number(row["attempts"]) + 1;
      return { ...readEntry<Payload>(row), attempts: fence, fence, leasedUntil };
    });
  }

  acknowledge(leased: readonly Lease[]): number {
    return this.#endLeases(leased, this.#sql.acknowledge);
  }

  release(leased: readonly Lease[]): number {
    return this.#endLeases(leased, this.#sql.release);
  }

  #endLeases(leased: readonly Lease[], statement: BufferStatements["release"]): number {
    this.#file.assertOpen();
    const leases = parseLeases(leased);
    return this.#file.write(() => {
      let ended = 0;
      for (const { rowid, fence } of leases) ended += Number(statement.run(this.#session, rowid, fence).changes);
      return ended;
    });
  }

  hasInjectedId(id: string): boolean {
    this.#file.assertOpen();
    const parsed = parseInjectedId(id);
    return this.#file.read(() => this.#sql.findInjected.get(this.#scope, parsed)) !== undefined;
  }

  addInjectedId(id: string): boolean {
    this.#file.assertOpen();
    const parsed = parseInjectedId(id);
    return this.#file.write(() => {
      if (this.#sql.findInjected.get(this.#scope, parsed)) return false;
      const seq = Number(this.#sql.lastInjected.get(this.#scope)?.["seq"] ?? 0) + 1;
      this.#sql.addInjected.run(this.#scope, seq, parsed);
      this.#sql.trimInjected.run(this.#scope, seq - INJECTED_IDS_MAX);
      return true;
    });
  }

  clearInjectedIds(): void {
    this.#file.write(() => this.#sql.clearInjected.run(this.#scope));
  }

  close(): void {
    this.#file.close();
  }
}

/** Refuses SQLite's names for databases without a file, which would lose the data. */
function parsePath(path: unknown): string {
  if (typeof path !== "string") throw wrongType("path", "a string", path);
  if (path === "" || path === ":memory:") {
    throw invalid("path", "must name a file", "for a buffer without a file use InMemoryBufferStore");
  }
  return path;
}

function readEntry<Payload>(row: Row): BufferedEntry<Payload> {
  return {
    rowid: Number(row["key"]),
    payload: JSON.parse(String(row["payload"])) as Payload,
    sessionId: String(row["session"]),
    sessionKey: String(row["session_key"]),
    at: Number(row["at"]),
    attempts: Number(row["attempts"]),
  };
}
