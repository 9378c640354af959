/** Re-embedding over the in-memory store, which fails when the test asks it to, with an embedder that does the same. */
import { describe, expect, it, onTestFinished } from "vitest";
import { loadConfig } from "../config.js";
import type { NextSpace } from "../stores/reindexing.js";
import { SqliteStore } from "../stores/sqlite/store.js";
import { FakeClock } from "../testing/fake-clock.js";
import { FaultyStore } from "../testing/faulty-store.js";
import { HashEmbedder } from "../testing/hash-embedder.js";
import { Reindexing } from "./reindexing.js";

const ADA = { user: "ada" } as const;

async function bench(count: number) {
  const clock = new FakeClock();
  const inner = await SqliteStore.open({ path: ":memory:", busyTimeoutMs: 1_000 });
  onTestFinished(() => inner.close());
  const store = new FaultyStore(inner);
  const items = Array.from({ length: count }, (_, at) => {
    const content = `message ${at}`;
    return { id: `m${at}`, kind: "message", content, metadata: {}, tier: "episodic", occurredAt: clock.now() } as const;
  });
  await store.commit([[{ op: "add", space: ADA, items, existing: "same" }]], clock.now(), "fill");
  return {
    clock,
    store,
    reindexing: new Reindexing(store, loadConfig({ file: undefined, env: {}, code: { path: ":memory:", clock } })),
  };
}

/** Lets time pass until it has ended. */
async function passing<T>(clock: FakeClock, work: Promise<T>): Promise<T> {
  let isOver = false;
  const end = (): void => {
    isOver = true;
  };
  work.then(end, end);
  while (!isOver) {
    clock.advance(500);
    await new Promise((resolve) => setImmediate(resolve));
  }
  return work;
}

describe("a reindex", () => {
  it("is not ended by a busy store, or by an unknown outcome", async () => {
    const { store, reindexing } = await bench(300);
    store.failCommits("busy", 3);
    const faults = ["unknown, written", "unknown, not written", "unknown, written"] as const;
    let slices = 0;
    const onProgress = () => store.failCommits(faults[slices++] ?? "busy");
    const embedder = new HashEmbedder();
    expect(await reindexing.run({ embedder, onProgress })).toMatchObject({ switched: true });
    expect(slices).toBe(3);
    expect(await store.indexingStats()).toMatchObject({ embedded: 300, pending: 0 });
    expect(embedder.texts).toBe(300);
  });

  it("ends with the store's error if it stays busy or fails, and continues the next time", async () => {
    const { store, reindexing } = await bench(300);
    store.failCommits("busy", 5);
    await expect(reindexing.run({ embedder: new HashEmbedder() })).rejects.toMatchObject({ code: "busy" });
    const onProgress = () => store.failCommits("failed");
    await expect(reindexing.run({ embedder: new HashEmbedder(), onProgress })).rejects.toMatchObject({
      code: "store_failed",
    });
    const embedder = new HashEmbedder();
    expect(await reindexing.run({ embedder })).toMatchObject({ embedded: 300 - 128, switched: true });
  });

  it("embeds a text of many pages in calls that an embedder can answer in time", async () => {
    const { clock, store, reindexing } = await bench(1);
    const content = Array.from({ length: 20_000 }, (_, at) => `Ship number ${at} came in from the sea.`).join(" ");
    const write = { op: "update", space: ADA, id: "m0", patch: { content } } as const;
    await store.commit([[write]], clock.now(), "edit");
    const embedder = new HashEmbedder();
    let most = 0;
    const { embed } = embedder;
    embedder.embed = function (this: HashEmbedder, texts, options) {
      most = Math.max(most, texts.length);
      return embed.call(this, texts, options);
    };
    expect(await reindexing.run({ embedder })).toMatchObject({ embedded: 1, refused: 0, switched: true });
    expect(most).toBeLessThanOrEqual(128);
    expect((await store.indexingStats()).chunks).toBe(embedder.texts);
    expect(embedder.texts).toBeGreaterThan(2_000);
  });

  it("waits for an embedder that is down for a while", async () => {
    const { clock, reindexing } = await bench(300);
    const embedder = new HashEmbedder();
    const onProgress = ({ embedded }: NextSpace) => embedded === 128 && embedder.failNext(4);
    const run = reindexing.run({ embedder, onProgress });
    expect(await passing(clock, run)).toMatchObject({ embedded: 300, switched: true });
  });

  it("ends with the error of an embedder that stays down, and keeps its progress", async () => {
    const { clock, store, reindexing } = await bench(300);
    const embedder = new HashEmbedder();
    const onProgress = () => embedder.failNext(Number.POSITIVE_INFINITY);
    const run = reindexing.run({ embedder, onProgress });
    await expect(passing(clock, run)).rejects.toMatchObject({ code: "embedder_failed" });
    expect((await store.indexingStats()).next).toMatchObject({ embedded: 128, remaining: 172 });
  });
});
