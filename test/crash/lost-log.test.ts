/**
 * The file of a killed process without its log. Early in a file's life all of it may be in the log, and SQLite opens what
 * is left as if nothing were missing; so the file itself says whether it needs a log.
 */
import { execFileSync } from "node:child_process";
import { copyFileSync, readdirSync, truncateSync } from "node:fs";
import { dirname, join } from "node:path";
import { backupFile, openMemory, repairFile, restoreFile } from "holdfast";
import { describe, expect, it } from "vitest";
import { Child } from "../support/child.js";
import { newPath } from "../support/opened.js";
import { openRaw, unsoundness } from "../support/raw.js";
import { root } from "../support/root.js";
import { type Acknowledged, roundOf, SCOPE } from "./adder.js";
import { messagesOf } from "./operation.js";

/** How many rounds: only the first is in the file; some hundred, so that there was a checkpoint. */
const ROUNDS = [1, 2, 24, 260];

/** The path of a file whose process was killed after so many rounds, and how many messages it acknowledged. */
async function killed(rounds: number): Promise<{ readonly path: string; readonly messages: number }> {
  const path = newPath();
  const child = new Child<string, Acknowledged | "idle">(
    new URL("./adder.js", import.meta.url),
    [path, String(rounds), "quiet"],
    (report) => report === "idle" && child.kill(),
  );
  const { signal, stderr } = await child.ended;
  expect(signal, stderr).toBe("SIGKILL");
  const operations = Array.from({ length: rounds }, (_, at) => roundOf(at + 1));
  return { path, messages: operations.flatMap((operation) => messagesOf(operation).flat()).length };
}

async function count(path: string): Promise<number> {
  const memory = await openMemory({ path });
  const { items } = await memory.session(SCOPE).list({ limit: 1_000 });
  await memory.close();
  return items.length;
}

/** The file alone, in a folder of its own. */
function alone(path: string): string {
  const copy = newPath();
  copyFileSync(path, copy);
  return copy;
}

describe("a file without the log that it needs", () => {
  it.each(ROUNDS)("is refused after %s rounds, and opened when the log is beside it", async (rounds) => {
    const { path, messages } = await killed(rounds);
    const copy = alone(path);
    const refused = { code: "store_unsafe", hint: expect.stringContaining("doctor --repair") };
    await expect(openMemory({ path: copy })).rejects.toMatchObject(refused);
    copyFileSync(`${path}-wal`, `${copy}-wal`);
    truncateSync(`${copy}-wal`);
    await expect(openMemory({ path: copy }), "an empty one is none").rejects.toMatchObject(refused);
    await expect(restoreFile({ from: copy, to: newPath() })).rejects.toMatchObject(refused);
    const whole = alone(path);
    copyFileSync(`${path}-wal`, `${whole}-wal`);
    expect(await count(whole)).toBe(messages);
    expect(unsoundness(whole)).toEqual([]);
  });

  it("is opened after a repair, with what was in the file", async () => {
    const { path, messages } = await killed(24);
    const copy = alone(path);
    const { after } = await repairFile({ path: copy, model: "none" });
    expect(after.state).toBe("ok");
    const left = await count(copy);
    expect(left).toBeGreaterThan(0);
    expect(left).toBeLessThan(messages);
  });

  it("is not refused because another program has copied the log into it, and removed it", async () => {
    for (const rounds of ROUNDS) {
      const { path, messages } = await killed(rounds);
      const raw = openRaw(path);
      raw.exec("SELECT count(*) FROM sqlite_schema");
      raw.close();
      expect(readdirSync(dirname(path))).toEqual(["memory.db"]);
      expect(await count(path)).toBe(messages);
    }
  });

  it("is not refused because another program read an older state of it, and was the last to close it", async () => {
    const path = newPath();
    const add = (content: string) => {
      const args = ["add", content, "--user", SCOPE.user, "--path", path];
      execFileSync(process.execPath, [join(root, "dist/cli/main.js"), ...args], { stdio: "ignore" });
    };
    add("before it is read");
    const raw = openRaw(path);
    raw.exec("BEGIN; SELECT count(*) FROM item");
    add("while it is read");
    raw.exec("COMMIT");
    raw.close();
    expect(readdirSync(dirname(path))).toEqual(["memory.db"]);
    add("after it was read");
    const memory = await openMemory({ path });
    expect(await memory.session({ user: SCOPE.user }).query("was it read?", { by: "words" })).toHaveLength(3);
    await memory.close();
  });
});

describe("a file that is complete without a log", () => {
  it("is one that was closed, and a backup of one that was not", async () => {
    const { path, messages } = await killed(24);
    const backup = newPath();
    await backupFile({ path, to: backup });
    expect(await count(alone(backup))).toBe(messages);
    expect(await count(path)).toBe(messages); // opens and closes it
    expect(await count(alone(path))).toBe(messages);
  });

  it("is one in which nothing was written for a minute", async () => {
    const path = newPath();
    const memory = await openMemory({ path });
    const session = memory.session(SCOPE);
    for (const content of ["one", "two"]) await session.add([{ role: "user", content }]);
    await expect(openMemory({ path: alone(path) })).rejects.toMatchObject({ code: "store_unsafe" });
    await memory.service.sweep();
    expect(await count(alone(path))).toBe(2);
    await session.add([{ role: "user", content: "three" }]);
    await expect(openMemory({ path: alone(path) })).rejects.toMatchObject({ code: "store_unsafe" });
    await memory.close();
    expect(await count(alone(path))).toBe(3);
  });

  it("is a new one: opened and closed, or opened and killed before anything was added", async () => {
    const path = newPath();
    await (await openMemory({ path })).close();
    expect(await count(alone(path))).toBe(0);
    const { path: other } = await killed(0);
    expect(await count(alone(other))).toBe(0);
  });
});

it("closes as the last of several processes", async () => {
  const path = newPath();
  const memories = [await openMemory({ path }), await openMemory({ path })];
  for (const [at, memory] of memories.entries()) await memory.session(SCOPE).add([{ role: "user", content: `${at}` }]);
  await memories[0]?.close();
  await memories[1]?.session(SCOPE).add([{ role: "user", content: "after the other has closed" }]);
  await expect(openMemory({ path: alone(path) })).rejects.toMatchObject({ code: "store_unsafe" });
  await memories[1]?.close();
  expect(await count(alone(path))).toBe(3);
});
