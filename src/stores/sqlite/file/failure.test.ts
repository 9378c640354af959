import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { HoldfastError } from "../../../errors.js";
import { retryBusy } from "./connection.js";
import { openDatabase } from "./driver.js";
import { asStoreError } from "./failure.js";

/** As the driver throws it. */
const thrown = (errcode: number, message: string) =>
  Object.assign(new Error(message), { code: "ERR_SQLITE_ERROR", errcode });

describe("an error of the driver", () => {
  it.each([
    [11, "database disk image is malformed", "store_failed", /damaged/, /holdfast doctor.*backup/],
    [267, "database disk image is malformed", "store_failed", /damaged/, /holdfast doctor.*backup/],
    [26, "file is not a database", "store_failed", /not a database/, /backup/],
    [1, "vtable constructor failed: words", "store_failed", /damaged/, /holdfast doctor/],
    [1, "no such table: item", "store_failed", /damaged/, /holdfast doctor/],
    [10, "disk I/O error", "store_failed", /disk or file system failed/, /check the disk/],
    [266, "disk I/O error", "store_failed", /disk or file system failed/, /check the disk/],
    [13, "database or disk is full", "store_failed", /disk is full/, /make room/],
    [8, "attempt to write a readonly database", "store_failed", /cannot be written/, /who may write/],
    [14, "unable to open database file", "store_failed", /cannot be opened/, /ulimit/],
    [7, "out of memory", "store_failed", /not enough memory/, /more memory/],
    [18, "string or blob too big", "too_large", /length/, /split/],
    [5, "database is locked", "busy", /another process/, /try again/],
    [15, "locking protocol", "store_failed", /could not be read or written/, /holdfast doctor/],
  ])("of code %i (%s) is a %s that says what to do", (code, text, expected, message, hint) => {
    const cause = thrown(code, text);
    const error = asStoreError(cause, "memory.db");
    expect(error).toBeInstanceOf(HoldfastError);
    expect(error).toMatchObject({ code: expected, cause, details: { sqlite: code & 0xff } });
    expect(error.message).toMatch(message);
    expect(error.message).toMatch(/^memory\.db /);
    expect(error.message).not.toContain(text === "file is not a database" ? "ERR_" : text);
    expect(error.hint).toMatch(hint);
  });

  it("is recognised by its text if the driver gives no code", async () => {
    const { errcode: _, ...known } = thrown(11, "");
    const codeless = (message: string) => Object.assign(new Error(message), known);
    expect(asStoreError(codeless("database disk image is malformed"))).toMatchObject({ details: { sqlite: 11 } });
    expect(asStoreError(codeless("disk I/O error")).message).toContain("disk or file system");
    let tries = 0;
    const work = () => {
      if (++tries < 3) throw codeless("database is locked");
      return "done";
    };
    expect(await retryBusy(work, 1_000)).toBe("done");
  });

  it("quotes nothing of what could not be decoded: it may be content", () => {
    const error = asStoreError(new SyntaxError(`Unexpected token, "my secret" is not valid JSON`));
    expect(error).toMatchObject({ code: "store_failed", details: {} });
    expect(error.message + error.hint).not.toContain("secret");
  });

  it("of the library's own is passed on", () => {
    const own = new HoldfastError("conflict", "taken");
    expect(asStoreError(own)).toBe(own);
    expect(own.hint).not.toBe("");
  });

  it("as it is thrown for a file of another program", () => {
    const folder = mkdtempSync(join(tmpdir(), "holdfast-failure-"));
    try {
      const database = openDatabase(join(folder, "x.db"), false);
      for (const work of [
        () => database.prepare("SELECT * FROM item"),
        () => database.exec("CREATE TABLE t (a UNIQUE); INSERT INTO t VALUES (1), (1)"),
        () => database.prepare("SELECT * FROM t WHERE json_extract('{', '$.a')").all(),
      ]) {
        let error: unknown;
        try {
          work();
        } catch (cause) {
          error = asStoreError(cause);
        }
        expect(error).toMatchObject({ code: "store_failed", message: expect.stringContaining("damaged") });
      }
      database.close();
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
