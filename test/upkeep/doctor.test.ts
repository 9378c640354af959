/** The doctor: every check finds real damage, and what it reports as repairable is repaired. */
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { backupFile, type CheckName, fileContents, inspectFile, repairFile } from "holdfast";
import { describe, expect, it } from "vitest";
import { alter, newFolder, newPath, open } from "../support/opened.js";
import { openRaw, unsoundness } from "../support/raw.js";
import { root } from "../support/root.js";
import { until } from "../support/until.js";
import { checkOf, damage, faultsOf, forgetWords, inspect, openHashed, SCOPE, usedFile } from "./files.js";
import { User } from "./user.js";

const repair = (path: string, deep = false) => repairFile({ path, deep, model: "none" });

/** One value, read behind Holdfast's back. */
function value(path: string, sql: string): unknown {
  const raw = openRaw(path);
  const [first] = Object.values(raw.prepare(sql).get() ?? {});
  raw.close();
  return first;
}

/** The damage is found by this check alone, the repair says so and leaves nothing to find. */
async function expectMended(path: string, name: CheckName, deep = false) {
  const { before, after, done } = await repair(path, deep);
  expect(faultsOf(before)).toEqual([name]);
  expect(checkOf(before, name).repairable).toBe(true);
  expect(checkOf(before, name).todo).toBeTruthy();
  expect(done).toHaveLength(1);
  expect(faultsOf(after)).toEqual([]);
  expect(unsoundness(path)).toEqual([]);
  return { what: checkOf(before, name).what, contents: after.contents };
}

describe("a sound file", () => {
  it("passes every check, is reported in numbers, and is not changed by the checks", async () => {
    const path = await usedFile();
    const state = () => [readFileSync(path, "latin1"), ...readdirSync(dirname(path))].join();
    const before = state();
    const steps: string[] = [];
    const diagnosis = await inspectFile({
      path,
      deep: true,
      model: "none",
      onProgress: ({ step }) => steps.push(step),
    });
    expect(faultsOf(diagnosis)).toEqual([]);
    expect(diagnosis.state).toBe("ok");
    expect(diagnosis.checks.map(({ name }) => name)).toEqual(steps);
    expect(diagnosis.contents).toMatchObject({ users: 1, sessions: 1, items: 3, embedded: 3, pending: 0, parked: 0 });
    expect(state() === before).toBe(true);
    expect((await repair(path)).done).toEqual([]);
    expect(state() === before).toBe(true);
  });

  it("is looked at while others have it open, and a signal ends the look", async () => {
    const path = newPath();
    const memory = await openHashed(path);
    await memory.session(SCOPE).add([{ role: "user", content: "still in the log" }]);
    expect((await fileContents({ path })).items).toBe(1);
    const stop = new AbortController();
    const look = inspectFile({ path, signal: stop.signal });
    stop.abort(new Error("enough")); // before its thread has begun
    await expect(look).rejects.toThrow("enough");
  });
});

describe("a file that cannot be used", () => {
  it("does not exist, and is not made", async () => {
    const path = newPath();
    const diagnosis = await inspect(path);
    expect(checkOf(diagnosis, "file").state).toBe("error");
    expect((await repair(path)).done).toEqual([]);
    expect(existsSync(path)).toBe(false);
    const folder = newFolder();
    mkdirSync(join(folder, "memory.db"));
    expect(checkOf(await inspect(join(folder, "memory.db")), "file").what).toContain("is a folder");
  });

  it("is empty, no database, or another program's: left as it is", async () => {
    const path = newPath();
    const say = async () => {
      const before = readFileSync(path);
      const { before: diagnosis, done } = await repair(path);
      expect(done).toEqual([]);
      expect(readFileSync(path).equals(before)).toBe(true);
      return checkOf(diagnosis, "format").what;
    };
    writeFileSync(path, "", { mode: 0o600 });
    expect(await say()).toContain("empty");
    writeFileSync(path, "Dear diary, ".repeat(500));
    expect(await say()).toContain("not a database");
    writeFileSync(path, "");
    alter(path, "CREATE TABLE recipes (name TEXT)");
    expect(await say()).toContain("another program");
  });

  it("is of a newer schema, which is an error, or of an older one, which is upgraded", async () => {
    const path = await usedFile();
    alter(path, "PRAGMA user_version = 9999");
    const { before, done } = await repair(path);
    expect(checkOf(before, "schema")).toMatchObject({ state: "error", what: expect.stringContaining("9999") });
    expect(done).toEqual([]);
    const older = newPath();
    alter(older, `PRAGMA application_id = ${0x486f6c64}; PRAGMA journal_mode = WAL`); // made, and ended before its tables were
    chmodSync(older, 0o600);
    const upgraded = await repair(older);
    expect(checkOf(upgraded.before, "schema")).toMatchObject({ state: "warning", repairable: true });
    expect(upgraded.done).toEqual(["upgraded the file"]);
    expect(faultsOf(upgraded.after)).toEqual([]);
  });

  it("can be read by others: made private again", async () => {
    const path = await usedFile();
    chmodSync(path, 0o640);
    const { before, after, done } = await repair(path);
    expect(faultsOf(before)).toEqual(["mode"]);
    expect(checkOf(before, "mode").todo).toContain(`chmod 600 ${path}`);
    expect(done).toEqual(["made the file private"]);
    expect(faultsOf(after)).toEqual([]);
    expect(statSync(path).mode & 0o777).toBe(0o600);
  });

  it("is damaged, by flipped bytes or by a lost end: said, and not written to", async () => {
    const path = await usedFile();
    const pages = statSync(path).size / 4096;
    const flipped = newPath();
    copyFileSync(path, flipped);
    damage(flipped, "item", 0, 64);
    const cut = newPath();
    copyFileSync(path, cut);
    truncateSync(cut, (pages - 2) * 4096);
    for (const damaged of [flipped, cut]) {
      const before = readFileSync(damaged);
      const report = await repair(damaged);
      const said = report.before.checks.find(({ state }) => state === "error");
      expect(said?.what).toContain("damaged");
      expect(said?.todo).toContain("restore a backup");
      expect(report.done).toEqual([]);
      expect(readFileSync(damaged).equals(before)).toBe(true);
    }
  });

  it("has lost its log: it is reported, refused and not backed up until a repair gives up the log", async () => {
    const path = newPath();
    const memory = await openHashed(path);
    for (const content of ["in the file", "only in the log"])
      await memory.session(SCOPE).add([{ role: "user", content }]);
    const lost = newPath();
    copyFileSync(path, lost); // without the log
    const diagnosis = await inspect(lost);
    expect(diagnosis.contents?.items).toBe(1);
    expect(checkOf(diagnosis, "log")).toMatchObject({ state: "error", repairable: true });
    expect(faultsOf(diagnosis)).toEqual(["log"]);
    await expect(openHashed(lost)).rejects.toMatchObject({
      code: "store_unsafe",
      message: expect.stringContaining(`${lost}-wal`),
      hint: expect.stringContaining("doctor --repair"),
    });
    await expect(backupFile({ path: lost, to: newPath() })).rejects.toMatchObject({ code: "store_unsafe" });
    const { done, after } = await repair(lost);
    expect([done, after.state]).toEqual([["gave up the missing log"], "ok"]);
    const { items } = await (await openHashed(lost)).session(SCOPE).list();
    expect(items.map(({ content }) => content)).toEqual(["in the file"]);
  });
});

describe("rows that do not fit together", () => {
  it("are reported when they belong to nothing, and not changed", async () => {
    const path = await usedFile();
    alter(path, "UPDATE item SET space = 77 WHERE seq = 2");
    const { before, after } = await repair(path);
    expect(checkOf(before, "references")).toMatchObject({ state: "error", what: "1 × item without a space" });
    expect(checkOf(after, "references").state).toBe("error");
    expect(value(path, "SELECT count(*) FROM item")).toBe(3);
  });

  it("are counted again when the counts are wrong", async () => {
    const path = await usedFile();
    alter(
      path,
      "UPDATE head SET items = 7, blocks = 3, teams = 9, sessions = 9; INSERT INTO kind_count VALUES (2, 5); UPDATE space SET terms = 1; UPDATE session SET next_seq = 1",
    );
    const { what } = await expectMended(path, "counts");
    for (const part of [
      "number of items",
      "number of blocks",
      "number of users, agents or teams",
      "number of sessions",
      "items of a kind",
      "words of a space",
      "next position in a session",
    ]) {
      expect(what).toContain(part);
    }
    const memory = await openHashed(path);
    expect((await memory.session(SCOPE).add([{ role: "user", content: "next" }])).sequences).toEqual([4]);
  });
});

describe("the words index", () => {
  const found = async (path: string, question: string) =>
    (await (await open({ path })).session(SCOPE).query(question)).map(({ content }) => content);

  it("lacks an item: its words are indexed, and a question finds it again", async () => {
    const path = await usedFile();
    forgetWords(path, 3, "remove");
    expect((await expectMended(path, "words")).what).toBe("1 item cannot be found by words");
    expect((await found(path, "slate"))[0]).toBe("grey as slate");
  });

  it("has other words than an item, or an item that is gone: it is rebuilt", async () => {
    const path = await usedFile();
    alter(
      path,
      `INSERT INTO words (rowid, terms) VALUES (9999 * 1024 + 5, '1:ghost'), (1 * 1024 + 1000, '1:ghost');
       UPDATE item SET words = words || ' walrus' WHERE seq = 1`,
    );
    const { what } = await expectMended(path, "words");
    expect(what).toContain("postings of 2 items that do not exist");
    expect(what).toContain("1 item indexed under the wrong words");
    expect(await found(path, "harbour heron")).toContain("the harbour master keeps a heron");
  });

  it("was made of other text than an item has, which only a deep look finds", async () => {
    const path = await usedFile();
    alter(path, "UPDATE item SET content = 'white as chalk' WHERE seq = 3");
    expect(faultsOf(await inspect(path))).toEqual([]);
    await expectMended(path, "words", true);
    expect((await found(path, "chalk"))[0]).toBe("white as chalk");
  });

  it("was made by another version: it is rebuilt when the file is opened", async () => {
    const path = await usedFile();
    alter(path, "UPDATE head SET analysis = 1");
    expect((await expectMended(path, "words")).what).toContain("another version");
  });

  it("is itself damaged: it is rebuilt", async () => {
    const path = await usedFile();
    const bytes = readFileSync(path);
    const leaf = bytes.indexOf("01:"); // the first word of the index; before it stands how long it is, and the leaf
    bytes.fill(0xff, leaf - 3, leaf);
    writeFileSync(path, bytes);
    expect((await expectMended(path, "words")).what).toContain("damaged");
    expect((await found(path, "heron")).length).toBeGreaterThan(1);
  });
});

describe("vectors", () => {
  const reembedded = async (path: string) => {
    const memory = await openHashed(path);
    await memory.flush();
    await memory.close();
    expect(await fileContents({ path })).toMatchObject({ embedded: 3, chunks: 3, pending: 0 });
  };

  it("that are missing or of a wrong size are made again; orphans are dropped", async () => {
    const path = await usedFile();
    alter(
      path,
      `INSERT INTO vector_1 SELECT (1 << 36) | 999, 999, commit_no, spans, vectors FROM vector_1 WHERE item = 1;
       DELETE FROM vector_1 WHERE item = 1; UPDATE vector_1 SET vectors = zeroblob(12) WHERE item = 2`,
    );
    const { what, contents } = await expectMended(path, "vectors");
    expect(what).toContain("1 item without vectors");
    expect(what).toContain("1 item with invalid vectors");
    expect(what).toContain("1 row of vectors without an item");
    expect(contents).toMatchObject({ embedded: 1, chunks: 1, pending: 2 });
    await reembedded(path);
  });

  it("that are not of length 1 are found by a deep look", async () => {
    const path = await usedFile();
    alter(path, "UPDATE vector_1 SET vectors = zeroblob(length(vectors)) WHERE item = 3");
    expect(faultsOf(await inspect(path))).toEqual([]);
    expect((await expectMended(path, "vectors", true)).contents).toMatchObject({ embedded: 2, pending: 1 });
  });

  it("of which the error is not that of their numbers are found by a deep look: it could hide them", async () => {
    const path = await usedFile();
    alter(
      path,
      "UPDATE vector_1 SET vectors = CAST(substr(vectors, 1, 4) || zeroblob(4) || substr(vectors, 9) AS BLOB)",
    );
    expect(faultsOf(await inspect(path))).toEqual([]);
    expect((await expectMended(path, "vectors", true)).contents).toMatchObject({ embedded: 0, pending: 3 });
    await reembedded(path);
  });

  it("that are beyond repair are found by a deep look, whatever they are", async () => {
    for (const damage of [
      "UPDATE vector_1 SET spans = x'' WHERE item = 2",
      "UPDATE vector_1 SET vectors = 'text' WHERE item = 2",
    ]) {
      const path = await usedFile();
      alter(path, damage);
      expect((await expectMended(path, "vectors", true)).contents, damage).toMatchObject({ embedded: 2, pending: 1 });
      await reembedded(path);
    }
  });

  it("of another model than the configured one are an error", async () => {
    const path = await usedFile();
    const diagnosis = await inspectFile({ path });
    expect(faultsOf(diagnosis)).toEqual(["space"]);
    expect(checkOf(diagnosis, "space").todo).toContain("reindex");
    expect(faultsOf(await inspectFile({ path, model: "hash-of-words" }))).toEqual([]);
  });
});

describe("the model in the package", () => {
  it("is whole and can run; a missing or a changed file is an error", async () => {
    const path = await usedFile();
    const sound = await inspectFile({ path });
    expect(checkOf(sound, "model")).toMatchObject({ state: "ok", what: expect.stringContaining("checksums match") });
    expect(checkOf(sound, "runtime").what).toMatch(/onnxruntime-/);
    const modelFolder = newFolder();
    const shipped = join(root, "models", "all-MiniLM-L6-v2-q8");
    copyFileSync(join(shipped, "tokenizer.json"), join(modelFolder, "tokenizer.json"));
    writeFileSync(join(modelFolder, "tokenizer_config.json"), "{}");
    const { what, state } = checkOf(await inspectFile({ path, modelFolder }), "model");
    expect(state).toBe("error");
    expect(what).not.toContain("tokenizer.json");
    expect(what).toContain("tokenizer_config.json is not the file");
    expect(what).toContain("model_quantized.onnx cannot be read");
  });
});

describe("work left behind", () => {
  it("by a process that was killed: its lease is ended", async () => {
    const path = await usedFile();
    const user = await User.start(path, "hold");
    await until(() => value(path, "SELECT count(*) FROM lease") === 1);
    expect(checkOf(await inspect(path), "leases")).toMatchObject({
      state: "ok",
      what: expect.stringMatching(/^1 lease: process \d+ on \S+ \(1\)$/),
    });
    await user.kill();
    const { before, after, done } = await repair(path);
    expect(faultsOf(before)).toEqual(["leases"]);
    expect(checkOf(before, "leases").what).toMatch(/^1 lease without a living owner \(ended: process \d+ on/);
    expect(done).toEqual(["ended 1 lease of ended processes"]);
    expect(checkOf(after, "leases").what).toBe("no process is embedding");
    expect(after.contents).toMatchObject({ items: 4, pending: 1 });
  });

  it("as parked items: the reasons are reported, and they are retried", async () => {
    const path = await usedFile();
    alter(
      path,
      `UPDATE item SET indexed = 0, parked = 1 WHERE seq < 3; DELETE FROM vector_1 WHERE item < 3;
       UPDATE head SET embedded = 1, chunks = 1;
       INSERT INTO parked SELECT key, version, 3, 'the model refused it', 5, NULL FROM item WHERE seq < 3`,
    );
    const { what, contents } = await expectMended(path, "parked");
    expect(what).toContain("2 items could not be embedded: 2 × the model refused it");
    expect(contents).toMatchObject({ pending: 2, parked: 0 });
  });

  it("as a backlog that no process works on, if a model is configured", async () => {
    const path = await usedFile();
    alter(
      path,
      `UPDATE item SET indexed = 0, updated_at = 1000 WHERE seq = 1; DELETE FROM vector_1 WHERE item = 1;
       UPDATE head SET embedded = 2, chunks = 2`,
    );
    expect(checkOf(await inspect(path), "pending").what).toContain("search by words finds them");
    const diagnosis = await inspectFile({ path, model: "hash-of-words" });
    expect(faultsOf(diagnosis)).toEqual(["pending"]);
    expect(checkOf(diagnosis, "pending").what).toMatch(/1 item not embedded; the oldest has waited for \d+ days/);
  });

  it("as a purge: it is finished, and the bytes are gone", async () => {
    const path = await usedFile();
    alter(
      path,
      `PRAGMA secure_delete = OFF; CREATE TABLE old AS SELECT 'unforgettable walrus' AS text; DROP TABLE old;
       UPDATE head SET purge = 1, purge_since = 1, unpurged = 1; PRAGMA wal_checkpoint(TRUNCATE)`,
    );
    expect(readFileSync(path).includes("unforgettable walrus")).toBe(true);
    expect((await expectMended(path, "purge")).what).toContain("forgotten bytes may still be in the file");
    expect(readFileSync(path).includes("unforgettable walrus")).toBe(false);
  });

  it("as a long log: it is emptied", async () => {
    const path = await usedFile();
    const raw = openRaw(path);
    raw.exec("PRAGMA wal_autocheckpoint = 0; PRAGMA synchronous = OFF; CREATE TABLE bulk (bytes BLOB)");
    raw.exec("INSERT INTO bulk VALUES (zeroblob(70000000)); DROP TABLE bulk");
    const long = newPath();
    for (const ending of ["", "-wal"]) copyFileSync(`${path}${ending}`, `${long}${ending}`);
    raw.close();
    chmodSync(`${long}-wal`, 0o600);
    expect((await expectMended(long, "log")).what).toContain("the log takes 7");
    expect(statSync(`${long}-wal`, { throwIfNoEntry: false })?.size ?? 0).toBe(0);
  });
});
