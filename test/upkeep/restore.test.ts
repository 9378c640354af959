/** Restoring: a backup becomes the file again, and a file that is in use is never replaced. */
import { existsSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { backupFile, restoreFile } from "holdfast";
import { describe, expect, it } from "vitest";
import { alter, newPath, open } from "../support/opened.js";
import { openRaw } from "../support/raw.js";
import { until } from "../support/until.js";
import { damage, faultsOf, inspect, openHashed, SCOPE, usedFile } from "./files.js";
import { User } from "./user.js";

async function backedUp(): Promise<string> {
  const backup = newPath();
  await backupFile({ path: await usedFile(), to: backup });
  return backup;
}

describe("a restore", () => {
  it("makes a backup the file of a memory, which continues from there", async () => {
    const to = newPath();
    writeFileSync(`${to}-wal`, "the log of a file that is gone", { mode: 0o600 });
    const report = await restoreFile({ from: await backedUp(), to });
    expect(report).toMatchObject({ path: to, items: 3 });
    expect(readdirSync(dirname(to))).toEqual(["memory.db"]);
    expect(statSync(to).mode & 0o777).toBe(0o600);
    expect(faultsOf(await inspect(to, true))).toEqual([]);
    const memory = await openHashed(to);
    const session = memory.session(SCOPE);
    expect((await session.add([{ role: "user", content: "after the restore" }])).sequences).toEqual([4]);
    expect((await session.query("restore"))[0]?.content).toBe("after the restore");
    expect(await memory.flush()).toEqual({ pending: 0, parked: 0 });
  });

  it("makes readers that have seen later versions of a space start over", async () => {
    const [path, backup, to] = [await usedFile(), newPath(), newPath()];
    await backupFile({ path, to: backup });
    const space = { user: SCOPE.user };
    const first = await openHashed(path);
    const [before] = await first.service.store.versions([space]);
    await first.session(SCOPE).add([{ role: "user", content: "after the backup" }]);
    const [lost] = await first.service.store.versions([space]);
    await first.close();
    await restoreFile({ from: backup, to });
    const second = await openHashed(to);
    const { store } = second.service;
    const [restored] = await store.versions([space]);
    expect(restored).toMatchObject({ id: lost?.id });
    expect(restored?.version).toBeGreaterThan(lost?.version ?? Number.NaN);
    for (const since of [before, lost]) {
      for (let added = 0; added < 2; added++) {
        expect(await store.changes([{ space, since }])).toMatchObject([{ complete: false }]);
        await second.session(SCOPE).add([{ role: "user", content: "another" }]);
      }
    }
    expect(await store.changes([{ space, since: restored }])).toMatchObject([{ complete: true, removed: [] }]);
  });

  it("replaces a file only if that is asked for, its log included", async () => {
    const [from, to] = [await backedUp(), await usedFile()];
    const user = await User.start(to, "write");
    await until(async () => (await user.mark()).rounds > 5);
    await user.kill(); // its log stays
    expect(statSync(`${to}-wal`).size).toBeGreaterThan(0);
    await expect(restoreFile({ from, to })).rejects.toMatchObject({ code: "conflict" });
    await restoreFile({ from, to, overwrite: true });
    expect(readdirSync(dirname(to))).toEqual(["memory.db"]);
    const { contents, state } = await inspect(to);
    expect(state).toBe("ok");
    expect(contents).toMatchObject({ users: 1, items: 3 });
  });

  it("is refused while any process has the file open, which is not disturbed", async () => {
    const [from, to] = [await backedUp(), await usedFile()];
    const user = await User.start(to, "write");
    await expect(restoreFile({ from, to, overwrite: true })).rejects.toMatchObject({
      code: "busy",
      hint: expect.stringContaining("stop"),
    });
    const { rounds } = await user.mark();
    await user.stop();
    expect(readdirSync(dirname(to)).filter((name) => name.endsWith(".part"))).toEqual([]);
    const { contents, state } = await inspect(to);
    expect(state).toBe("ok");
    expect(contents?.items).toBeGreaterThanOrEqual(3 + rounds * 3);
    // This process counts as well.
    const own = newPath();
    const memory = await open({ path: own });
    await expect(restoreFile({ from, to: own, overwrite: true })).rejects.toMatchObject({ code: "busy" });
    await memory.session(SCOPE).add([{ role: "user", content: "undisturbed" }]);
  });

  it("shuts out a process that opened the old file at that moment and has not read it yet", async () => {
    const [from, to] = [await backedUp(), await usedFile()];
    const late = openRaw(to);
    const link = newPath();
    symlinkSync(to, link); // the file is meant, not the link
    await restoreFile({ from, to: link, overwrite: true });
    expect(() => late.exec("PRAGMA journal_mode = WAL")).toThrow("readonly");
    late.close();
    const { contents, state } = await inspect(to);
    expect([contents?.items, state]).toEqual([3, "ok"]);
    expect(readdirSync(dirname(to))).toEqual(["memory.db"]);
  });

  it("is refused of what is no backup, of a newer one and of a damaged one", async () => {
    const to = newPath();
    const [foreign, newer, torn] = [newPath(), await backedUp(), await backedUp()];
    writeFileSync(foreign, "Dear diary, ".repeat(500));
    alter(newer, "PRAGMA user_version = 9999");
    damage(torn, "item", 0, 64);
    await expect(restoreFile({ from: foreign, to })).rejects.toMatchObject({ code: "store_failed" });
    await expect(restoreFile({ from: newer, to })).rejects.toMatchObject({ code: "store_newer" });
    await expect(restoreFile({ from: torn, to })).rejects.toMatchObject({ code: "store_failed" });
    expect(readdirSync(dirname(to))).toEqual([]);
  });

  it("does not replace a file whose beginning is damaged: it cannot be known which process has it open", async () => {
    const [from, to] = [await backedUp(), newPath()];
    writeFileSync(to, Buffer.alloc(8192, 7), { mode: 0o600 });
    const refused = restoreFile({ from, to, overwrite: true });
    await expect(refused).rejects.toMatchObject({ code: "conflict", hint: expect.stringContaining("move it away") });
    expect(readFileSync(to).equals(Buffer.alloc(8192, 7))).toBe(true);
    writeFileSync(to, "");
    await restoreFile({ from, to, overwrite: true });
    expect((await inspect(to)).contents?.items).toBe(3);
  });

  it("leaves no trace of processes that worked on the file: leases end, the index gets everything again, key sequences continue", async () => {
    const path = await usedFile();
    alter(
      path,
      `INSERT INTO owner VALUES ('o', 'elsewhere 1 2', 1); INSERT INTO lease VALUES (1, 'o', 2);
       UPDATE head SET outbox_index = 'index', outbox_cursor = NULL`,
    );
    const [backup, to] = [newPath(), newPath()];
    await backupFile({ path, to: backup });
    await restoreFile({ from: backup, to });
    expect(existsSync(`${to}-wal`)).toBe(false);
    const raw = openRaw(to);
    expect(raw.prepare("SELECT count(*) AS n FROM lease, owner").get()).toEqual({ n: 0 });
    const head = raw.prepare("SELECT outbox_index, outbox_cursor, item_key FROM head").get();
    raw.close();
    expect(head).toMatchObject({ outbox_index: "index", outbox_cursor: 0 });
    expect(head?.["item_key"]).toBeGreaterThan(2 ** 24);
  });
});
