/** What is specific to SqliteBufferStore: its file, other stores on it, and files that it refuses. */
import { chmodSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { connect, pragma } from "../../stores/sqlite/file/connection.js";
import { openDatabase } from "../../stores/sqlite/file/driver.js";
import { migrate } from "../../stores/sqlite/file/schema.js";
import { FakeClock } from "../../testing/fake-clock.js";
import { SqliteBufferStore, type SqliteBufferStoreOptions } from "./sqlite-buffer-store.js";

let folder = "";
let path = "";
let stores: SqliteBufferStore<unknown>[] = [];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "holdfast-sqlite-buffer-"));
  path = join(folder, "buffer.db");
  stores = [];
});
afterEach(() => {
  for (const store of stores) store.close();
  rmSync(folder, { recursive: true });
});

function open(options: SqliteBufferStoreOptions = {}): SqliteBufferStore<unknown> {
  const store = new SqliteBufferStore<unknown>(path, options);
  stores.push(store);
  return store;
}

const payloads = (store: SqliteBufferStore<unknown>): unknown[] => store.getAll().map(({ payload }) => payload);
const coded = (code: string) => expect.objectContaining({ code });

/** Runs SQL on the file as another program would. */
function raw(sql: string): void {
  const database = openDatabase(path, false);
  try {
    database.exec(sql);
  } finally {
    database.close();
  }
}

describe("the file", () => {
  it("is made for this account only, logs ahead, and is marked as a buffer", () => {
    open();
    expect(statSync(path).mode & 0o777).toBe(0o600);
    const database = openDatabase(path, true);
    expect(pragma(database, "journal_mode")).toBe("wal");
    expect(pragma(database, "application_id")).toBe(0x48427566);
    expect(pragma(database, "user_version")).toBe(1);
    database.close();
  });

  it("opens after a power cut in the middle of its making", () => {
    open().close();
    const page = readFileSync(path).subarray(0, 4096);
    path = join(folder, "interrupted.db");
    writeFileSync(path, page, { mode: 0o600 });
    const journal = Buffer.alloc(512); // of a file that had no page before
    journal.write("d9d505f920a163d7", "hex");
    journal.writeUInt32BE(512, 20);
    journal.writeUInt32BE(4096, 24);
    writeFileSync(`${path}-journal`, journal);
    const store = open();
    store.push("hello", "monday", "key");
    expect(payloads(store)).toEqual(["hello"]);
  });

  it("keeps entries, attempts, leases, rowids and injected ids from one opening to the next", () => {
    const clock = new FakeClock();
    const first = open({ clock });
    for (const payload of [1, 2, 3]) first.push(payload, "monday", "key");
    first.addInjectedId("a");
    const leased = first.lease({ limit: 1 });
    first.deleteByRowids([3]);
    const before = first.getAll();
    first.close();

    const second = open({ clock });
    expect(second.getAll()).toEqual(before);
    expect(second.hasInjectedId("a")).toBe(true);
    expect(second.lease().map(({ payload }) => payload)).toEqual([2]);
    expect(second.acknowledge(leased)).toBe(1);
    second.push(4, "monday", "key");
    expect(second.getAll().map(({ rowid }) => rowid)).toEqual([2, 4]);
  });

  it("holds nothing of what was acknowledged once it is closed", () => {
    const store = open();
    store.push("a secret of some length", "monday", "key");
    expect(readFileSync(`${path}-wal`).includes("a secret of some length")).toBe(true);
    store.acknowledge(store.lease());
    store.close();
    expect(readFileSync(path).includes("a secret of some length")).toBe(false);
    expect(readFileSync(`${path}-wal`, { flag: "a+" }).includes("a secret of some length")).toBe(false);
  });

  it("is not given twice as many bytes by a lease of a huge entry", () => {
    const store = open();
    store.push("x".repeat(3_000_000), "monday", "key");
    store.close();
    const again = open();
    again.lease();
    expect(statSync(`${path}-wal`).size).toBeLessThan(100_000);
  });
});

describe("several stores on one file", () => {
  it("see each other's entries at once, and lease each entry once", () => {
    const [one, two] = [open(), open()];
    one.push(1, "monday", "key");
    two.push(2, "tuesday", "key");
    expect(payloads(one)).toEqual([1, 2]);
    const [first, second] = [one.lease({ limit: 1 }), two.lease()];
    expect([...first, ...second].map(({ payload }) => payload)).toEqual([1, 2]);
    expect(two.acknowledge(first)).toBe(1); // any store may acknowledge a lease
    expect(payloads(one)).toEqual([2]);
  });

  it("that are bound to sessions share nothing, and the unbound one has injected ids of its own", () => {
    const [all, monday, tuesday] = [open(), open({ session: "monday" }), open({ session: "tuesday" })];
    all.push("for tuesday", "tuesday", "key");
    monday.push("for monday", "monday", "key");
    expect([all, monday, tuesday].map((store) => store.count())).toEqual([2, 1, 1]);
    expect(payloads(monday)).toEqual(["for monday"]);

    const leased = tuesday.lease();
    expect(leased.map(({ payload }) => payload)).toEqual(["for tuesday"]);
    expect(monday.acknowledge(leased)).toBe(0);
    expect(monday.release(leased)).toBe(0);
    monday.deleteByRowids(leased.map(({ rowid }) => rowid));
    monday.clear();
    expect(payloads(all)).toEqual(["for tuesday"]);

    all.addInjectedId("x");
    monday.addInjectedId("y");
    const known = () => [all, monday, tuesday].map((store) => ["x", "y"].filter((id) => store.hasInjectedId(id)));
    expect(known()).toEqual([["x"], ["y"], []]);
    tuesday.clearInjectedIds();
    all.clearInjectedIds();
    expect(known()).toEqual([[], ["y"], []]);
  });

  it("wait for a lock for the configured time, then fail with busy, and work again afterwards", () => {
    const store = open({ busyTimeoutMs: 30 });
    const other = openDatabase(path, false);
    other.exec("BEGIN IMMEDIATE");
    const began = performance.now();
    expect(() => store.push(1, "monday", "key")).toThrow(coded("busy"));
    expect(performance.now() - began).toBeGreaterThanOrEqual(30);
    for (const call of [() => store.lease(), () => store.addInjectedId("a"), () => store.clear()]) {
      expect(call).toThrow(coded("busy"));
    }
    expect(store.count()).toBe(0); // reads do not wait
    other.exec("COMMIT");
    other.close();
    store.push(2, "monday", "key");
    expect(payloads(store)).toEqual([2]);
  });
});

describe("a file that is refused", () => {
  /** Opening fails with this error, and the file is unchanged byte for byte. */
  function expectRefused(code: string, message: RegExp): void {
    const before = readFileSync(path);
    expect(() => open()).toThrow(coded(code));
    expect(() => open()).toThrow(message);
    expect(readFileSync(path).equals(before)).toBe(true);
  }

  it.each(["DELETE", "WAL"])("is another program's, with journal mode %s", (mode) => {
    writeFileSync(path, "", { mode: 0o600 });
    raw(`PRAGMA journal_mode = ${mode}; CREATE TABLE theirs (a); INSERT INTO theirs VALUES (1)`);
    expectRefused("store_failed", /of another program/);
  });

  it("is marked by another program, even if it is empty", () => {
    writeFileSync(path, "", { mode: 0o600 });
    raw("PRAGMA application_id = 77");
    expectRefused("store_failed", /of another program/);
  });

  it("is a memory of Holdfast", () => {
    writeFileSync(path, "", { mode: 0o600 });
    const memory = connect(path, "writer");
    migrate(memory);
    memory.close();
    expectRefused("store_failed", /a memory of Holdfast/);
  });

  it("is no database", () => {
    writeFileSync(path, "Dear diary, today was a day like any other.\n".repeat(100), { mode: 0o600 });
    expectRefused("store_failed", /is not a database/);
  });

  it("is of a newer version", () => {
    open().close();
    raw("PRAGMA user_version = 2; PRAGMA wal_checkpoint(TRUNCATE)");
    expectRefused("store_newer", /newer Holdfast/);
  });

  it("became one of a newer version while it was open", () => {
    const store = open();
    raw("PRAGMA user_version = 2");
    expect(() => store.push(1, "monday", "key")).toThrow(coded("store_newer"));
    expect(store.count()).toBe(0);
  });

  it("can be read by others, or lies nowhere", () => {
    open().close();
    chmodSync(path, 0o644);
    expect(() => open()).toThrow(coded("store_unsafe"));
    path = join(folder, "nowhere", "buffer.db");
    expect(() => open()).toThrow(coded("store_failed"));
  });

  it("is not a file at all", () => {
    for (const name of ["", ":memory:", 1 as never]) {
      path = name;
      expect(() => open()).toThrow(coded("invalid_input"));
    }
  });
});

it("after a failure the call has left nothing, and the store continues to work", () => {
  const store = open();
  for (const payload of [1, 2, 3]) store.push(payload, "monday", "key");
  raw("CREATE TRIGGER t BEFORE DELETE ON entry WHEN old.key = 2 BEGIN SELECT raise(ABORT, 'no'); END");
  expect(() => store.deleteByRowids([1, 2, 3])).toThrow(coded("store_failed"));
  expect(payloads(store)).toEqual([1, 2, 3]);
  store.deleteByRowids([1]);
  expect(payloads(store)).toEqual([2, 3]);
});

it("a commit that fails has an unknown outcome, and the store continues to work", () => {
  const store = open();
  raw(`CREATE TABLE missing (key INTEGER PRIMARY KEY);
       CREATE TABLE wanting (key INTEGER REFERENCES missing DEFERRABLE INITIALLY DEFERRED);
       CREATE TRIGGER t AFTER INSERT ON entry WHEN new.session = 'odd' BEGIN INSERT INTO wanting VALUES (1); END`);
  expect(() => store.push(1, "odd", "key")).toThrow(coded("outcome_unknown"));
  store.push(2, "even", "key");
  expect(payloads(store)).toEqual([2]);
});

it("leaves no trace of a lease when its entry is gone", () => {
  const store = open();
  for (const payload of [1, 2, 3]) store.push(payload, "monday", "key");
  store.acknowledge(store.lease().slice(0, 1));
  store.deleteByRowids([2]);
  store.clear();
  const database = openDatabase(path, true);
  expect(database.prepare("SELECT count(*) AS holds FROM hold").get()).toMatchObject({ holds: 0 });
  database.close();
});
