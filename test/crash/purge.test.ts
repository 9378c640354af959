/** A process is killed in the middle of a forget. Short-lived processes finish the purge. */
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { stillInFiles } from "../support/bytes.js";
import { Child } from "../support/child.js";
import { newPath, open } from "../support/opened.js";
import { openRaw, unsoundness } from "../support/raw.js";
import { root } from "../support/root.js";
import { FORGOTTEN, WORDS } from "./forgetter.js";

const run = promisify(execFile);
const BY_WORDS = { buffer: { hybridBuffer: { embeddingModel: "none" } } };

/** The file of a process that was killed between the commit of a forget and its purge. */
async function halfForgotten(): Promise<string> {
  const path = newPath();
  const child = new Child<string, "forgotten">(new URL("./forgetter.js", import.meta.url), [path], () => child.kill());
  const { signal, stderr } = await child.ended;
  expect(signal, stderr).toBe("SIGKILL");
  return path;
}

function purgeOf(path: string): unknown {
  const raw = openRaw(path);
  try {
    return raw.prepare("SELECT purge, unpurged FROM head").get();
  } finally {
    raw.close();
  }
}

const command = (path: string, ...args: string[]) =>
  run(process.execPath, [join(root, "dist/cli/main.js"), ...args, "--path", path], { timeout: 300_000 });

it("a forget that was cut off before its purge is finished by commands that live for a moment", async () => {
  const path = await halfForgotten();
  expect(stillInFiles(path, WORDS).length, "the words are there").toBeGreaterThan(0);
  await command(path, "stats");
  await command(path, "query", "bob", "--user", "bob");
  await command(path, "add", "one more", "--user", "bob");
  expect(stillInFiles(path, [...WORDS, FORGOTTEN])).toEqual([]);
  expect(purgeOf(path)).toEqual({ purge: 0, unpurged: 0 });
  expect(unsoundness(path)).toEqual([]);
  const memory = await open({ path, ...BY_WORDS });
  expect(await memory.session({ user: "bob" }).query("bob stays")).toHaveLength(1);
});

it("a purge that is due is left alone while its process may still be at it", async () => {
  const path = await halfForgotten();
  const raw = openRaw(path);
  raw.exec(`UPDATE head SET purge_since = ${Date.now()}`);
  raw.close();
  await (await open({ path, ...BY_WORDS })).close();
  expect(purgeOf(path)).toMatchObject({ purge: 2 });
});

it("a purge that somebody's read holds up at the end of one process is finished by the next", async () => {
  const path = await halfForgotten();
  const reader = openRaw(path);
  reader.exec("BEGIN");
  reader.prepare("SELECT count(*) FROM item").get();
  await command(path, "stats");
  expect(purgeOf(path)).not.toMatchObject({ purge: 0 });
  reader.exec("COMMIT");
  reader.close();
  await command(path, "stats");
  expect(stillInFiles(path, [...WORDS, FORGOTTEN])).toEqual([]);
  expect(purgeOf(path)).toEqual({ purge: 0, unpurged: 0 });
});
