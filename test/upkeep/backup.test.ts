/** Backups: whole, consistent and private, made beside writers, and never half under their name. */
import { fork } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { backupFile, type UpkeepProgress } from "holdfast";
import { describe, expect, it } from "vitest";
import { alter, newFolder, newPath } from "../support/opened.js";
import { openRaw, unsoundness } from "../support/raw.js";
import { until } from "../support/until.js";
import { damage, faultsOf, forgetWords, inspect, openHashed, SCOPE, usedFile } from "./files.js";
import { type Mark, ROUND, User } from "./user.js";

const target = (): string => join(newFolder(), "backup.db");

/** So many megabytes more, so that a copy takes its time. */
function fatten(path: string, megabytes: number): void {
  const rows = `WITH RECURSIVE n AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM n WHERE i < ${megabytes})`;
  alter(path, `CREATE TABLE bulk AS ${rows} SELECT randomblob(1000000) AS bytes FROM n`);
}

describe("a backup", () => {
  it("is one private file with everything in it, and reports its progress", async () => {
    const path = await usedFile();
    const to = target();
    const progress: UpkeepProgress[] = [];
    const report = await backupFile({ path, to, onProgress: (one) => progress.push(one) });
    expect(report).toMatchObject({ path: to, items: 3, bytes: statSync(to).size });
    expect(new Set(progress.map(({ step }) => step))).toEqual(new Set(["copy", "check", "place"]));
    expect(progress.at(-1)).toMatchObject({ done: statSync(path).size, total: statSync(path).size });
    expect(readdirSync(dirname(to))).toEqual(["backup.db"]);
    expect(statSync(to).mode & 0o777).toBe(0o600);
    expect(faultsOf(await inspect(to, true))).toEqual([]);
    const memory = await openHashed(to);
    expect((await memory.session(SCOPE).query("heron")).length).toBeGreaterThan(1);
  });

  it("is not put over a file that exists, unless that is asked for", async () => {
    const path = await usedFile();
    const to = target();
    await backupFile({ path, to });
    const before = readFileSync(to);
    await expect(backupFile({ path, to })).rejects.toMatchObject({
      code: "conflict",
      hint: expect.stringContaining("overwrite"),
    });
    alter(path, "UPDATE space SET description = 'later'");
    await backupFile({ path, to, overwrite: true });
    expect(readFileSync(to).equals(before)).toBe(false);
    expect(readFileSync(to).includes("later")).toBe(true);
    for (const wrong of [path, join(dirname(path), ".", "memory.db")]) {
      await expect(backupFile({ path, to: wrong, overwrite: true })).rejects.toMatchObject({ code: "invalid_input" });
    }
    const diary = target();
    writeFileSync(diary, "Dear diary, ".repeat(500));
    await expect(backupFile({ path, to: diary, overwrite: true })).rejects.toMatchObject({ code: "conflict" });
    expect(readFileSync(diary, "utf8")).toContain("Dear diary");
    expect(readdirSync(dirname(diary))).toEqual(["backup.db"]);
  });

  it("is refused of what is not there, not ours or damaged, and leaves nothing behind", async () => {
    const to = target();
    await expect(backupFile({ path: newPath(), to })).rejects.toMatchObject({ code: "not_found" });
    const foreign = newPath();
    alter(foreign, "CREATE TABLE recipes (name TEXT)");
    await expect(backupFile({ path: foreign, to })).rejects.toThrow("not a Holdfast file");
    const torn = await usedFile();
    damage(torn, "item", 0, 64);
    await expect(backupFile({ path: torn, to })).rejects.toMatchObject({ code: "store_failed" });
    const crooked = await usedFile();
    damage(crooked, "item_id", 4096 - 12, 4); // an id in the index that no item has
    await expect(backupFile({ path: crooked, to })).rejects.toThrow("fails SQLite's check");
    await expect(backupFile({ path: torn, to: join(newFolder(), "no", "b.db") })).rejects.toMatchObject({
      code: "store_failed",
    });
    const stop = new AbortController();
    const stopped = backupFile({ path: await usedFile(), to, signal: stop.signal });
    stop.abort(new Error("enough")); // before its thread has begun
    await expect(stopped).rejects.toThrow("enough");
    expect(readdirSync(dirname(to))).toEqual([]);
    // In the midst of it, unless it is done before the signal arrives.
    const late = new AbortController();
    const onProgress = () => late.abort(new Error("enough"));
    const made = await backupFile({ path: await usedFile(), to, signal: late.signal, onProgress }).catch(
      () => undefined,
    );
    expect(readdirSync(dirname(to))).toEqual(made ? [basename(to)] : []);
  });

  it("has nothing in it that was forgotten, even if the file still has", async () => {
    const path = await usedFile();
    // A message as a forget of many leaves it before the purge: its words marked in the index, its bytes in free pages.
    forgetWords(path, 3, "mark");
    alter(
      path,
      `PRAGMA secure_delete = OFF; CREATE TABLE gone AS SELECT 'grey as slate' AS content; DROP TABLE gone;
       DELETE FROM item WHERE seq = 3; DELETE FROM vector_1 WHERE item = 3;
       UPDATE head SET items = 2, embedded = 2, chunks = 2, purge = 2, purge_since = 1, unpurged = 1;
       UPDATE space SET items = 2, terms = (SELECT sum(length) FROM item); PRAGMA wal_checkpoint(TRUNCATE)`,
    );
    const bytes = readFileSync(path, "latin1");
    expect([bytes.includes("grey as slate"), bytes.includes("slat")]).toEqual([true, true]);
    const to = target();
    expect((await backupFile({ path, to })).items).toBe(2);
    expect(readFileSync(to, "latin1")).not.toContain("slat");
    expect(faultsOf(await inspect(to, true))).toEqual([]);
    expect(faultsOf(await inspect(path))).toEqual(["purge"]); // the file itself was left as it is
  });
});

describe("beside a process that writes as fast as it can", () => {
  it("a backup is consistent, holds the writer up no longer than itself, and blocks no event loop", async () => {
    const path = await usedFile();
    fatten(path, 30);
    const user = await User.start(path, "write");
    await until(async () => (await user.mark()).rounds > 20);
    const to = target();
    let before: Mark;
    let after: Mark;
    let turns: number;
    do {
      before = await user.mark();
      let isDone = false;
      const backup = backupFile({ path, to, overwrite: true }).finally(() => {
        isDone = true;
      });
      for (turns = 0; !isDone; turns++) await new Promise(setImmediate);
      await backup;
      after = await user.mark();
      // It went on writing meanwhile, and so did this process: whoever waited for the backup came no further than one round,
      // and one turn. A backup on a fast disk may be done before that shows, so it is made again.
    } while (after.rounds - before.rounds <= 10 || turns <= 10);
    await user.stop();

    // Each round whole, none missing up to the last one that is in it, all counts those of that moment.
    const copy = openRaw(to);
    const rounds = copy
      .prepare(`SELECT round, count(*) AS n FROM item JOIN session ON session.key = item.session
      WHERE session.name = 'busy' GROUP BY round ORDER BY round`)
      .all();
    copy.close();
    expect(rounds.every(({ n }) => n === ROUND)).toBe(true);
    expect(rounds.map(({ round }) => round)).toEqual(rounds.map((_, n) => n * ROUND + 1));
    expect(rounds.length).toBeGreaterThanOrEqual(before.rounds);
    expect(rounds.length).toBeLessThanOrEqual(after.rounds + 1);
    expect(unsoundness(to)).toEqual([]);
  });

  it("a backup whose process ends leaves no file under its name; the next one removes what a killed one left", async () => {
    const path = await usedFile();
    fatten(path, 30);
    const to = target();
    const files = () => readdirSync(dirname(to));
    const end = (how: string) =>
      once(fork(new URL("./backup-process.js", import.meta.url), [path, to, how], { execArgv: [] }), "exit");
    expect(await end("exit")).toEqual([7, null]);
    expect(files()).toEqual([]); // it had time to tidy up
    expect(await end("kill")).toEqual([null, "SIGKILL"]);
    expect(existsSync(to)).toBe(false);
    expect(files()).not.toEqual([]);
    expect(files().filter((name) => !/^backup\.db\..*\.part(-journal)?$/.test(name))).toEqual([]);
    await backupFile({ path, to });
    expect(files()).toEqual(["backup.db"]);
  });
});
