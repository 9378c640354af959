/** A buffer's file that is removed, replaced or overwritten while it is open, or that lacks its log. */
import { spawnSync } from "node:child_process";
import {
  copyFileSync,
  existsSync,
  linkSync,
  readFileSync,
  renameSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { SqliteBufferStore } from "holdfast/buffer-store";
import { describe, expect, it } from "vitest";
import { newFolder } from "../../support/opened.js";
import { root } from "../../support/root.js";

const UNSAFE = expect.objectContaining({ code: "store_unsafe", hint: expect.stringMatching(/\w/) });

function fileWith(folder: string, name: string, entries: number): string {
  const path = join(folder, name);
  const store = new SqliteBufferStore<{ name: string; at: number }>(path);
  for (let at = 0; at < entries; at++) store.push({ name, at }, "s", "k");
  store.close();
  return path;
}

const countOf = (path: string): number => {
  const store = new SqliteBufferStore(path);
  const count = store.count();
  store.close();
  return count;
};

const overwrite = (path: string, from: string): void => writeFileSync(path, readFileSync(from));

const LOSSES: readonly (readonly [string, (path: string, other: string) => void])[] = [
  ["rm of the file", (path) => rmSync(path)],
  ["mv of another file over it", (path, other) => renameSync(other, path)],
  ["cp of another file over it", overwrite],
  ["cp of an older copy of itself over it", (path) => overwrite(path, `${path}.older`)],
  ["truncated to nothing", (path) => truncateSync(path)],
  ["rm of the log", (path) => rmSync(`${path}-wal`)],
  ["rm of the log's index", (path) => rmSync(`${path}-shm`)],
];

describe("pushes into a file that is gone", () => {
  it.each(LOSSES)("%s: the next push throws, and all that follow", (_, lose) => {
    const folder = newFolder();
    const path = fileWith(folder, "buffer.db", 2);
    const other = fileWith(folder, "other.db", 300);
    copyFileSync(path, `${path}.older`);
    const store = new SqliteBufferStore<object>(path);
    for (let at = 0; at < 3; at++) store.push({ at }, "s", "k");
    lose(path, other);
    const bytes = existsSync(path) ? readFileSync(path) : undefined;
    expect(() => store.push({ gone: true }, "s", "k")).toThrow(UNSAFE);
    expect(() => store.clear()).toThrow(UNSAFE);
    expect(() => store.close()).toThrow(UNSAFE);
    if (bytes) expect(readFileSync(path).equals(bytes), "what is there now was not written to").toBe(true);
  });

  it.each(["store.close()", ""])("a process that ends with %j does not write to the other file", (last) => {
    const folder = newFolder();
    const other = fileWith(folder, "other.db", 300);
    const path = join(folder, "buffer.db");
    const script = `
      import { readFileSync, writeFileSync } from "node:fs";
      import { SqliteBufferStore } from ${JSON.stringify(import.meta.resolve?.("holdfast/buffer-store") ?? "")};
      const store = new SqliteBufferStore(${JSON.stringify(path)});
      for (let at = 0; at < 5; at++) store.push({ at }, "s", "k");
      writeFileSync(${JSON.stringify(path)}, readFileSync(${JSON.stringify(other)}));
      try { ${last} } catch (error) { if (error.code !== "store_unsafe") throw error; }
    `;
    const { status, stderr } = spawnSync(process.execPath, ["--input-type=module", "-e", script], { cwd: root });
    expect(status, String(stderr)).toBe(0);
    expect(readFileSync(path).equals(readFileSync(other))).toBe(true);
  });
});

describe("a buffer's file without its log", () => {
  it("is refused while pushes are only in the log, and is complete after close", () => {
    const folder = newFolder();
    const path = join(folder, "buffer.db");
    const store = new SqliteBufferStore<object>(path);
    for (let at = 0; at < 3; at++) store.push({ at }, "s", "k");
    const copy = join(folder, "copy.db");
    copyFileSync(path, copy);
    expect(() => new SqliteBufferStore(copy)).toThrow(UNSAFE);
    copyFileSync(`${path}-wal`, `${copy}-wal`);
    expect(countOf(copy)).toBe(3);
    store.close();
    const closed = join(folder, "closed.db");
    copyFileSync(path, closed);
    expect(countOf(closed)).toBe(3);
  });

  it("is what a hard link to it would be, and is refused", () => {
    const folder = newFolder();
    const path = fileWith(folder, "buffer.db", 1);
    linkSync(path, join(folder, "second.db"));
    expect(() => new SqliteBufferStore(join(folder, "second.db"))).toThrow(UNSAFE);
  });
});
