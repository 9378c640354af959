/** The OutboxDispatcher between a store and an index that both fail on demand: in order per item, until acknowledged. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { HoldfastError } from "../errors.js";
import { chunkId } from "../retrieval/chunks/id.js";
import type { AcknowledgeWrite, ClaimWrite, Holder, IndexingDone, OutboxRow } from "../stores/indexing.js";
import type { Write } from "../stores/store.js";
import type { FoundPoint, Point, VectorIndex } from "../stores/vector-index.js";
import { FakeClock } from "../testing/fake-clock.js";
import type { VectorSpace } from "../types.js";
import { OutboxDispatcher } from "./outbox.js";

const SPACE: VectorSpace = { model: "m", runtime: "r", dimensions: 2 };
const SPACE_ID = "0197a3b0-0000-7000-8000-00000000000a";
const POLL_MS = 5_000;
const HOUR_MS = 3_600_000;

/** Lets everything happen that waits for nothing but promises. */
const turn = () => new Promise((resolve) => setImmediate(resolve));

interface Row {
  readonly sequence: number;
  readonly key: number;
  readonly deleted?: number;
  attempts: number;
  retryAt: number;
}

/** The outbox half of a store: an upsert is read as its item is now, as in the real ones. */
class OutboxStore {
  readonly items = new Map<number, { readonly version: number; readonly vectors: Float32Array }>();
  rows: Row[] = [];
  readonly writes: Write[] = [];
  reads = 0;
  holder: Holder | undefined;
  failures = 0;
  /** Called by each read, before it answers. */
  onRead: () => unknown = () => {};
  onClaim: () => void = () => {};
  #fence = 0;
  #sequence = 0;
  #version = 0;

  /** New text with so many chunks; 0: the item is forgotten. */
  edit(key: number, parts: number): void {
    const before = this.items.get(key);
    if (before) this.#queue({ key, deleted: before.vectors.length / SPACE.dimensions });
    this.items.delete(key);
    if (parts === 0) return;
    const version = ++this.#version;
    const numbers = Array.from({ length: parts * SPACE.dimensions }, (_, at) => version * 100 + at);
    this.items.set(key, { version, vectors: Float32Array.from(numbers) });
    this.#queue({ key });
  }

  #queue(row: Pick<Row, "key" | "deleted">): void {
    this.rows.push({ ...row, sequence: ++this.#sequence, attempts: 0, retryAt: 0 });
  }

  read = async (limit: number, _maxBytes: number, now: number): Promise<readonly OutboxRow[]> => {
    this.reads++;
    this.#fail();
    const delayed = new Set<number>();
    const due = this.rows.filter(({ key, retryAt }) => {
      if (retryAt > now) delayed.add(key);
      return !delayed.has(key);
    });
    const answer = due.slice(0, limit).map((row) => this.#toRow(row));
    this.onRead();
    return answer;
  };

  commit = async (write: Write): Promise<IndexingDone> => {
    this.#fail();
    this.writes.push(write);
    if (write.op === "claim") {
      this.onClaim();
      return this.#claim(write);
    }
    if (write.op === "acknowledge") return this.#acknowledge(write);
    if (write.op === "beat") return { op: "beat", alive: true };
    throw new Error(`the dispatcher has no business with ${write.op}`);
  };

  /** Another process takes the lane over. */
  evict(): void {
    this.#fence++;
    this.holder = { id: "other", process: "other", beat: 1 };
  }

  #claim({ owner, evict }: ClaimWrite): IndexingDone {
    const { holder } = this;
    if (holder && evict.some(({ owner: id, beat }) => id === holder.id && beat === holder.beat))
      this.holder = undefined;
    if (this.holder && this.holder.id !== owner.id) return { op: "claim", claims: [{ holder: this.holder }] };
    if (!this.holder) this.#fence++;
    this.holder = { ...owner, beat: 0 };
    return { op: "claim", claims: [{ fence: this.#fence }] };
  }

  #acknowledge({ owner, fence, sent, failed }: AcknowledgeWrite): IndexingDone {
    if (this.holder?.id !== owner || fence !== this.#fence) return { op: "acknowledge", fenced: true };
    this.rows = this.rows.filter(({ sequence }) => !sent.includes(sequence));
    for (const { sequence, retryAt } of failed) {
      const row = this.rows.find((other) => other.sequence === sequence);
      if (row) Object.assign(row, { attempts: row.attempts + 1, retryAt });
    }
    return { op: "acknowledge", fenced: false };
  }

  #fail(): void {
    if (this.failures < 1) return;
    this.failures--;
    throw new HoldfastError("store_failed", "the store was told to fail");
  }

  #toRow({ sequence, key, deleted, attempts }: Row): OutboxRow {
    const place = { sequence, space: { user: "ada" }, spaceId: SPACE_ID, key, attempts };
    if (deleted !== undefined) return { ...place, change: { kind: "delete", parts: deleted } };
    const item = this.items.get(key);
    if (!item) return { ...place, change: { kind: "upsert", id: `${key}`, version: 0, parts: 0 } };
    const { version, vectors } = item;
    const parts = vectors.length / SPACE.dimensions;
    return { ...place, change: { kind: "upsert", id: `${key}`, version, vectors, parts } };
  }

  /** What an index should hold in the end: version and vector by point id. */
  expected(): Map<string, readonly number[]> {
    const points = [...this.items].flatMap(([key, { version, vectors }]) =>
      Array.from({ length: vectors.length / SPACE.dimensions }, (_, part): [string, readonly number[]] => {
        const vector = vectors.subarray(part * SPACE.dimensions, (part + 1) * SPACE.dimensions);
        return [chunkId(SPACE_ID, key, part), [version, ...vector]];
      }),
    );
    return new Map(points.toSorted(([a], [b]) => a.localeCompare(b)));
  }
}

const refusal = () => new HoldfastError("index_failed", "will not have it", { details: { refused: true } });

/** fails: nothing applied · half: some of it applied · lost: all of it applied, and nobody told. */
type IndexFault = "none" | "fails" | "half" | "lost";

class FaultyIndex implements VectorIndex {
  readonly name = "faulty";
  readonly points = new Map<string, Point>();
  readonly calls: string[] = [];
  readonly refusedKeys = new Set<number>();
  refusesDeletes = false;
  faults: IndexFault[] = [];
  prepareFaults: HoldfastError[] = [];
  isDown = false;
  gate: Promise<void> = Promise.resolve();
  readonly #newest = new Map<number, number>();

  async prepare(): Promise<void> {
    this.calls.push("prepare");
    const fault = this.prepareFaults.shift();
    if (fault) throw fault;
  }

  async upsert(points: readonly Point[]): Promise<void> {
    this.calls.push(`upsert ${[...new Set(points.map(({ key }) => key))].join(" ")}`);
    await this.gate;
    if (points.some(({ key }) => this.refusedKeys.has(key))) throw refusal();
    this.#change(points, (point) => {
      const newest = this.#newest.get(point.key) ?? 0;
      if (point.version < newest) throw new Error(`item ${point.key} went back from ${newest} to ${point.version}`);
      this.#newest.set(point.key, point.version);
      this.points.set(point.id, { ...point, vector: point.vector.slice() });
    });
  }

  async delete(ids: readonly string[]): Promise<void> {
    this.calls.push(`delete ${ids.length}`);
    await this.gate;
    if (this.refusesDeletes) throw refusal();
    this.#change(ids, (id) => this.points.delete(id));
  }

  async search(): Promise<readonly FoundPoint[]> {
    return [];
  }

  async close(): Promise<void> {}

  #change<T>(all: readonly T[], apply: (one: T) => void): void {
    const fault = this.isDown ? "fails" : (this.faults.shift() ?? "none");
    const reach = { none: all.length, fails: 0, half: all.length >> 1, lost: all.length }[fault];
    for (const one of all.slice(0, reach)) apply(one);
    if (fault !== "none") throw new HoldfastError("index_failed", `told to be ${fault}`);
  }

  state(): Map<string, readonly number[]> {
    const points = [...this.points].map(([id, { version, vector }]): [string, readonly number[]] => [
      id,
      [version, ...vector],
    ]);
    return new Map(points.toSorted(([a], [b]) => a.localeCompare(b)));
  }
}

function setUp({ judge = () => false }: { judge?: (holder: Holder) => boolean } = {}) {
  const clock = new FakeClock();
  const store = new OutboxStore();
  const index = new FaultyIndex();
  const dispatcher = new OutboxDispatcher({
    commit: store.commit,
    read: store.read,
    vectorSpace: async () => SPACE,
    index,
    clock,
    owner: { id: "me", process: "1" },
    judge,
    random: () => 1, // the longest of all jitters
  });
  const pass = async (ms: number) => {
    clock.advance(ms);
    await turn();
  };
  return { clock, store, index, dispatcher, pass };
}

describe("the outbox", () => {
  it("is sent, acknowledged in one write, and then quiet but for a slow look", async () => {
    const { clock, store, index, dispatcher, pass } = setUp();
    for (const key of [1, 2, 3]) store.edit(key, 2);
    dispatcher.notify();
    await turn();
    expect(index.state()).toEqual(store.expected());
    expect(index.calls).toEqual(["prepare", "upsert 1 2 3"]);
    expect(store.writes.map(({ op }) => op)).toEqual(["claim", "acknowledge"]);
    expect(dispatcher.stats()).toEqual({ sent: 3, failed: 0, retries: 0, state: "idle" });
    expect(clock.pending).toBe(1);

    const { reads } = store;
    await pass(POLL_MS);
    expect(store.reads).toBe(reads + 1);
    expect(store.writes).toHaveLength(2);
  });

  it("finds rows that another process has left, without a notification", async () => {
    const { store, index, dispatcher, pass } = setUp();
    dispatcher.notify();
    await turn();
    expect(index.calls).toEqual([]);
    store.edit(1, 1);
    await pass(POLL_MS);
    expect(index.state()).toEqual(store.expected());
  });

  it("misses no notification that arrives during its last poll", async () => {
    for (let moment = 0; moment < 12; moment++) {
      const { store, index, dispatcher } = setUp();
      store.onRead = async () => {
        if (store.reads !== 1) return;
        for (let at = 0; at < moment; at++) await undefined;
        store.edit(1, 1);
        dispatcher.notify();
      };
      dispatcher.notify();
      await turn();
      expect(index.state(), `moment ${moment}`).toEqual(store.expected());
      expect(store.rows).toEqual([]);
    }
  });

  it("sends more than one batch", async () => {
    const { store, index, dispatcher } = setUp();
    for (let key = 1; key <= 1000; key++) store.edit(key, 1);
    expect(await dispatcher.drain(1_000)).toBe(true);
    expect(index.points.size).toBe(1000);
    expect(index.calls.filter((call) => call.startsWith("upsert"))).toHaveLength(4);
  });

  it("takes the old parts away when an item has fewer of them", async () => {
    const { store, index, dispatcher } = setUp();
    store.edit(1, 5);
    await dispatcher.drain(1_000);
    store.edit(1, 2);
    await dispatcher.drain(1_000);
    expect(index.points.size).toBe(2);
    expect(index.state()).toEqual(store.expected());
  });

  it("acknowledges what is superseded without sending it", async () => {
    const { store, index, dispatcher } = setUp();
    store.edit(1, 3);
    store.edit(1, 0);
    store.edit(2, 1);
    store.edit(2, 2);
    expect(await dispatcher.drain(1_000)).toBe(true);
    expect(index.calls).toEqual(["prepare", "delete 4", "upsert 2"]);
    expect(index.state()).toEqual(store.expected());
    expect(store.rows).toEqual([]);
  });

  it("sends again what was applied but not acknowledged, and leaves the same behind", async () => {
    const { store, index, dispatcher, pass } = setUp();
    store.edit(1, 2);
    index.faults = ["lost"];
    dispatcher.notify();
    await turn();
    expect(store.rows).toHaveLength(1);
    expect(dispatcher.stats()).toMatchObject({ sent: 0, retries: 1, lastError: "told to be lost", state: "waiting" });
    await pass(1_000);
    expect(store.rows).toEqual([]);
    expect(index.state()).toEqual(store.expected());
    expect(index.calls).toEqual(["prepare", "upsert 1", "upsert 1"]);
  });

  it("sends again if it is the store that does not take the acknowledgement", async () => {
    const { store, index, dispatcher, pass } = setUp();
    store.edit(1, 2);
    let open = (): void => {};
    index.gate = new Promise((resolve) => {
      open = resolve;
    });
    dispatcher.notify();
    await turn();
    store.failures = 1;
    open();
    await turn();
    expect(store.rows).toHaveLength(1);
    await pass(1_000);
    expect(store.rows).toEqual([]);
    expect(index.state()).toEqual(store.expected());
  });
});

describe("an index that is down", () => {
  it("is asked less and less often, up to once a minute, and gets everything when it is back", async () => {
    const { store, index, dispatcher, pass } = setUp();
    index.isDown = true;
    store.edit(1, 1);
    dispatcher.notify();
    await turn();
    for (const seconds of [1, 2, 4, 8, 16, 32, 60, 60]) {
      const calls = index.calls.length;
      dispatcher.notify();
      await pass(seconds * 1_000 - 1);
      expect(index.calls).toHaveLength(calls);
      store.edit(2, seconds);
      await pass(1);
      expect(index.calls.length).toBeGreaterThan(calls);
    }
    expect(dispatcher.stats()).toMatchObject({ sent: 0, failed: 0, retries: 9, state: "waiting" });
    index.isDown = false;
    await pass(60_000);
    expect(index.state()).toEqual(store.expected());
    expect(dispatcher.stats()).toMatchObject({ state: "idle", failed: 0 });

    index.isDown = true;
    store.edit(3, 1);
    dispatcher.notify();
    await turn();
    index.isDown = false;
    await pass(1_000);
    expect(index.state()).toEqual(store.expected());
  });

  it("is asked for its room again, until it could be made", async () => {
    const { store, index, dispatcher, pass } = setUp();
    index.prepareFaults = [new HoldfastError("index_failed", "not yet")];
    store.edit(1, 1);
    dispatcher.notify();
    await turn();
    expect(dispatcher.stats()).toMatchObject({ state: "waiting", lastError: "not yet" });
    await pass(1_000);
    expect(index.calls).toEqual(["prepare", "prepare", "upsert 1"]);
  });

  it("blocks the queue if it holds other vectors, and is asked again after a minute", async () => {
    const { store, index, dispatcher, pass } = setUp();
    index.prepareFaults = [new HoldfastError("vector_space", "other vectors")];
    store.edit(1, 1);
    dispatcher.notify();
    await turn();
    expect(dispatcher.stats()).toMatchObject({ state: "blocked", lastError: "other vectors", sent: 0 });
    await pass(59_999);
    expect(index.calls).toEqual(["prepare"]);
    await pass(1);
    expect(index.state()).toEqual(store.expected());
  });
});

describe("an item that the index refuses", () => {
  it("waits alone, and the others go on", async () => {
    const { store, index, dispatcher, pass } = setUp();
    for (let key = 1; key <= 20; key++) store.edit(key, 1);
    index.refusedKeys.add(7);
    expect(await dispatcher.drain(1_000)).toBe(true);
    expect(index.points.size).toBe(19);
    expect(store.rows).toMatchObject([{ key: 7, attempts: 1 }]);
    expect(dispatcher.stats()).toMatchObject({ sent: 19, failed: 1, lastError: "will not have it", state: "idle" });

    store.edit(7, 2);
    store.edit(8, 2);
    await dispatcher.drain(1_000);
    expect(new Set(store.rows.map(({ key }) => key))).toEqual(new Set([7]));
    expect(index.points.size).toBe(20);

    index.refusedKeys.clear();
    await pass(60_000);
    await pass(POLL_MS);
    expect(index.state()).toEqual(store.expected());
    expect(store.rows).toEqual([]);
  });

  it("loses its old points all the same", async () => {
    const { store, index, dispatcher } = setUp();
    store.edit(1, 3);
    await dispatcher.drain(1_000);
    index.refusedKeys.add(1);
    store.edit(1, 2);
    store.edit(2, 1);
    await dispatcher.drain(1_000);
    expect([...index.points.values()].map(({ key }) => key)).toEqual([2]);
    expect(store.rows).toMatchObject([{ key: 1, attempts: 1 }]);
    expect(store.rows[0]?.deleted).toBeUndefined();
  });

  it("is held up by the very row that is refused, and by none before it", async () => {
    const { store, index, dispatcher } = setUp();
    index.refusedKeys.add(1);
    store.edit(1, 2);
    store.edit(1, 3);
    await dispatcher.drain(1_000);
    expect(store.rows).toMatchObject([{ sequence: 3, attempts: 1 }]);

    index.refusesDeletes = true;
    store.edit(2, 1);
    store.edit(2, 2);
    await dispatcher.drain(1_000);
    expect(store.rows.filter(({ key }) => key === 2)).toMatchObject([{ deleted: 1, attempts: 1 }, { attempts: 0 }]);
  });

  it("is tried less and less often, at least once an hour", async () => {
    const { clock, store, index, dispatcher, pass } = setUp();
    index.refusedKeys.add(1);
    store.edit(1, 1);
    dispatcher.notify();
    await turn();
    const waits: number[] = [];
    while (waits.length < 9) {
      const wait = (store.rows[0]?.retryAt ?? 0) - clock.now();
      waits.push(wait / 60_000);
      await pass(wait);
      await pass(POLL_MS);
    }
    expect(waits).toEqual([1, 2, 4, 8, 16, 32, 60, 60, 60]);
  });
});

describe("the lane of the outbox", () => {
  it("is left to a living holder, and taken over from one that is gone", async () => {
    let isGone = false;
    const { store, index, dispatcher, pass } = setUp({ judge: ({ id }) => id === "other" && isGone });
    store.evict();
    store.edit(1, 1);
    dispatcher.notify();
    await turn();
    expect(dispatcher.stats().state).toBe("blocked");
    await pass(POLL_MS);
    expect(index.calls).toEqual([]);
    isGone = true;
    await pass(POLL_MS);
    expect(index.state()).toEqual(store.expected());
    expect(store.writes.filter((write) => write.op === "claim" && write.evict.length > 0)).toHaveLength(1);
  });

  it("is taken before the rows are read that are sent", async () => {
    const { store, index, dispatcher } = setUp();
    store.edit(1, 1);
    store.onClaim = () => {
      store.rows = []; // whoever had it has sent them all
    };
    expect(await dispatcher.drain(1_000)).toBe(true);
    expect(index.calls).toEqual([]);
  });

  it("is given up after a takeover, and claimed again later", async () => {
    const { store, index, dispatcher, pass } = setUp({ judge: () => false });
    store.edit(1, 1);
    await dispatcher.drain(1_000);
    store.evict();
    store.edit(2, 1);
    expect(await dispatcher.drain(1_000)).toBe(false);
    expect(store.rows).toHaveLength(1);
    expect(dispatcher.stats()).toMatchObject({ state: "blocked", sent: 1 });
    store.holder = undefined;
    await pass(POLL_MS);
    expect(store.rows).toEqual([]);
    expect(index.state()).toEqual(store.expected());
  });

  it("is shown to be held before rows are sent after a long silence, so that a stopped process sends none", async () => {
    const { clock, store, index, dispatcher } = setUp();
    store.edit(1, 1);
    await dispatcher.drain(1_000);
    store.evict();
    store.edit(2, 1);
    clock.set(clock.now() - HOUR_MS);
    clock.advance(POLL_MS);
    await turn();
    expect(dispatcher.stats().state).toBe("blocked");
    expect(index.calls).toEqual(["prepare", "upsert 1"]);
  });
});

describe("a slow index", () => {
  it("does not make the process look silent, and beats end with the batch", async () => {
    const { clock, store, index, dispatcher, pass } = setUp();
    let open = (): void => {};
    index.gate = new Promise((resolve) => {
      open = resolve;
    });
    store.edit(1, 1);
    dispatcher.notify();
    await turn();
    await pass(10_000);
    expect(store.writes.map(({ op }) => op)).toEqual(["claim", "beat", "beat", "beat"]);
    store.failures = 1;
    await pass(3_000);
    expect(dispatcher.stats()).toMatchObject({ state: "sending", lastError: "the store was told to fail" });
    open();
    await turn();
    expect(store.rows).toEqual([]);
    expect(clock.pending).toBe(1);
  });
});

describe("draining and closing", () => {
  it("does not wait for an index beyond the deadline", async () => {
    const { clock, store, index, dispatcher } = setUp();
    index.gate = new Promise(() => {});
    store.edit(1, 1);
    const drained = dispatcher.drain(1_000);
    await turn();
    clock.advance(1_000);
    expect(await drained).toBe(false);
    expect(store.rows).toHaveLength(1);
  });

  it("tries at once, and does not wait for a failing index", async () => {
    const { store, index, dispatcher } = setUp();
    index.isDown = true;
    store.edit(1, 1);
    expect(await dispatcher.drain(1_000)).toBe(false);
    index.isDown = false;
    expect(await dispatcher.drain(1_000)).toBe(true);
    expect(store.rows).toEqual([]);
  });

  it("stops without waiting for the index, and leaves no timer", async () => {
    const { clock, store, index, dispatcher, pass } = setUp();
    index.gate = new Promise(() => {});
    store.edit(1, 1);
    dispatcher.notify();
    await turn();
    await dispatcher.close();
    await dispatcher.close();
    expect(clock.pending).toBe(0);
    const { reads } = store;
    dispatcher.notify();
    await pass(HOUR_MS);
    expect(store.reads).toBe(reads);
    expect(await dispatcher.drain(10)).toBe(false);
    expect(store.rows).toHaveLength(1);
    expect(store.writes.map(({ op }) => op)).toEqual(["claim"]);
  });
});

describe("any failure, in any order", () => {
  const KEYS = [1, 2, 3, 4, 5];
  const key = fc.constantFrom(...KEYS);
  const step = fc.oneof(
    {
      weight: 5,
      arbitrary: fc.record({ do: fc.constant("edit" as const), key, parts: fc.integer({ min: 0, max: 3 }) }),
    },
    { weight: 2, arbitrary: fc.record({ do: fc.constant("refuse" as const), key, isRefused: fc.boolean() }) },
    {
      weight: 1,
      arbitrary: fc.record({ do: fc.constant("fail the store" as const), times: fc.integer({ min: 1, max: 3 }) }),
    },
    { weight: 1, arbitrary: fc.record({ do: fc.constant("evict" as const) }) },
    { weight: 4, arbitrary: fc.record({ do: fc.constant("pass" as const), ms: fc.integer({ min: 0, max: 90_000 }) }) },
  );
  const faults = fc.array(fc.constantFrom<IndexFault>("none", "none", "fails", "half", "lost"), { maxLength: 40 });

  it("leaves the index with the last state of every item", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 60 }), faults, async (steps, planned) => {
        const { store, index, dispatcher, pass } = setUp({ judge: () => true });
        index.faults = [...planned];
        dispatcher.notify();
        for (const one of steps) {
          if (one.do === "edit") store.edit(one.key, one.parts);
          if (one.do === "refuse") index.refusedKeys[one.isRefused ? "add" : "delete"](one.key);
          if (one.do === "fail the store") store.failures += one.times;
          if (one.do === "evict") store.evict();
          if (one.do === "edit") dispatcher.notify();
          if (one.do === "pass") await pass(one.ms);
        }
        index.faults = [];
        index.refusedKeys.clear();
        store.failures = 0;
        for (let wait = 0; wait < 3 && store.rows.length > 0; wait++) await pass(HOUR_MS + POLL_MS);
        for (let wait = 0; wait < 3 && store.rows.length > 0; wait++) await pass(POLL_MS);
        expect(store.rows).toEqual([]);
        expect(index.state()).toEqual(store.expected());
        await dispatcher.close();
      }),
      { numRuns: 300 },
    );
  });
});
