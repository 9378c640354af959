/** Vectors are loaded while a file is being opened, before anybody asks, and before the writer has looked at it. */
import { chmodSync, readFileSync, writeFileSync } from "node:fs";
import { openMemory } from "holdfast";
import { SqliteStore } from "holdfast/stores";
import { describe, expect, it } from "vitest";
import { alter, newPath, open } from "../support/opened.js";
import { openRaw } from "../support/raw.js";
import { until } from "../support/until.js";
import { MirrorEmbedder, mirrored } from "./mirror.js";

const ADA = { user: "ada", session: "s" };

async function usedFile(): Promise<string> {
  const path = newPath();
  const memory = await openMemory({ path, embedder: new MirrorEmbedder() });
  await memory.session(ADA).add(["blue kettle", "green lamp"].map((content) => ({ role: "user" as const, content })));
  await memory.flush();
  await memory.close();
  return path;
}

describe("opening a file", () => {
  it("loads the vectors of the space that was written last, without a question", async () => {
    const path = await usedFile();
    const store = await SqliteStore.open({ path, busyTimeoutMs: 5_000, warm: ["search"] });
    await until(async () => (await store.mirrors()).vectors === 2);
    expect(await store.mirrors()).toMatchObject({ spaces: 1, loads: 1, hits: 0 });
    await store.close();
    const cold = await SqliteStore.open({ path, busyTimeoutMs: 5_000 });
    expect(await cold.mirrors()).toMatchObject({ spaces: 0, loads: 0 });
    await cold.close();
  });

  it("lets the first question be answered while another program writes: nothing is committed for it", async () => {
    const path = await usedFile();
    const memory = await open({ path, embedder: new MirrorEmbedder(), store: { busyTimeoutMs: 300 } });
    const other = openRaw(path);
    other.exec("BEGIN IMMEDIATE");
    const hits = await memory.session(ADA).query(mirrored("green lamp"), { topK: 1 });
    other.exec("ROLLBACK");
    other.close();
    expect([hits.degraded, hits[0]?.content]).toEqual([undefined, "green lamp"]);
  });

  it("of another program changes nothing of it, with a model as without", async () => {
    for (const journal of ["DELETE", "WAL"]) {
      const path = newPath();
      alter(
        path,
        `PRAGMA journal_mode = ${journal}; CREATE TABLE recipes (name); INSERT INTO recipes VALUES ('bread')`,
      );
      chmodSync(path, 0o600);
      const bytes = readFileSync(path);
      const opening = openMemory({ path, embedder: new MirrorEmbedder() });
      await expect(opening).rejects.toMatchObject({ code: "invalid_input", message: /another program/ });
      expect(readFileSync(path).equals(bytes), journal).toBe(true);
      const raw = openRaw(path);
      expect(raw.prepare("SELECT name FROM recipes").all()).toEqual([{ name: "bread" }]);
      raw.close();
    }
  });

  it("of another program that left a log leaves that log, too", async () => {
    const [used, path] = [newPath(), newPath()];
    const raw = openRaw(used);
    raw.exec("PRAGMA journal_mode = WAL; CREATE TABLE recipes (name); INSERT INTO recipes VALUES ('bread')");
    for (const suffix of ["", "-wal"]) writeFileSync(path + suffix, readFileSync(used + suffix), { mode: 0o600 });
    raw.close();
    const bytes = ["", "-wal"].map((suffix) => readFileSync(path + suffix));
    expect(bytes[1]?.length).toBeGreaterThan(0);
    for (const options of [{ embedder: new MirrorEmbedder() }, {}]) {
      await expect(openMemory({ path, ...options })).rejects.toMatchObject({ message: /another program/ });
      expect(["", "-wal"].map((suffix) => readFileSync(path + suffix))).toEqual(bytes);
    }
  });
});
