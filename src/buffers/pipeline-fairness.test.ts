/** Texts that are longer than a slice, with a clock in the test's hands: closing, faults, other processes, memory, leases. */
import { afterEach, describe, expect, it } from "vitest";
import { GuardedEmbedder } from "../embedding/guarded.js";
import type { Lane } from "../stores/indexing.js";
import { SqliteStore } from "../stores/sqlite/store.js";
import type { NewRow } from "../stores/store.js";
import { FakeClock } from "../testing/fake-clock.js";
import { HashEmbedder } from "../testing/hash-embedder.js";
import { Meter } from "./meter.js";
import { Pipeline } from "./pipeline.js";

const ANN: Lane = { space: { user: "ann" }, session: "s" };
const BOB: Lane = { space: { user: "bob" }, session: "s" };
const SLICE_BYTES = 1_000;
const SLICE_MS = 100;

/** Takes a tenth of a second for a call, and keeps what it was given. */
class SlowEmbedder extends HashEmbedder {
  readonly given: string[] = [];
  readonly #clock: FakeClock;

  constructor(clock: FakeClock) {
    super();
    this.#clock = clock;
  }

  override async describe(): ReturnType<HashEmbedder["describe"]> {
    return { ...(await super.describe()), sliceBytes: SLICE_BYTES };
  }

  override async embed(...[texts, options]: Parameters<HashEmbedder["embed"]>): ReturnType<HashEmbedder["embed"]> {
    const vectors = await super.embed(texts, options);
    this.given.push(...texts);
    this.#clock.advance(SLICE_MS);
    await new Promise((resolve) => setImmediate(resolve));
    return vectors;
  }

  about(word: string): number {
    return this.given.filter((text) => text.includes(word)).length;
  }
}

class Bench {
  readonly clock = new FakeClock();
  readonly store: SqliteStore;
  readonly embedder = new SlowEmbedder(this.clock);
  readonly pipeline: Pipeline;
  #ids = 0;

  constructor(store: SqliteStore, maxBytes = 32 * 1024 * 1024) {
    const { clock } = this;
    this.store = store;
    this.pipeline = new Pipeline({
      ...{ store, clock, meter: new Meter(clock), embedder: new GuardedEmbedder(this.embedder, { clock }) },
      countTokens: async (texts) => texts.map((text) => text.length),
      enabled: true,
      roundBuffer: { maxTokens: 800, maxSize: 5, idleMs: 60_000, eager: true },
      hybridBuffer: {
        ...{ maxSize: 5, maxBytes, idleMs: 60_000, forceMs: 1_800_000, leaseMs: 10_000 },
        chunkStrategy: "message",
      },
      onFlushed: () => {},
    });
  }

  async add(lane: Lane, content: string): Promise<string> {
    const id = `m${++this.#ids}`;
    const row: NewRow = {
      ...{ id, kind: "message", role: "user", content, metadata: {}, tier: "episodic" },
      occurredAt: this.clock.now(),
    };
    await this.store.commit([[{ op: "add", ...lane, items: [row], existing: "same" }]], this.clock.now(), "g");
    await this.pipeline.added(lane, 1);
    return id;
  }

  async until(condition: () => boolean): Promise<void> {
    while (!condition()) await turn();
  }
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Sentences with this word in each. */
const textOf = (word: string, bytes: number): string =>
  Array.from({ length: bytes / 50 }, (_, at) => `The ${word} came by in the year of ${1000 + at} and left.`).join(" ");

const benches: Bench[] = [];
afterEach(async () => {
  for (const { pipeline, clock, store } of benches.splice(0)) {
    const closed = pipeline.finish(0).then(() => pipeline.release());
    for (let turns = 0; turns < 50; turns++) await turn();
    clock.advance(10_000);
    await closed;
    await store.close();
  }
});

async function open(maxBytes?: number): Promise<Bench> {
  const bench = new Bench(await SqliteStore.open({ path: ":memory:", busyTimeoutMs: 1_000 }), maxBytes);
  benches.push(bench);
  return bench;
}

describe("closing", () => {
  it("does not spend its limit on a text that cannot be done by then", async () => {
    const bench = await open();
    const { pipeline, embedder, clock } = bench;
    await bench.add(ANN, textOf("comet", 100_000)); // a hundred slices, ten seconds
    await bench.until(() => embedder.about("comet") > 30);
    await bench.add(BOB, "a word of bob's");
    const [started, given] = [clock.passed(), embedder.about("comet")];
    await pipeline.finish(5_000);
    await pipeline.release();
    expect(clock.passed() - started).toBeLessThan(5 * SLICE_MS);
    expect(embedder.about("comet") - given).toBeLessThan((2 * SLICE_BYTES) / 50);
    expect(await bench.store.indexingStats()).toMatchObject({ pending: 1, embedded: 1 });
  });

  it("continues a text that can be finished by the deadline", async () => {
    const bench = await open();
    await bench.add(ANN, textOf("comet", 20_000)); // two seconds
    await bench.until(() => bench.embedder.about("comet") > 30);
    await bench.pipeline.finish(5_000);
    await bench.pipeline.release();
    expect(await bench.store.indexingStats()).toMatchObject({ pending: 0, embedded: 1 });
  });
});

describe("a text of many slices", () => {
  it("continues where it stopped when the embedder recovers", async () => {
    const bench = await open();
    const content = textOf("comet", 20_000);
    await bench.add(ANN, content);
    await bench.until(() => bench.embedder.about("comet") > 30);
    bench.embedder.failNext(8);
    await bench.until(() => bench.pipeline.stats.embedder.failures > 0);
    while (bench.pipeline.stats.hybrid.itemCount === 0) {
      bench.clock.advance(2_000);
      await turn();
    }
    await bench.pipeline.drain(undefined, "manual");
    expect(await bench.store.indexingStats()).toMatchObject({ pending: 0, parked: 0, embedded: 1 });
    const pieces = bench.embedder.given.filter((text) => text.includes("comet"));
    expect(new Set(pieces).size).toBe(pieces.length);
    const chunks = await bench.store.chunks([ANN.space], ["m1"], bench.clock.now());
    expect(chunks).toHaveLength(pieces.length);
    expect(chunks.map(({ start, end }) => content.slice(start, end))).toEqual(pieces);
  });

  it("keeps its lease while it continues, even if nothing is written for a long time", async () => {
    const bench = await open();
    bench.pipeline.start();
    await bench.add(ANN, textOf("comet", 300_000)); // thirty seconds, the lease is for ten
    await bench.until(() => bench.embedder.about("comet") > 800);
    const [waiting] = await bench.store.waiting("somebody else", 10, bench.clock.now());
    expect(waiting?.holder).toBeDefined();
    const { id } = waiting?.holder ?? { id: "" };
    expect(id).toBe(bench.pipeline.leases.owner.id);
    await bench.pipeline.drain(undefined, "manual");
    expect(await bench.store.indexingStats()).toMatchObject({ pending: 0, embedded: 1 });
  });

  it.each([
    ["edited", { op: "update", space: ANN.space, id: "m1", patch: { content: "nothing much" } }],
    ["forgotten", { op: "forget", target: { space: ANN.space, entry: true } }],
  ] as const)("is embedded no further when another process has %s it", async (_, write) => {
    const bench = await open();
    bench.pipeline.start();
    await bench.add(ANN, textOf("comet", 2_000_000)); // more than three minutes
    await bench.until(() => bench.embedder.about("comet") > 100);
    await bench.store.commit([[write]], bench.clock.now(), "g"); // nobody here is told
    const before = bench.embedder.about("comet");
    await bench.pipeline.drain(undefined, "manual");
    expect(bench.embedder.about("comet") - before).toBeLessThan(2_000); // within five seconds
    expect(await bench.store.indexingStats()).toMatchObject({ pending: 0, parked: 0 });
    expect(bench.pipeline.stats.hybrid.itemCount).toBe(0);
  });

  it("is left to another process that has taken its lane over", async () => {
    const bench = await open();
    bench.pipeline.start();
    await bench.add(ANN, textOf("comet", 2_000_000)); // more than three minutes
    await bench.until(() => bench.embedder.about("comet") > 100);
    const [waiting] = await bench.store.waiting("somebody else", 10, bench.clock.now());
    const { id = "", beat = 0 } = waiting?.holder ?? {};
    const owner = { id: "somebody else", process: "" };
    const claim = { op: "claim", owner, lanes: [ANN], evict: [{ owner: id, beat }] } as const;
    await bench.store.commit([[claim]], bench.clock.now(), "g");
    const before = bench.embedder.about("comet");
    await bench.pipeline.drain([ANN], "manual");
    expect(bench.embedder.about("comet") - before).toBeLessThan(2_000); // until the next beat
    expect(bench.pipeline.hybrid.queuedIn(ANN)).toBe(0);
    expect(await bench.store.indexingStats()).toMatchObject({ pending: 1, embedded: 0 });
  });

  it("waits on disk while others fill the memory that there is for them, and all are done in the end", async () => {
    const bench = await open(100_000);
    const lanes = Array.from({ length: 12 }, (_, at): Lane => ({ space: { user: `user ${at}` }, session: "s" }));
    for (const [at, lane] of lanes.entries()) await bench.add(lane, textOf(`comet${at}x`, 10_000));
    const begun = () => lanes.filter((_, at) => bench.embedder.about(`comet${at}x`) > 0).length;
    const done = () => bench.pipeline.stats.hybrid.itemsWritten + bench.pipeline.stats.hybrid.itemCount;
    let most = 0;
    await bench.until(() => {
      most = Math.max(most, begun() - done());
      return done() === lanes.length;
    });
    expect(most).toBeGreaterThan(1);
    expect(most).toBeLessThan(4); // two in 100,000 bytes, and the largest
    await bench.pipeline.drain(undefined, "manual");
    expect(await bench.store.indexingStats()).toMatchObject({ pending: 0, embedded: lanes.length });
  });
});
