/** The file: private, and refused with a hint when it cannot be used safely. */
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { HoldfastError, openMemory } from "holdfast";
import { SqliteStore } from "holdfast/stores";
import { describe, expect, it } from "vitest";
import { alter, newFolder, newPath, open } from "../support/opened.js";
import { openRaw, unsoundness } from "../support/raw.js";
import { until } from "../support/until.js";

async function refusal(path: string): Promise<HoldfastError> {
  const error = await openMemory({ path }).then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(HoldfastError);
  expect((error as HoldfastError).hint).toBeTruthy();
  return error as HoldfastError;
}

/** Without an embedder every commit is an add. */
const BY_WORDS = { buffer: { hybridBuffer: { embeddingModel: "none" } } };

const ADA = { user: "ada" } as const;
const EVERYTHING = { spaces: [ADA], filter: {}, sortBy: "arrival", order: "asc", limit: 10 } as const;

/** So often the locked file is looked at: long enough for dozens of tries to open it. */
const LOOKS = 200;

async function usedFile(): Promise<string> {
  const path = newPath();
  const memory = await open({ path, ...BY_WORDS });
  await memory.session({ user: "ada" }).add([{ role: "user", content: "hello" }]);
  await memory.close();
  return path;
}

/** The rollback journal of a file's first transaction: a header that says that the file had no page before. */
function journalOfEmptyFile(): Buffer {
  const journal = Buffer.alloc(512);
  journal.write("d9d505f920a163d7", "hex");
  journal.writeUInt32BE(512, 20); // sector
  journal.writeUInt32BE(4096, 24); // page
  return journal;
}

describe("the file", () => {
  it("of the first schema is upgraded when it is opened, keeps what it holds, and takes points", async () => {
    const path = await usedFile();
    alter(
      path,
      `DROP TABLE point; DROP TABLE collection;
       DROP TRIGGER item_added; DROP TRIGGER item_removed; DROP TRIGGER item_kind_changed; DROP TABLE kind_count;
       DROP TRIGGER block_added; DROP TRIGGER block_removed; ALTER TABLE head DROP COLUMN blocks;
       DROP TRIGGER space_added; DROP TRIGGER space_removed; DROP TRIGGER session_added; DROP TRIGGER session_removed;
       ALTER TABLE head DROP COLUMN users; ALTER TABLE head DROP COLUMN agents; ALTER TABLE head DROP COLUMN teams;
       ALTER TABLE head DROP COLUMN sessions;
       UPDATE head SET schema = 1; PRAGMA user_version = 1`,
    );
    const store = await SqliteStore.open({ path, busyTimeoutMs: 10_000 });
    const now = Date.now();
    expect((await store.list({ ...EVERYTHING, now })).items).toMatchObject([{ content: "hello" }]);
    const point = { collection: "c", id: "p", vector: Float32Array.of(1, 2), payload: { a: 1 } };
    await store.commit([[{ op: "put_point", space: ADA, existing: "replace", ...point }]], now, "");
    expect((await store.points({ space: ADA, limit: 10, now })).items).toMatchObject([point]);
    expect(await store.stats()).toMatchObject({ users: 1, agents: 0, teams: 0 });
    await store.close();
    expect(unsoundness(path)).toEqual([]);
  });

  it("is made with mode 0600, its log too, whatever the umask", async () => {
    const path = newPath();
    const before = process.umask(0);
    try {
      const memory = await open({ path });
      await memory.session({ user: "ada" }).add([{ role: "user", content: "private" }]);
      for (const file of [path, `${path}-wal`, `${path}-shm`]) expect(statSync(file).mode & 0o777).toBe(0o600);
    } finally {
      process.umask(before);
    }
  });

  it("opens after a power cut in the middle of its making", async () => {
    const path = newPath();
    writeFileSync(path, readFileSync(await usedFile()).subarray(0, 4096), { mode: 0o600 });
    writeFileSync(`${path}-journal`, journalOfEmptyFile(), { mode: 0o600 });
    const memory = await open({ path, ...BY_WORDS });
    await memory.session({ user: "ada" }).add([{ role: "user", content: "hello again" }]);
    expect(existsSync(`${path}-journal`)).toBe(false);
  });

  it("is refused when other accounts can read it", async () => {
    const path = await usedFile();
    chmodSync(path, 0o644);
    const error = await refusal(path);
    expect(error.code).toBe("store_unsafe");
    expect(error.hint).toContain(`chmod 600 ${path}`);
    chmodSync(path, 0o600);
    await open({ path });
  });

  it("is refused when a newer Holdfast has written it, and left as it is", async () => {
    const path = await usedFile();
    alter(path, "PRAGMA user_version = 9999; PRAGMA wal_checkpoint(TRUNCATE)");
    const before = readFileSync(path);
    const error = await refusal(path);
    expect(error.code).toBe("store_newer");
    expect(error.message).toContain("9999");
    expect(readFileSync(path).equals(before)).toBe(true);
  });

  it("is refused to a process whose schema was overtaken while it ran", async () => {
    const path = newPath();
    const memory = await open({ path });
    const session = memory.session({ user: "ada" });
    await session.add([{ role: "user", content: "before" }]);
    alter(path, "UPDATE head SET schema = 9999");
    await expect(session.add([{ role: "user", content: "after" }])).rejects.toMatchObject({ code: "store_newer" });
  });

  it.runIf(process.platform === "linux")(
    "keeps no descriptors while it waits for a lock of another process",
    async () => {
      const path = newPath();
      writeFileSync(path, readFileSync(await usedFile()), { mode: 0o600 }); // to which this process has no connection yet
      const raw = openRaw(path);
      raw.exec("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE");
      const descriptors = () =>
        readdirSync("/proc/self/fd").filter((name) => {
          try {
            return readlinkSync(`/proc/self/fd/${name}`) === path;
          } catch {
            return false; // it was that of the folder itself
          }
        }).length;
      const before = descriptors();
      let most = before;
      let looks = 0;
      const opening = open({ path, ...BY_WORDS, store: { busyTimeoutMs: 20_000 } });
      await until(() => {
        most = Math.max(most, descriptors());
        return ++looks === LOOKS;
      });
      raw.exec("COMMIT; PRAGMA locking_mode = NORMAL; SELECT count(*) FROM item");
      raw.close();
      await (await opening).close();
      expect(most - before).toBeLessThan(8);
    },
  );

  it("is refused when it is another program's database", async () => {
    const path = newPath();
    alter(path, "CREATE TABLE recipes (name TEXT); INSERT INTO recipes VALUES ('bread')");
    chmodSync(path, 0o600);
    const bytes = readFileSync(path);
    expect((await refusal(path)).message).toContain("another program");
    expect(readFileSync(path).equals(bytes), "its bytes are as they were: no log of ours, no other journal").toBe(true);
    expect(readdirSync(dirname(path))).toEqual([basename(path)]);
    const raw = openRaw(path);
    expect(raw.prepare("SELECT name FROM recipes").all()).toHaveLength(1);
    expect(raw.prepare("SELECT name FROM sqlite_schema WHERE name = 'item'").all()).toHaveLength(0);
    raw.close();
  });

  it("is refused when it was made to hold its text as UTF-16, even if it is empty", async () => {
    const path = newPath();
    const raw = openRaw(path);
    raw.exec("PRAGMA encoding = 'UTF-16'; CREATE TABLE x (y); DROP TABLE x");
    raw.close();
    chmodSync(path, 0o600);
    const bytes = readFileSync(path);
    expect(await refusal(path)).toMatchObject({ code: "store_unsafe" });
    expect(readFileSync(path).equals(bytes)).toBe(true);
  });

  it("is refused when it is no database at all", async () => {
    const path = newPath();
    writeFileSync(path, "Dear diary, ".repeat(500), { mode: 0o600 });
    expect((await refusal(path)).message).toContain("not a database");
    expect(readFileSync(path, "utf8")).toContain("Dear diary");
  });

  it.each([1, 100, 511])("is refused when it was cut to %i bytes, and left as it is", async (bytes) => {
    const path = newPath();
    const left = readFileSync(await usedFile()).subarray(0, bytes);
    writeFileSync(path, left, { mode: 0o600 });
    expect(await refusal(path)).toMatchObject({ code: "store_failed", message: expect.stringContaining("truncated") });
    expect(readFileSync(path)).toEqual(left);
    expect(readdirSync(dirname(path))).toEqual([basename(path)]);
  });

  it("is made where an empty file is", async () => {
    const path = newPath();
    writeFileSync(path, "", { mode: 0o600 });
    const memory = await open({ path, ...BY_WORDS });
    expect((await memory.session({ user: "ada" }).list()).items).toEqual([]);
  });

  it("says what to do when the folder is missing or the path is a folder", async () => {
    const folder = newFolder();
    expect((await refusal(join(folder, "missing", "memory.db"))).hint).toContain("mkdir -p");
    expect(existsSync(join(folder, "missing"))).toBe(false);
    mkdirSync(join(folder, "taken"), { mode: 0o700 });
    expect((await refusal(join(folder, "taken"))).message).toContain("is a folder");
  });

  it("keeps its data, versions and settings across a reopen", async () => {
    const path = await usedFile();
    const memory = await open({ path, ...BY_WORDS });
    const ada = [{ user: "ada" }];
    const [before] = await memory.service.store.versions(ada);
    await memory.session({ user: "ada" }).add([{ role: "user", content: "again" }]);
    expect(before?.version).toBe(1);
    expect(await memory.service.store.versions(ada)).toEqual([{ ...before, version: 2 }]);
    expect((await memory.session({ user: "ada" }).list({ order: "asc" })).items.map((item) => item.content)).toEqual([
      "hello",
      "again",
    ]);
    const raw = openRaw(path);
    expect(raw.prepare("PRAGMA journal_mode").get()).toEqual({ journal_mode: "wal" });
    raw.close();
  });

  it("takes a cursor that it gave before it was closed", async () => {
    const path = await usedFile();
    const before = await open({ path, ...BY_WORDS });
    await before.session({ user: "ada" }).add([{ role: "user", content: "again" }]);
    const { next = "" } = await before.session({ user: "ada" }).list({ limit: 1 });
    await before.close();
    const after = await open({ path, ...BY_WORDS });
    const { items } = await after.session({ user: "ada" }).list({ limit: 1, cursor: next });
    expect(items.map(({ content }) => content)).toEqual(["hello"]);
    const elsewhere = await open({ path: await usedFile(), ...BY_WORDS });
    await expect(elsewhere.session({ user: "ada" }).list({ cursor: next })).rejects.toMatchObject({
      code: "invalid_input",
    });
  });

  it("lets the process end although the memory was not closed", async () => {
    const path = newPath();
    const script = `
      import { openMemory } from ${JSON.stringify(import.meta.resolve?.("holdfast") ?? "holdfast")};
      const memory = await openMemory({ path: ${JSON.stringify(path)} });
      await memory.session({ user: "ada" }).add([{ role: "user", content: "left open" }]);
    `;
    const { execFileSync } = await import("node:child_process");
    execFileSync(process.execPath, ["--input-type=module", "-e", script], { cwd: process.cwd(), timeout: 300_000 });
    const memory = await open({ path });
    expect(await memory.session({ user: "ada" }).query("left")).toHaveLength(1);
  });
});
