/** The pipeline behind an add, with a store in memory, an embedder made of words, and a clock in the test's hands. */
import { afterEach, describe, expect, it } from "vitest";
import { GuardedEmbedder } from "../embedding/guarded.js";
import type { Lane } from "../stores/indexing.js";
import { SqliteStore } from "../stores/sqlite/store.js";
import type { NewRow, Store } from "../stores/store.js";
import { FakeClock } from "../testing/fake-clock.js";
import { FaultyStore } from "../testing/faulty-store.js";
import { HashEmbedder } from "../testing/hash-embedder.js";
import type { VectorSpace } from "../types.js";
import { Meter } from "./meter.js";
import { Pipeline } from "./pipeline.js";
import type { PipelineOptions } from "./pipeline-options.js";

const ADA: Lane = { space: { user: "ada" }, session: "one" };
const BOB: Lane = { space: { user: "bob" }, session: "one" };

interface Setting {
  readonly round?: Partial<PipelineOptions["roundBuffer"]>;
  readonly hybrid?: Partial<PipelineOptions["hybridBuffer"]>;
  readonly enabled?: boolean;
  readonly store?: Store;
  readonly embedder?: HashEmbedder;
}

class Bench {
  readonly clock = new FakeClock();
  readonly embedder: HashEmbedder;
  readonly store: Store;
  readonly pipeline: Pipeline;
  #ids = 0;

  constructor(store: Store, { round, hybrid, enabled = true, embedder = new HashEmbedder() }: Setting = {}) {
    this.store = store;
    this.embedder = embedder;
    this.pipeline = new Pipeline({
      store: this.store,
      clock: this.clock,
      meter: new Meter(this.clock),
      embedder: new GuardedEmbedder(this.embedder, { clock: this.clock }),
      countTokens: async (texts) => texts.map((text) => text.split(" ").length),
      enabled,
      roundBuffer: { maxTokens: 800, maxSize: 5, idleMs: 60_000, eager: true, ...round },
      hybridBuffer: {
        maxSize: 5,
        maxBytes: 32 * 1024 * 1024,
        idleMs: 60_000,
        forceMs: 1_800_000,
        leaseMs: 10_000,
        chunkStrategy: "message",
        ...hybrid,
      },
      onFlushed: () => {},
    });
  }

  /** Commits a round and tells the pipeline, as the service does. */
  async add(lane: Lane, ...contents: readonly string[]): Promise<readonly string[]> {
    const ids = await this.commit(lane, ...contents);
    await this.pipeline.added(lane, 1);
    return ids;
  }

  /** Commits a round as another process would: nobody here is told. */
  async commit(lane: Lane, ...contents: readonly string[]): Promise<readonly string[]> {
    const items = contents.map(
      (content): NewRow => ({
        id: `m${++this.#ids}`,
        kind: "message",
        role: "user",
        content,
        metadata: {},
        tier: "episodic",
        occurredAt: this.clock.now(),
      }),
    );
    await this.store.commit([[{ op: "add", ...lane, items, existing: "same" }]], this.clock.now(), "g");
    return items.map(({ id }) => id);
  }

  /** Has the store keep vectors of this space, as another process would. */
  async keep(vectorSpace: VectorSpace): Promise<void> {
    const [owner, lane] = [{ id: "another", process: "1" }, { space: { user: "another" } }];
    const register = { op: "register", create: "new", entry: { kind: "user", name: "another" } } as const;
    const claim = { op: "claim", owner, lanes: [lane], evict: [] } as const;
    const [outcome] = (await this.store.commit([[register, claim]], this.clock.now(), "g")).outcomes;
    const claimed = outcome?.ok && outcome.done[1]?.op === "claim" ? outcome.done[1].claims[0] : undefined;
    const fence = claimed && "fence" in claimed ? claimed.fence : expect.fail("the lane was not given");
    const index = { op: "index", owner: owner.id, lane, fence, vectorSpace, items: [], release: true } as const;
    await this.store.commit([[index]], this.clock.now(), "g");
  }

  async update(lane: Lane, id: string, content: string): Promise<void> {
    await this.store.commit([[{ op: "update", space: lane.space, id, patch: { content } }]], this.clock.now(), "g");
    await this.pipeline.edited(lane.space, [id], [lane]);
  }

  async search(lane: Lane, text: string) {
    const [vector] = await new HashEmbedder().embed([text]);
    const { space } = await this.embedder.describe();
    const numbers = vector as Float32Array;
    const { found } = await this.store.search({
      ...{ spaces: [lane.space], filter: {}, now: this.clock.now(), limit: 10, terms: [], lookups: [] },
      vector: { space, numbers, fresh: [], freshOnly: false, readyMs: Infinity },
      hints: { refersBack: false, dates: [], recency: 0, askedAt: 0 },
    });
    const { cache } = this.pipeline.hybrid;
    const scores = cache.scores([lane.space], numbers).toSorted((a, b) => b.score - a.score || b.key - a.key);
    return {
      cached: scores.map(({ key, version }) => cache.find(lane.space, key, version)?.id),
      stored: found.map(({ id }) => id),
    };
  }

  get triggers() {
    return Object.fromEntries(
      Object.entries(this.pipeline.stats.round.transferTriggers).filter(([, count]) => count > 0),
    );
  }

  get flushes() {
    return Object.fromEntries(
      Object.entries(this.pipeline.stats.hybrid.flushTriggers).filter(([, count]) => count > 0),
    );
  }
}

const benches: Bench[] = [];
afterEach(async () => {
  for (const bench of benches.splice(0)) {
    const closed = bench.pipeline.finish(0).then(() => bench.pipeline.release());
    await settle();
    bench.clock.advance(10_000);
    await closed;
    await bench.store.close();
  }
});

const openStore = () => SqliteStore.open({ path: ":memory:", busyTimeoutMs: 1_000 });

async function open(setting: Setting = {}): Promise<Bench> {
  const bench = new Bench(setting.store ?? (await openStore()), setting);
  benches.push(bench);
  return bench;
}

/** Lets everything run that waits for nothing but its turn. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 50; turn++) await new Promise((resolve) => setImmediate(resolve));
}

describe("the RoundBuffer", () => {
  const exact = { round: { eager: false } };

  it("transfers a session when it has five rounds, and not before", async () => {
    const bench = await open(exact);
    for (let round = 1; round <= 4; round++) await bench.add(ADA, `round ${round}`);
    await settle();
    expect(bench.embedder.texts).toBe(0);
    await bench.add(ADA, "round 5");
    await settle();
    expect(bench.triggers).toEqual({ rounds: 1 });
    expect(bench.pipeline.stats.round.totalTransfers).toBe(1);
    expect(bench.embedder.texts).toBe(5);
  });

  it("transfers a session when it has more tokens than allowed, a message above the threshold whole", async () => {
    const bench = await open({ round: { eager: false, maxTokens: 10 } });
    await bench.add(ADA, "one two three four five six seven eight nine ten");
    await settle();
    expect(bench.embedder.texts).toBe(0);
    await bench.add(ADA, "eleven");
    await settle();
    expect(bench.triggers).toEqual({ tokens: 1 });
    await bench.add(BOB, Array.from({ length: 50 }, (_, at) => `word${at}`).join(" "));
    await settle();
    expect(bench.triggers).toEqual({ tokens: 2 });
    expect((await bench.store.indexingStats()).pending).toBe(3); // embedded, and waiting in the RoundQueue
    expect(bench.pipeline.stats.hybrid.itemCount).toBe(3);
  });

  it("transfers a session to which nothing was added for a minute", async () => {
    const bench = await open(exact);
    await bench.add(ADA, "hello");
    await settle();
    bench.clock.advance(59_000);
    await settle();
    expect(bench.triggers).toEqual({});
    await bench.add(BOB, "hello");
    await settle();
    bench.clock.advance(1_000);
    await settle();
    expect(bench.triggers).toEqual({ idle: 1 });
    expect((await bench.search(ADA, "hello")).cached).toHaveLength(1);
    expect((await bench.search(BOB, "hello")).cached).toHaveLength(0);
  });

  it("counts the session's pending rows of all processes", async () => {
    const bench = await open(exact);
    for (let round = 1; round <= 4; round++) await bench.commit(ADA, `theirs ${round}`);
    await bench.add(ADA, "ours");
    await settle();
    expect(bench.triggers).toEqual({ rounds: 1 });
    expect(bench.embedder.texts).toBe(5);
  });

  it("lets sessions that take turns cause no transfer of each other", async () => {
    const bench = await open(exact);
    for (let round = 1; round <= 4; round++) {
      await bench.add(ADA, `ada ${round}`);
      await bench.add(BOB, `bob ${round}`);
    }
    await settle();
    expect(bench.triggers).toEqual({});
    await bench.add(ADA, "ada 5");
    await settle();
    expect(bench.triggers).toEqual({ rounds: 1 });
  });

  it("has one timer for any number of sessions, and none for those with nothing waiting", async () => {
    const bench = await open(exact);
    const before = bench.clock.pending;
    for (let user = 0; user < 100; user++) await bench.add({ space: { user: `u${user}` }, session: "s" }, "hello");
    await settle();
    expect(bench.clock.pending - before).toBe(1);
    bench.clock.advance(60_000);
    await settle();
    expect(bench.triggers).toEqual({ idle: 100 });
    expect(bench.pipeline.stats.round.sessions).toBe(0);
  });

  it("embeds pending items as soon as the embedder is free, if eager", async () => {
    const bench = await open();
    await bench.add(ADA, "hello");
    await settle();
    expect(bench.triggers).toEqual({ eager: 1 });
    const release = bench.embedder.stall();
    await bench.add(BOB, "hello");
    await settle();
    for (let round = 1; round < 7; round++) await bench.add(BOB, `hello ${round}`);
    await settle();
    expect(bench.triggers).toEqual({ eager: 2 });
    release();
    await settle();
    expect(bench.triggers).toEqual({ eager: 2, rounds: 1 }); // six rounds had gathered behind the first
  });

  it("shows what gathers in a session", async () => {
    const bench = await open(exact);
    await bench.add(ADA, "one two", "three");
    await bench.add(ADA, "four");
    expect(await bench.pipeline.view(ADA)).toEqual({ currentTokens: 4, roundCount: 2, messageCount: 3 });
    expect(await bench.pipeline.view(BOB)).toEqual({ currentTokens: 0, roundCount: 0, messageCount: 0 });
  });
});

describe("the HybridBuffer", () => {
  it("makes what it embedded searchable at once and writes it in batches of five rounds", async () => {
    const bench = await open();
    const [first] = await bench.add(ADA, "the cat sleeps");
    await settle();
    expect(await bench.search(ADA, "cat")).toEqual({ cached: [first], stored: [] });
    expect(bench.pipeline.stats.hybrid).toMatchObject({ roundCount: 1, chunkCount: 1, flushOperations: 0 });
    for (let round = 0; round < 4; round++) await bench.add(ADA, `round ${round}`);
    await settle();
    expect(bench.flushes).toEqual({ rounds: 1 });
    const found = await bench.search(ADA, "cat");
    expect(found.cached).toEqual([]);
    expect(found.stored).toHaveLength(5);
    expect(found.stored[0]).toBe(first);
    expect(bench.embedder.texts).toBe(5);
    expect(bench.pipeline.stats.hybrid).toMatchObject({ roundCount: 0, chunkCount: 0, bytes: 0, itemsWritten: 5 });
  });

  it("lets go of the lease of a session with which it is done", async () => {
    const bench = await open();
    bench.pipeline.start();
    for (let round = 0; round < 5; round++) await bench.add(ADA, `round ${round}`);
    await settle();
    bench.clock.advance(5_000);
    await settle();
    expect(bench.pipeline.stats.leases).toBe(0);
    await bench.commit(ADA, "more");
    expect((await bench.store.waiting("somebody else", 10, bench.clock.now()))[0]?.holder).toBeUndefined();
  });

  it("writes when nothing came for a minute", async () => {
    const bench = await open();
    await bench.add(ADA, "hello");
    await settle();
    bench.clock.advance(59_999);
    await settle();
    expect(bench.flushes).toEqual({});
    bench.clock.advance(1);
    await settle();
    expect(bench.flushes).toEqual({ idle: 1 });
    expect((await bench.store.indexingStats()).embedded).toBe(1);
  });

  it("writes what is older than half an hour, also when something keeps coming", async () => {
    const bench = await open({ hybrid: { maxSize: 1000 } });
    for (let minute = 0; minute < 31; minute++) {
      await bench.add(ADA, `minute ${minute}`);
      await settle();
      bench.clock.advance(59_000);
      await settle();
    }
    expect(bench.flushes).toEqual({ forced: 1 });
  });

  it("writes when too many bytes are in memory", async () => {
    const bench = await open({ hybrid: { maxSize: 1000, maxBytes: 20_000 } });
    for (let round = 0; round < 30; round++) {
      await bench.add(ADA, `round ${round}`);
      await settle();
    }
    expect(bench.flushes["bytes"]).toBeGreaterThan(0);
    expect(bench.pipeline.stats.hybrid.bytes).toBeLessThan(20_000);
  });

  it("keeps everything readable, and delays no add and no question, while a flush hangs", async () => {
    const store = await openStore();
    let release = (): void => {};
    const gate = new Promise<void>((resolve) => {
      release = resolve;
    });
    const stalling = new Proxy(store, {
      get(target, name) {
        const value = Reflect.get(target, name, target) as unknown;
        if (typeof value !== "function") return value;
        if (name !== "commit") return value.bind(target) as unknown;
        return async (...args: Parameters<Store["commit"]>) => {
          if (args[0].some(([write]) => write?.op === "index")) await gate;
          return target.commit(...args);
        };
      },
    });
    const bench = await open({ store: stalling });
    const ids = [];
    for (let round = 0; round < 5; round++) ids.push(...(await bench.add(ADA, `cat ${round}`)));
    await settle();
    expect(bench.pipeline.hybrid.isFlushing).toBe(true);
    expect((await bench.search(ADA, "cat")).cached.sort()).toEqual([...ids].sort());
    const [late] = await bench.add(ADA, "a late dog");
    await settle();
    expect((await bench.search(ADA, "dog")).cached[0]).toBe(late); // embedded while the flush hangs
    release();
    await settle();
    expect((await bench.search(ADA, "cat")).stored.sort()).toEqual([...ids].sort());
    expect((await bench.search(ADA, "dog")).cached).toEqual([late]);
    expect(bench.embedder.texts).toBe(6);
  });

  it("drops what was edited after it was embedded, and embeds the new text", async () => {
    const bench = await open();
    const [id] = await bench.add(ADA, "the cat sleeps");
    await settle();
    await bench.update(ADA, String(id), "the dog barks");
    expect((await bench.search(ADA, "cat")).cached).toEqual([]);
    await settle();
    await bench.pipeline.drain(undefined, "manual");
    const [cat, dog] = [await bench.search(ADA, "cat"), await bench.search(ADA, "dog")];
    expect(dog).toEqual({ cached: [], stored: [id] });
    expect(cat.stored).toEqual([id]); // the only item there is, but by its new vector
    expect((await bench.store.chunks([ADA.space], [String(id)], bench.clock.now()))[0]?.version).toBe(2);
  });

  it("takes up on start what an earlier process left, newest first", async () => {
    const bench = await open();
    const order: string[] = [];
    const { embed } = bench.embedder;
    bench.embedder.embed = function (this: HashEmbedder, texts, options) {
      order.push(...texts);
      return embed.call(this, texts, options);
    };
    for (const name of ["old", "middle", "new"]) await bench.commit({ space: { user: name }, session: "s" }, name);
    bench.pipeline.start();
    await settle();
    expect(order).toEqual(["new", "middle", "old"]);
    expect(bench.triggers).toEqual({ recovery: 3 });
  });

  it("looks from time to time for what others left", async () => {
    const bench = await open();
    bench.pipeline.start();
    await settle();
    await bench.commit(ADA, "left behind");
    bench.clock.advance(5_000);
    await settle();
    expect((await bench.search(ADA, "behind")).cached).toHaveLength(1);
  });
});

describe("writing through", () => {
  it("embeds and writes before the add resolves", async () => {
    const bench = await open({ enabled: false });
    const [id] = await bench.add(ADA, "the cat sleeps");
    expect(await bench.search(ADA, "cat")).toEqual({ cached: [], stored: [id] });
    expect(bench.triggers).toEqual({ through: 1 });
    expect(bench.flushes).toEqual({ through: 1 });
  });

  it("resolves when the embedder is down: the message is durable, and waits", async () => {
    const bench = await open({ enabled: false });
    bench.embedder.failNext(Number.POSITIVE_INFINITY);
    const adding = bench.add(ADA, "the cat sleeps");
    for (let step = 0; step < 20; step++) {
      await settle();
      bench.clock.advance(5_000);
    }
    await adding;
    expect((await bench.store.indexingStats()).pending).toBe(1);
  });
});

describe("faults", () => {
  it("wait for an embedder that is down, lose nothing, and go on by themselves when it is back", async () => {
    const bench = await open();
    bench.embedder.failNext(8);
    const [id] = await bench.add(ADA, "the cat sleeps");
    for (let step = 0; step < 60; step++) {
      await settle();
      bench.clock.advance(5_000);
    }
    await settle();
    const { cached, stored } = await bench.search(ADA, "cat");
    expect([...cached, ...stored]).toEqual([id]);
    expect((await bench.store.indexingStats()).parked).toBe(0);
    expect(bench.pipeline.stats.embedder.circuit).toBe("closed");
  });

  it("park a text that the model refuses, and nothing waits behind it", async () => {
    const bench = await open();
    bench.embedder.refuse((text) => text.includes("poison"));
    await bench.add(ADA, "before", "poison", "after");
    await bench.add(ADA, "later");
    await settle();
    expect((await bench.store.indexingStats()).parked).toBe(1);
    expect(bench.pipeline.stats.hybrid).toMatchObject({ itemCount: 3, itemsParked: 1 });
    const { items } = await bench.store.parked({ spaces: [ADA.space], limit: 10, now: bench.clock.now() });
    expect(items).toMatchObject([{ id: "m2", attempts: 1 }]);
    expect(items[0]?.retryAt).toBeUndefined();
    expect(JSON.stringify(items)).not.toContain("poison");
  });

  it("park a text that cannot be cut to the model's measure, and nothing waits behind it", async () => {
    const bench = await open({ embedder: new HashEmbedder({ tokensMax: 2 }) });
    await bench.add(ADA, "never", "  ");
    await settle();
    expect(await bench.store.indexingStats()).toMatchObject({ parked: 1 });
    expect(bench.pipeline.stats.hybrid).toMatchObject({ itemCount: 1, itemsParked: 1 }); // nothing to embed in blanks
  });

  it("park a text on which the embedder fails while it answers for others, and try it again by themselves", async () => {
    const bench = await open();
    const { embed } = bench.embedder;
    let broken = true;
    bench.embedder.embed = function (this: HashEmbedder, texts, options) {
      if (broken && texts.some((text) => text.includes("poison"))) this.failNext(1);
      return embed.call(this, texts, options);
    };
    await bench.add(ADA, "before", "poison", "after");
    for (let step = 0; step < 40 && bench.pipeline.stats.hybrid.itemsParked === 0; step++) {
      bench.clock.advance(500);
      await settle();
    }
    expect(bench.pipeline.stats.hybrid).toMatchObject({ itemCount: 2, itemsParked: 1 });
    const [parked] = (await bench.store.parked({ spaces: [ADA.space], limit: 10, now: bench.clock.now() })).items;
    expect(parked?.retryAt).toBeGreaterThan(bench.clock.now());
    broken = false;
    bench.pipeline.start();
    for (let step = 0; step < 20; step++) {
      await settle();
      bench.clock.advance(5_000);
    }
    await bench.pipeline.drain(undefined, "manual");
    expect(await bench.store.indexingStats()).toMatchObject({ pending: 0, parked: 0, embedded: 3 });
  });

  it.each(["failed", "busy", "unknown, not written", "unknown, written"] as const)(
    "of the store at a flush (%s) keep everything searchable, and it is written when the store is back",
    async (fault) => {
      const store = new FaultyStore(await openStore());
      const bench = await open({ store });
      const ids = [];
      for (let round = 0; round < 4; round++) ids.push(...(await bench.add(ADA, `cat ${round}`)));
      await settle();
      const [last] = await bench.commit(ADA, "cat 4");
      ids.push(String(last));
      store.failCommits(fault, 3);
      await bench.pipeline.added(ADA, 1); // the fifth round: the flush is due
      for (let second = 0; second < 30; second++) {
        await settle();
        const { cached, stored } = await bench.search(ADA, "cat");
        expect(new Set([...cached, ...stored])).toEqual(new Set(ids));
        bench.clock.advance(1_000);
      }
      await settle();
      expect(await bench.store.indexingStats()).toMatchObject({ pending: 0, embedded: 5, parked: 0 });
      expect(bench.embedder.texts).toBe(5); // nothing was embedded twice
    },
  );

  it("never keep a vector of wrong dimensions", async () => {
    const bench = await open();
    await bench.add(ADA, "the cat sleeps");
    await settle();
    bench.embedder.dimensions = 32;
    await bench.add(ADA, "the dog barks");
    for (let step = 0; step < 20; step++) {
      await settle();
      bench.clock.advance(5_000);
    }
    expect(bench.pipeline.stats.embedder.lastError).toContain("dimensions");
    expect((await bench.store.indexingStats()).embedded).toBeLessThanOrEqual(1);
    bench.embedder.dimensions = 64;
    for (let step = 0; step < 30; step++) {
      await settle();
      bench.clock.advance(5_000);
    }
    await bench.pipeline.drain(undefined, "manual");
    expect(await bench.store.indexingStats()).toMatchObject({ pending: 0, embedded: 2 });
  });

  it("refuse a store that holds vectors of another space, and change nothing", async () => {
    const bench = await open();
    const vectorSpace = { model: "another", runtime: "another", dimensions: 3 };
    await bench.keep(vectorSpace);
    await bench.add(ADA, "the cat sleeps");
    await settle();
    expect(bench.pipeline.fault?.code).toBe("vector_space");
    expect(await bench.store.indexingStats()).toMatchObject({ pending: 1, vectorSpace });
  });
});

describe("closing", () => {
  it("transfers and writes what this process took in, and lets go of its leases", async () => {
    const bench = await open({ round: { eager: false } });
    await bench.add(ADA, "the cat sleeps");
    await bench.pipeline.finish(5_000);
    await bench.pipeline.release();
    expect(await bench.store.indexingStats()).toMatchObject({ pending: 0, embedded: 1 });
    expect(bench.triggers).toEqual({ close: 1 });
    expect(bench.clock.pending).toBe(0);
  });

  it("ends at the deadline when the embedder hangs: the rest is pending on disk", async () => {
    const bench = await open();
    bench.embedder.stall();
    await bench.add(ADA, "the cat sleeps");
    await settle();
    const finished = bench.pipeline.finish(5_000).then(() => bench.pipeline.release());
    await settle();
    bench.clock.advance(5_000);
    await settle();
    bench.clock.advance(1_000);
    await finished;
    expect(await bench.store.indexingStats()).toMatchObject({ pending: 1, embedded: 0 });
    const [lane] = await bench.store.waiting("somebody else", 10, bench.clock.now());
    expect(lane?.holder).toBeUndefined();
  });
});
