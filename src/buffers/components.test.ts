/** The state of every component while it works, fails, and works again. (external-index.test.ts has the external index.) */
import { describe, expect, it, onTestFinished } from "vitest";
import { loadConfig } from "../config.js";
import type { Options } from "../options.js";
import { BufferService } from "../service.js";
import { SqliteStore } from "../stores/sqlite/store.js";
import { FakeClock } from "../testing/fake-clock.js";
import { FaultyStore } from "../testing/faulty-store.js";
import { HashEmbedder } from "../testing/hash-embedder.js";

const ADA = { user: "ada", session: "one" };
const OK = { state: "ok" };
const TOLD = "The store was told to fail";

async function settle(): Promise<void> {
  for (let turn = 0; turn < 50; turn++) await new Promise((resolve) => setImmediate(resolve));
}

async function open(buffer: Options["buffer"] = {}, embedder: HashEmbedder | undefined = new HashEmbedder()) {
  const clock = new FakeClock();
  const store = new FaultyStore(await SqliteStore.open({ path: ":memory:", busyTimeoutMs: 1_000 }));
  const options = loadConfig({ code: { path: ":memory:", clock, buffer: { closeMs: 0, ...buffer } } });
  const service = new BufferService(store, options, { embedder });
  await service.start();
  onTestFinished(async () => {
    const closed = service.close();
    for (let step = 0; step < 10; step++) {
      await settle();
      clock.advance(1_000);
    }
    await closed;
  });
  return {
    ...{ clock, store, service, embedder: embedder as HashEmbedder },
    say: (content: string) => service.add(ADA, [{ role: "user", content }]),
    components: async () => (await service.stats()).health.components,
  };
}

describe("the components", () => {
  it("are ok where all is well; without a model there are two", async () => {
    const whole = await open();
    await whole.say("the cat sleeps");
    await whole.service.query(ADA, "cat");
    await whole.service.flush();
    expect(await whole.components()).toEqual({
      write: OK,
      round: OK,
      hybrid: OK,
      query: OK,
      speculative: OK,
      embedder: OK,
    });
    const words = await open({}, null as unknown as undefined);
    await words.say("the cat sleeps");
    expect(await words.components()).toEqual({ write: OK, query: OK, speculative: OK });
  });
});

describe("the WriteBuffer", () => {
  it("is degraded after a commit that failed, until one succeeds", async () => {
    const { store, say, components } = await open();
    store.failCommits("failed");
    await expect(say("lost")).rejects.toMatchObject({ code: "store_failed" });
    const reason = expect.stringContaining(`the last commit failed: ${TOLD}`);
    expect((await components()).write).toEqual({ state: "degraded", reason });
    await say("written");
    expect((await components()).write).toEqual(OK);
  });

  it("is degraded while callers wait for room", async () => {
    const { store, say, components } = await open({ writeBuffer: { maxWaitingBytes: 1 } });
    const release = store.stallCommits();
    const calls = [say("one"), say("two"), say("three")];
    await settle();
    const reason = "it is full: calls that wait for room: 2";
    expect((await components()).write).toEqual({ state: "degraded", reason });
    release();
    await Promise.all(calls);
    expect((await components()).write).toEqual(OK);
  });

  it("has failed if the store cannot be opened again", async () => {
    const { store, say, components } = await open();
    store.failCommits("unknown, written");
    store.failReopens();
    await expect(say("in doubt")).rejects.toMatchObject({ code: "outcome_unknown" });
    const reason = expect.stringContaining(`it refuses writes: ${TOLD}`);
    expect((await components()).write).toEqual({ state: "failed", reason });
  });
});

describe("the embedder", () => {
  it("that fails makes RoundBuffer wait and QueryBuffer answer by words, until it is back", async () => {
    const { clock, embedder, service, say, components } = await open();
    await say("the cat sleeps");
    await service.flush();
    embedder.failNext(1);
    await service.query(ADA, "cat");
    const told = "the embedder was told to fail this embed";
    const once = { state: "degraded", reason: `failures in a row: 1; the last one: ${told}` };
    expect(await components()).toEqual({
      write: OK,
      round: OK,
      hybrid: OK,
      query: OK,
      speculative: OK,
      embedder: once,
    });

    embedder.failNext(Number.POSITIVE_INFINITY);
    for (let asked = 0; asked < 4; asked++) await service.query(ADA, `cat ${asked}`);
    const why = `it is not called for a while; failures in a row: 5; the last one: ${told}`;
    expect(await components()).toEqual({
      ...{ write: OK, hybrid: OK, speculative: OK },
      round: { state: "degraded", reason: "what gathers waits for the embedder" },
      query: { state: "degraded", reason: `new questions are answered by words only: ${why}` },
      embedder: { state: "failed", reason: why },
    });

    embedder.failNext(0);
    clock.advance(60_000);
    await service.query(ADA, "cat again");
    expect(await components()).toEqual({ write: OK, round: OK, hybrid: OK, query: OK, speculative: OK, embedder: OK });
  });

  it("that no longer fits the file has failed, and with it all that needs vectors", async () => {
    const { clock, store, service, say, components } = await open();
    await say("the cat sleeps");
    await service.flush();
    store.vectorSpace = async () => ({ model: "another", runtime: "test", dimensions: 64 });
    await say("the dog barks");
    clock.advance(5_000);
    await settle();
    const state = "failed";
    const reason = expect.stringContaining("another");
    expect(await components()).toEqual({
      write: OK,
      round: { state, reason },
      hybrid: { state, reason },
      query: { state: "degraded", reason },
      speculative: OK,
      embedder: { state, reason },
    });
  });
});

describe("the HybridBuffer", () => {
  it("is degraded after a flush that failed, until one succeeds", async () => {
    const { clock, store, service, say, components } = await open();
    await say("the cat sleeps");
    await settle();
    store.failCommits("failed");
    await service.flush();
    const reason = expect.stringContaining(`the last flush failed: ${TOLD}`);
    expect((await components()).hybrid).toEqual({ state: "degraded", reason });
    clock.advance(60_000);
    await settle();
    expect(await components()).toMatchObject({ hybrid: OK, round: OK });
  });

  it("is degraded while it is full", async () => {
    const { store, embedder, service, say, components } = await open({ hybridBuffer: { maxBytes: 1 } });
    const goOn = embedder.stall();
    await say("the cat sleeps");
    await settle();
    const release = store.stallCommits();
    goOn();
    await settle();
    const reason = "it is full: embedding waits until vectors are written";
    expect((await components()).hybrid).toEqual({ state: "degraded", reason });
    release();
    await service.flush();
    expect((await components()).hybrid).toEqual(OK);
  });
});

describe("the RoundBuffer", () => {
  it("is degraded while pending items cannot be read", async () => {
    const { clock, store, service, say, components } = await open();
    store.failReads();
    await say("the cat sleeps");
    await settle();
    const reason = expect.stringContaining(`what gathers waits for the store: ${TOLD}`);
    expect((await components()).round).toEqual({ state: "degraded", reason });
    clock.advance(2_000);
    await settle();
    await service.flush();
    expect((await components()).round).toEqual(OK);
  });
});
