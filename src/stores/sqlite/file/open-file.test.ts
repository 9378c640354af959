/** A file that is watched while it is written to. */
import { copyFileSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { connect } from "./connection.js";
import type { Database } from "./driver.js";
import { lacksLog, markOf, refuseForeignLog } from "./lost-log.js";
import { needsLog } from "./main-file.js";
import { OpenFile } from "./open-file.js";
import { migrate } from "./schema.js";

const UNSAFE = expect.objectContaining({ code: "store_unsafe", hint: expect.stringContaining("stop every process") });

let folder = "";
let path = "";
const opened: Database[] = [];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "holdfast-open-file-"));
  path = join(folder, "memory.db");
});
afterEach(() => {
  for (const database of opened.splice(0)) database.close();
  rmSync(folder, { recursive: true });
});

function open(at = path): { readonly database: Database; readonly file: OpenFile } {
  const database = connect(at, "writer");
  opened.push(database);
  migrate(database);
  return { database, file: new OpenFile(at, database) };
}

const commit = (database: Database): void => database.exec("UPDATE head SET commit_no = commit_no + 1");

describe("a commit", () => {
  it("is not confirmed if the file was replaced while it was made", () => {
    const { database, file } = open();
    commit(database);
    file.confirm();
    copyFileSync(path, join(folder, "copy.db"));
    file.assertInPlace();
    commit(database);
    renameSync(join(folder, "copy.db"), path);
    expect(() => file.confirm()).toThrow(UNSAFE);
    copyFileSync(path, join(folder, "copy.db"));
    expect(() => file.assertInPlace(), "for good").toThrow(UNSAFE);
  });

  it("is not confirmed if the file was overwritten at the very time of its last checkpoint", () => {
    const { database, file } = open();
    const other = join(folder, "other.db");
    open(other);
    opened.pop()?.close();
    commit(database);
    file.confirm(); // with a checkpoint
    writeFileSync(path, readFileSync(other));
    expect(() => file.assertInPlace()).toThrow(UNSAFE);
  });

  it("leaves a file that says that it needs its log, and a checkpoint one that does not", () => {
    const { database, file } = open();
    expect(markOf(path), "all of it is in the log").toBeUndefined();
    for (let round = 0; round < 3; round++) {
      commit(database);
      file.confirm();
      expect(needs(path)).toBe(true);
      commit(database);
      file.confirm();
      expect(needs(path)).toBe(true);
      database.exec("PRAGMA wal_checkpoint(PASSIVE)");
      expect(needs(path)).toBe(false);
    }
  });

  it("that changes nothing leaves the file as it is", () => {
    const { database, file } = open();
    commit(database);
    file.confirm();
    file.settle();
    database.exec("PRAGMA wal_checkpoint(TRUNCATE)");
    const bytes = readFileSync(path);
    const { database: again, file: same } = open();
    again.exec("BEGIN IMMEDIATE; DELETE FROM writer WHERE id = 'nobody'; COMMIT");
    same.confirm();
    expect(readFileSync(path).equals(bytes)).toBe(true);
  });

  it("is announced once no reader uses an older state", () => {
    const { database, file } = open();
    const { database: reader } = open();
    reader.exec("BEGIN; SELECT * FROM head");
    for (let round = 0; round < 3; round++) {
      commit(database);
      file.confirm();
    }
    expect(markOf(path) && needs(path)).toBeFalsy();
    reader.exec("COMMIT");
    commit(database);
    file.confirm();
    expect(needs(path)).toBe(true);
  });
});

const needs = (at: string): boolean => {
  const mark = markOf(at);
  return mark !== undefined && needsLog(mark);
};

/** A small generator, so that a failure can be repeated. */
function* numbers(seed: number): Generator<number, never> {
  for (let state = seed; ; ) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    yield state / 2 ** 32;
  }
}

it.each([1, 2, 3, 4])("several that write, copy and empty the log never alarm each other (seed %s)", (seed) => {
  const random = numbers(seed);
  const next = (below: number): number => Math.floor(random.next().value * below);
  const writers = [open(), open(), open()];
  const probe = connect(path, "main");
  opened.push(probe);
  const steps = [
    ({ database, file }: (typeof writers)[number]) => {
      commit(database);
      file.confirm();
    },
    ({ database, file }: (typeof writers)[number]) => {
      file.assertInPlace();
      database.exec("PRAGMA wal_checkpoint(PASSIVE)");
    },
    ({ database, file }: (typeof writers)[number]) => {
      file.settle();
      database.exec("PRAGMA wal_checkpoint(TRUNCATE)");
    },
    ({ file }: (typeof writers)[number]) => file.assertInPlace(),
    ({ database }: (typeof writers)[number]) => database.exec("VACUUM"),
  ];
  for (let step = 0; step < 300; step++) {
    const writer = writers[next(writers.length)];
    const weighted = next(10);
    if (writer) steps[weighted < 6 ? 0 : weighted < 9 ? next(4) : 4]?.(writer);
    expect(lacksLog(path)).toBe(false);
    refuseForeignLog(probe, path);
  }
});
