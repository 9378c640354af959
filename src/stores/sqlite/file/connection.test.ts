import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { connect, pragma } from "./connection.js";
import { LOCK_WAIT_MS } from "./driver.js";

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "holdfast-connection-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

describe("a connection", () => {
  it.each(["writer", "reader", "main"] as const)("of the %s syncs fully, logs ahead and waits 5 ms at most", (role) => {
    const path = join(folder, "memory.db");
    connect(path, "writer").close();
    const database = connect(path, role);
    expect(pragma(database, "synchronous")).toBe(2);
    expect(pragma(database, "journal_mode")).toBe("wal");
    expect(pragma(database, "secure_delete")).toBe(1);
    expect(pragma(database, "wal_autocheckpoint")).toBe(0);
    expect(pragma(database, "temp_store")).toBe(2);
    expect(pragma(database, "busy_timeout")).toBe(LOCK_WAIT_MS);
    database.close();
  });

  it("is refused where there can be no write-ahead log", () => {
    expect(() => connect(":memory:", "writer")).toThrow(expect.objectContaining({ code: "store_unsafe" }));
  });

  it("of the main thread cannot write", () => {
    const path = join(folder, "memory.db");
    connect(path, "writer").close();
    const database = connect(path, "main");
    expect(() => database.exec("CREATE TABLE t (a)")).toThrow(/readonly/);
    database.close();
  });
});
