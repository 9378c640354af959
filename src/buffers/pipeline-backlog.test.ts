/** A backlog of more sessions than are looked at, or leased, at a time: it is worked off without waiting for any timer. */
import { expect, it, onTestFinished } from "vitest";
import { GuardedEmbedder } from "../embedding/guarded.js";
import { SqliteStore } from "../stores/sqlite/store.js";
import type { Store } from "../stores/store.js";
import { FakeClock } from "../testing/fake-clock.js";
import { HashEmbedder } from "../testing/hash-embedder.js";
import { Meter } from "./meter.js";
import { Pipeline } from "./pipeline.js";

const SESSIONS = 4_000;
const PER_UNIT = 500;

const laneOf = (number: number) => ({ space: { user: "ada" }, session: `session ${number}` });

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** A store that takes its time to write vectors. */
async function slowStore(turns: number): Promise<Store> {
  const store = await SqliteStore.open({ path: ":memory:", busyTimeoutMs: 1_000 });
  onTestFinished(() => store.close());
  const commit = store.commit.bind(store);
  store.commit = async (...args) => {
    const isIndex = args[0].some((unit) => unit.some(({ op }) => op === "index"));
    for (let left = isIndex ? turns : 1; left > 0; left--) await turn();
    return commit(...args);
  };
  return store;
}

/** A store in which every session has one message that waits. */
async function waitingStore(now: number, turns: number): Promise<Store> {
  const store = await slowStore(turns);
  for (let first = 0; first < SESSIONS; first += PER_UNIT) {
    const units = Array.from({ length: PER_UNIT }, (_, at) => {
      const item = { id: `m${first + at}`, kind: "message", role: "user", content: `boat ${first + at}` } as const;
      const row = { ...item, metadata: {}, tier: "episodic", occurredAt: now } as const;
      return [{ op: "add", ...laneOf(first + at), items: [row], existing: "same" } as const];
    });
    await store.commit(units, now, `g${first}`);
  }
  return store;
}

function pipelineOn(store: Store, clock: FakeClock, maxSize: number): Pipeline {
  return new Pipeline({
    store,
    clock,
    meter: new Meter(clock),
    embedder: new GuardedEmbedder(new HashEmbedder(), { clock }),
    countTokens: async (texts) => texts.map(() => 1),
    enabled: true,
    roundBuffer: { maxTokens: 800, maxSize: 5, idleMs: 60_000, eager: true },
    hybridBuffer: {
      ...{ maxSize, maxBytes: 32 * 1024 * 1024, idleMs: 60_000, forceMs: 1_800_000, leaseMs: 10_000 },
      chunkStrategy: "message",
    },
    onFlushed: () => {},
  });
}

it("is embedded and written to the last session even if writing is slower than embedding", async () => {
  const clock = new FakeClock();
  const store = await waitingStore(clock.now(), 20);
  const pipeline = pipelineOn(store, clock, 5);
  pipeline.start();
  while (pipeline.hybrid.stats.itemsWritten < SESSIONS) await turn();
  expect(await store.indexingStats()).toMatchObject({ pending: 0, embedded: SESSIONS });
  await pipeline.finish(0);
  await pipeline.release();
});

it("holds few more leases than the work in flight needs", async () => {
  const clock = new FakeClock();
  const pipeline = pipelineOn(await waitingStore(clock.now(), 1), clock, 5);
  let spareMax = 0;
  pipeline.start();
  while (pipeline.hybrid.stats.itemsWritten < SESSIONS) {
    spareMax = Math.max(spareMax, pipeline.leases.count - pipeline.hybrid.queuedLanes);
    await turn();
  }
  expect(spareMax).toBeLessThan(SESSIONS / 2);
  await pipeline.finish(0);
  await pipeline.release();
});

it("is embedded to the last session even while none of it is due to be written", async () => {
  const clock = new FakeClock();
  const store = await waitingStore(clock.now(), 20);
  const pipeline = pipelineOn(store, clock, 10_000);
  pipeline.start();
  while (pipeline.hybrid.stats.itemCount < SESSIONS) await turn();
  expect(await store.indexingStats()).toMatchObject({ pending: SESSIONS, embedded: 0 });
  await pipeline.drain(undefined, "manual");
  expect(await store.indexingStats()).toMatchObject({ pending: 0, embedded: SESSIONS });
  await pipeline.finish(0);
  await pipeline.release();
});
