import { describe, expect, it, onTestFinished } from "vitest";
import { loadConfig } from "../../config.js";
import { BufferService } from "../../service.js";
import { SqliteStore } from "../../stores/sqlite/store.js";
import { FakeClock } from "../../testing/fake-clock.js";
import { HashEmbedder } from "../../testing/hash-embedder.js";

const ADA = { user: "ada", session: "one" };

const openStore = () => SqliteStore.open({ path: ":memory:", busyTimeoutMs: 1_000 });

async function settle(): Promise<void> {
  for (let turn = 0; turn < 30; turn++) await new Promise((resolve) => setImmediate(resolve));
}

describe("a question", () => {
  it("has the newest embedded that wait, but no very long one: what was left is searched by words, and it says so", async () => {
    const embedder = new HashEmbedder();
    const options = loadConfig({
      code: {
        path: ":memory:",
        embedder,
        buffer: { roundBuffer: { eager: false, maxTokens: 1_000_000 }, speculative: { maxSize: 0 } },
      },
    });
    const service = new BufferService(await openStore(), options, { embedder });
    onTestFinished(async () => {
      await service.close();
    });
    const long = Array.from({ length: 200 }, (_, at) => `Sentence ${at} is about nothing.`).join(" ");
    await service.add(ADA, [{ role: "user", content: `${long} It ends with a cat.` }]);
    await service.add(ADA, [{ role: "user", content: "the dog barks" }]);
    const hits = await service.query(ADA, "dog cat");
    expect(embedder.texts).toBe(2); // the question and the short message
    expect(hits.partial).toBe(true);
    expect(hits.map(({ level = "store" }) => level).sort()).toEqual(["round", "store"]);
  });

  it("is not kept waiting by an embedder that hangs: after five seconds words answer, and say so", async () => {
    const clock = new FakeClock();
    const embedder = new HashEmbedder();
    const options = loadConfig({ code: { path: ":memory:", embedder, clock } });
    const service = new BufferService(await openStore(), options, { embedder });
    onTestFinished(async () => {
      const closed = service.close();
      for (let step = 0; step < 10; step++) {
        await settle();
        clock.advance(1_000);
      }
      await closed;
    });
    await service.add(ADA, [{ role: "user", content: "the cat sleeps" }]);
    await service.flush();
    const release = embedder.stall();
    let isAnswered = false;
    const asked = service.query(ADA, "cat").finally(() => {
      isAnswered = true;
    });
    await settle();
    clock.advance(4_999);
    await settle();
    expect(isAnswered).toBe(false);
    clock.advance(1);
    await settle();
    const hits = await asked;
    expect(hits.map(({ content }) => content)).toEqual(["the cat sleeps"]);
    expect(hits.partial).toBe(true);
    expect(hits.degraded).toContain("5000 ms");
    release();
    expect((await service.query(ADA, "cat")).degraded).toBeUndefined();
  });

  it("waits for the vectors of a space half of its own time, else a moment; then words answer, and say so", async () => {
    const waits: (number | undefined)[] = [];
    const embedder = new HashEmbedder();
    const store = await openStore();
    const search = store.search.bind(store);
    store.search = async ({ vector, ...request }) => {
      waits.push(vector?.readyMs);
      const result = await search(request);
      return { ...result, vectors: { ...result.vectors, missing: "loading" } };
    };
    const service = new BufferService(store, loadConfig({ code: { path: ":memory:", embedder } }), { embedder });
    onTestFinished(async () => {
      await service.close();
    });
    await service.add(ADA, [{ role: "user", content: "the cat sleeps" }]);
    await service.flush();
    const hits = await service.query(ADA, "cat");
    expect([hits.length, hits.partial, hits.degraded]).toEqual([1, true, undefined]);
    await service.query(ADA, "cat", { deadlineMs: 7_000 });
    expect(waits).toEqual([150, 3_500]);
  });

  it("waits 100 ms for its newest message to be embedded, or as long as its deadline allows", async () => {
    const clock = new FakeClock();
    const embedder = new HashEmbedder();
    const buffer = { roundBuffer: { eager: false } };
    const service = new BufferService(
      await openStore(),
      loadConfig({ code: { path: ":memory:", embedder, clock, buffer } }),
      { embedder },
    );
    onTestFinished(async () => {
      await service.close();
    });
    await service.query(ADA, "dog"); // from now on its vector is known
    const release = embedder.stall();
    await service.add(ADA, [{ role: "user", content: "the dog barks" }]);
    const soon = service.query(ADA, "dog");
    await settle();
    clock.advance(100);
    expect((await soon).partial).toBe(true);

    const patient = service.query(ADA, "dog", { deadlineMs: 30_000 });
    await settle();
    clock.advance(20_000);
    await settle();
    release();
    const hits = await patient;
    expect([hits.partial, hits[0]?.level]).toEqual([false, "round"]);
  });
});
