/** A file that is removed, replaced or overwritten while it is open: nothing is acknowledged into a file that is gone. */
import { execFileSync, spawnSync } from "node:child_process";
import {
  chmodSync,
  copyFileSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { HoldfastError, type Memory } from "holdfast";
import { serve } from "holdfast/server";
import { SqliteStore } from "holdfast/stores";
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from "vitest";
import { newFolder, newPath, open } from "../support/opened.js";
import { openRaw } from "../support/raw.js";
import { root } from "../support/root.js";
import { until } from "../support/until.js";

const SCOPE = { user: "ada", session: "s" };
const said = (content: string) => [{ role: "user" as const, content }];

/** Adds these messages to a file that nobody has open. */
async function fill(path: string, ...texts: readonly string[]): Promise<void> {
  const memory = await open({ path });
  for (const text of texts) await memory.session(SCOPE).add(said(text));
  await memory.close();
}

/** A file that nobody has open, with these messages. */
async function fileWith(...texts: readonly string[]): Promise<string> {
  const path = newPath();
  await fill(path, ...texts);
  return path;
}

/** Files that nobody opens, to be copied: one with two messages, the same when it had one, and another one. */
const models = { folder: "", used: "", older: "", foreign: "" };

beforeAll(async () => {
  models.folder = mkdtempSync(join(tmpdir(), "holdfast-test-"));
  for (const name of ["used", "older", "foreign"] as const) models[name] = join(models.folder, `${name}.db`);
  await fill(models.used, "one");
  copyFileSync(models.used, models.older);
  await fill(models.used, "two");
  await fill(models.foreign, "foreign");
});
afterAll(() => rmSync(models.folder, { recursive: true, force: true }));

/** A memory with two messages in its file and two more in its log. Requires that there is no file yet. */
async function inUse(path: string): Promise<Memory> {
  copyFileSync(models.used, path);
  const memory = await open({ path });
  for (const text of ["three", "four"]) await memory.session(SCOPE).add(said(text));
  return memory;
}

async function refusal(work: Promise<unknown>): Promise<HoldfastError> {
  const error = await work.then(
    (value) => value,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(HoldfastError);
  expect(error).toMatchObject({ code: "store_unsafe", hint: expect.stringMatching(/\w/) });
  return error as HoldfastError;
}

/**
 * Overwrites the bytes and keeps the inode, as cp and rsync --inplace do. It is never empty meanwhile: of an empty file
 * SQLite removes the log.
 */
function overwrite(path: string, from: string): void {
  const bytes = readFileSync(from);
  writeFileSync(path, bytes, { flag: "r+" });
  truncateSync(path, bytes.length);
}

interface Loss {
  readonly name: string;
  /** What is done to the file behind the memory's back. */
  lose(path: string, other: string): void;
}

const LOSSES: readonly Loss[] = [
  { name: "rm of the file", lose: (path) => rmSync(path) },
  { name: "rm of its folder", lose: (path) => rmSync(dirname(path), { recursive: true }) },
  { name: "its folder renamed", lose: (path) => renameSync(dirname(path), join(dirname(path), "..", "elsewhere")) },
  {
    name: "mv of another file over it",
    lose: (path, other) => {
      copyFileSync(other, `${path}.new`);
      renameSync(`${path}.new`, path);
    },
  },
  { name: "cp of another file over it, which keeps the inode", lose: overwrite },
  { name: "cp of a text over it", lose: (path) => writeFileSync(path, "Dear diary, ".repeat(5_000), { flag: "r+" }) },
  { name: "an older copy of itself over it", lose: (path) => overwrite(path, `${path}.older`) },
  { name: "truncated to nothing", lose: (path) => truncateSync(path) },
  { name: "truncated to its first pages", lose: (path) => truncateSync(path, 8_192) },
  { name: "truncated by half", lose: (path) => truncateSync(path, Math.floor(statSync(path).size / 8_192) * 4_096) },
  {
    name: "moved away, with a link in its place",
    lose: (path) => {
      renameSync(path, `${path}.moved`);
      symlinkSync(`${path}.moved`, path);
    },
  },
  { name: "rm of the log", lose: (path) => rmSync(`${path}-wal`) },
  { name: "the log emptied", lose: (path) => truncateSync(`${path}-wal`) },
  { name: "the log replaced", lose: (path) => replaceByCopy(`${path}-wal`) },
  { name: "rm of the log's index", lose: (path) => rmSync(`${path}-shm`) },
  { name: "the log's index replaced", lose: (path) => replaceByCopy(`${path}-shm`) },
];

/** The same bytes under the same name, in another file. */
function replaceByCopy(path: string): void {
  copyFileSync(path, `${path}.new`);
  renameSync(`${path}.new`, path);
}

describe("acknowledged into a file that is gone", () => {
  it.each(LOSSES)("$name: the next add is refused, and all that follow", async ({ lose }) => {
    const path = join(newFolder(), "inner", "memory.db");
    mkdirSync(dirname(path));
    const other = models.foreign;
    const foreign = readFileSync(other);
    copyFileSync(models.older, `${path}.older`);
    const memory = await inUse(path);
    const session = memory.session(SCOPE);
    lose(path, other);
    const bytes = existsSync(path) ? readFileSync(path) : undefined;
    const first = await refusal(session.add(said("gone")));
    expect(first.message).toContain("memory.db");
    const second = await refusal(session.add(said("gone as well")));
    expect(second.cause).toMatchObject({ message: first.message });
    await refusal(session.query("one"));
    await refusal(session.list());
    expect(memory.service.buffers.write).toMatchObject({ health: "failed", lastError: first.message });
    await refusal(memory.close());
    if (bytes) expect(readFileSync(path).equals(bytes), "what is there now was not written to").toBe(true);
    expect(readFileSync(other).equals(foreign)).toBe(true);
  });

  it("is noticed by one who only asks questions", async () => {
    const path = newPath();
    const session = (await inUse(path)).session(SCOPE);
    expect(await session.query("three")).not.toHaveLength(0);
    rmSync(path);
    await until(() =>
      session.query("three").then(
        () => false,
        (error) => error.code === "store_unsafe",
      ),
    );
  });

  it("is noticed by closing, which says so and leaves the other file alone", async () => {
    const path = newPath();
    const memory = await inUse(path);
    const other = models.foreign;
    overwrite(path, other);
    await refusal(memory.close());
    expect(readFileSync(path).equals(readFileSync(other))).toBe(true);
  });

  it("a link that is pointed elsewhere is not the file any more", async () => {
    const [target, other] = [newPath(), await fileWith("foreign")];
    const link = join(newFolder(), "link.db");
    writeFileSync(target, "", { mode: 0o600 });
    symlinkSync(target, link);
    const memory = await inUse(link);
    await memory.session(SCOPE).add(said("through the link"));
    expect(existsSync(`${target}-wal`), "its log stands beside the file itself").toBe(true);
    rmSync(link);
    symlinkSync(other, link);
    await refusal(memory.session(SCOPE).add(said("elsewhere")));
    expect((await contents(other)).sort()).toEqual(["foreign"]);
  });

  it("a relative path is that of the folder in which it was opened", async () => {
    const [folder, before] = [newFolder(), process.cwd()];
    const script = `
      import { chdir } from "node:process";
      import { openMemory } from ${JSON.stringify(import.meta.resolve?.("holdfast") ?? "holdfast")};
      chdir(${JSON.stringify(folder)});
      const memory = await openMemory({ path: "memory.db" });
      chdir("/");
      await memory.session({ user: "ada", session: "s" }).add([{ role: "user", content: "here" }]);
      await memory.close();
    `;
    execFileSync(process.execPath, ["--input-type=module", "-e", script], { cwd: root, timeout: 300_000 });
    expect(process.cwd()).toBe(before);
    expect(await contents(join(folder, "memory.db"))).toEqual(["here"]);
  });

  it("a second name of the file (a hard link) would have a log of its own, and is refused", async () => {
    const path = newPath();
    const memory = await inUse(path);
    const second = join(dirname(path), "second.db");
    linkSync(path, second);
    await refusal(open({ path: second }));
    await memory.session(SCOPE).add(said("undisturbed"));
    await memory.close();
    await refusal(open({ path }));
    rmSync(second);
    expect(await contents(path)).toContain("undisturbed");
  });

  it("a process that ends without closing leaves the other file alone", async () => {
    const [path, other] = [newPath(), await fileWith("foreign", "more of it")];
    const script = `
      import { readFileSync, writeFileSync } from "node:fs";
      import { openMemory } from ${JSON.stringify(import.meta.resolve?.("holdfast") ?? "holdfast")};
      const memory = await openMemory({ path: ${JSON.stringify(path)} });
      const session = memory.session({ user: "ada", session: "s" });
      await session.add([{ role: "user", content: "own" }]);
      await session.query("own");
      writeFileSync(${JSON.stringify(path)}, readFileSync(${JSON.stringify(other)}));
    `;
    const { status, stderr } = spawnSync(process.execPath, ["--input-type=module", "-e", script], { cwd: root });
    expect(status, String(stderr)).toBe(0);
    expect(readFileSync(path).equals(readFileSync(other))).toBe(true);
  });
});

describe("an older copy of the file, made while it was in use", () => {
  it("is not taken for it after a checkpoint of this process", async () => {
    const path = newPath();
    const memory = await open({ path });
    for (const text of ["one", "two", "three"]) await memory.session(SCOPE).add(said(text));
    const older = newPath();
    copyFileSync(path, older);
    for (let at = 0; at < 300; at++) await memory.session(SCOPE).add(said(`text ${at}`)); // a checkpoint is due by then
    const file = openRaw(path);
    await until(() => (file.prepare("PRAGMA wal_checkpoint(PASSIVE)").get()?.["busy"] ?? 1) === 0);
    file.close();
    await memory.session(SCOPE).add(said("seen")); // this process has looked at the file since
    overwrite(path, older);
    await refusal(memory.session(SCOPE).add(said("gone")));
  });

  it("is not taken for it after another process has emptied the log", async () => {
    const path = newPath();
    const memory = await open({ path });
    for (const text of ["one", "two", "three"]) await memory.session(SCOPE).add(said(text));
    const older = newPath();
    copyFileSync(path, older);
    for (const text of ["four", "five"]) await memory.session(SCOPE).add(said(text));
    const other = openRaw(path);
    await until(() => other.prepare("PRAGMA wal_checkpoint(TRUNCATE)").get()?.["busy"] === 0);
    other.close();
    overwrite(path, older);
    await refusal(memory.session(SCOPE).add(said("gone")));
  });
});

describe("a file of which a checkpoint has copied only a part", () => {
  it("is not taken for overwritten", async () => {
    const path = newPath();
    const memory = await inUse(path);
    const other = openRaw(path);
    const reader = openRaw(path);
    other.exec(
      "CREATE TABLE extra (text); WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 900) INSERT INTO extra SELECT hex(zeroblob(900)) FROM n",
    );
    reader.exec("BEGIN; SELECT count(*) FROM sqlite_schema");
    other.exec("UPDATE extra SET text = replace(text, '0', '1') WHERE rowid > 450"); // the last page, and not the first
    other.exec("PRAGMA wal_checkpoint(PASSIVE)"); // stops at what the reader sees
    const bytes = join(newFolder(), "memory.db");
    copyFileSync(path, bytes);
    expect(() => readAlone(bytes)).toThrow("malformed");
    await memory.session(SCOPE).add(said("five"));
    reader.exec("COMMIT");
    reader.close();
    other.close();
    await memory.session(SCOPE).add(said("six"));
    await memory.close();
    expect(await contents(path)).toEqual(["six", "five", "four", "three", "two", "one"]);
  });
});

function readAlone(path: string): void {
  const database = openRaw(path);
  try {
    database.prepare("SELECT * FROM log").all();
  } finally {
    database.close();
  }
}

async function contents(path: string): Promise<string[]> {
  const memory = await open({ path });
  const { items } = await memory.session(SCOPE).list({ limit: 100 });
  await memory.close();
  return items.map(({ content }) => content);
}

describe("after the file was replaced", () => {
  it.each([
    ["another file", "foreign"],
    ["an older copy of itself", "older"],
  ])("%s is not opened with the log of the former one", async (_, kind) => {
    const path = newPath();
    const former = await inUse(path);
    const other = kind === "older" ? models.older : models.foreign;
    overwrite(path, other);
    await refusal(former.session(SCOPE).add(said("gone")));
    await refusal(former.close());
    // In another place: SQLite remembers this one from connections of this process.
    const folder = newFolder();
    const moved = join(folder, "memory.db");
    for (const end of ["", "-wal"]) copyFileSync(`${path}${end}`, `${moved}${end}`);
    chmodSync(moved, 0o600);
    const bytes = readFileSync(moved);
    const error = await open({ path: moved }).catch((reason: unknown) => reason);
    expect(error).toMatchObject({ hint: expect.stringContaining(`${basename(moved)}-wal`) });
    expect(readFileSync(moved).equals(bytes)).toBe(true);
    const alone = newPath();
    copyFileSync(moved, alone);
    expect(await contents(alone)).toEqual([kind === "older" ? "one" : "foreign"]);
  });

  it("a store that opens its file again does not take another one for it", async () => {
    const path = newPath();
    const stores: SqliteStore[] = [];
    const original = SqliteStore.open.bind(SqliteStore);
    const spy = vi.spyOn(SqliteStore, "open").mockImplementation(async (options) => {
      const store = await original(options);
      stores.push(store);
      return store;
    });
    const memory = await open({ path });
    spy.mockRestore();
    await memory.session(SCOPE).add(said("own"));
    const [store] = stores;
    for (const end of ["", "-wal", "-shm"]) rmSync(`${path}${end}`);
    await refusal(store?.reopen() ?? Promise.resolve());
    expect(existsSync(path), "and makes none").toBe(false);
    await refusal(memory.session(SCOPE).add(said("gone")));
    await refusal(memory.close());
  });

  it("a thread that starts later does not open it", async () => {
    const path = newPath();
    const other = models.foreign;
    const store = await SqliteStore.open({ path, busyTimeoutMs: 1_000 });
    onTestFinished(() => store.close().catch(() => undefined));
    for (const end of ["", "-wal", "-shm"]) rmSync(`${path}${end}`);
    copyFileSync(other, path);
    await refusal(store.changes([{ space: { user: "ada" } }])); // by the reader's thread, which starts with it
  });
});

it("a server whose file is gone is not ready, and answers no add with success", async () => {
  const path = newPath();
  const server = await serve({ path, server: { port: 0 }, buffer: { hybridBuffer: { embeddingModel: "none" } } });
  onTestFinished(() =>
    server
      .stop()
      .then(() => undefined)
      .catch(() => undefined),
  );
  const add = () =>
    fetch(`${server.url}/api/v1/messages?user=ada&session=s`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ messages: said("hello") }),
    });
  const ready = async () => (await fetch(`${server.url}/health/ready`)).status;
  expect((await add()).status).toBe(201);
  expect(await ready()).toBe(200);
  rmSync(path);
  const refused = await add();
  expect(refused.status).toBe(500);
  expect(await refused.json()).toMatchObject({
    error: { code: "store_unsafe", hint: expect.stringContaining("the server's log") },
  });
  expect(await ready()).toBe(503);
  await refusal(server.stop());
});
