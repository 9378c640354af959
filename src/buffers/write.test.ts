/** The WriteBuffer on a store that fails on demand: every caller is told the truth, and nothing is dropped. */
import { describe, expect, it, onTestFinished } from "vitest";
import { HoldfastError } from "../errors.js";
import { SqliteStore } from "../stores/sqlite/store.js";
import type { AddWrite } from "../stores/store.js";
import { FakeClock } from "../testing/fake-clock.js";
import { FaultyStore } from "../testing/faulty-store.js";
import { GROUP_MESSAGES } from "./group.js";
import type { SizedUnit } from "./lanes.js";
import { type UnitResult, WriteBuffer } from "./write.js";

const ADA = { user: "ada" };
const MIB = 1024 * 1024;
const ONCE = { op: "once", space: ADA, session: "s", key: "k", hash: "h" } as const;

async function setUp(limits: { maxWaitingBytes?: number; maxWaitMs?: number } = {}) {
  const clock = new FakeClock();
  const inner = await SqliteStore.open({ path: ":memory:", busyTimeoutMs: 1_000 });
  onTestFinished(() => inner.close());
  const store = new FaultyStore(inner);
  const buffer = new WriteBuffer({ store, clock, maxWaitingBytes: 64 * MIB, maxWaitMs: 5_000, ...limits });
  return { clock, store, buffer };
}

function unit(id: string, session = "s", bytes = 100, messages = 1): SizedUnit {
  const items = Array.from({ length: messages }, (_, at) => ({
    id: messages === 1 ? id : `${id}.${at}`,
    kind: "message" as const,
    role: "user" as const,
    content: `content of ${id}`,
    metadata: {},
    tier: "episodic" as const,
    occurredAt: 0,
  }));
  const write: AddWrite = { op: "add", space: ADA, session, items, existing: "same" };
  return { unit: [write], messages, bytes };
}

const add = (buffer: WriteBuffer, id: string, lane = "s", bytes = 100) =>
  buffer.write({ lane, units: [unit(id, lane, bytes)], stepwise: false });

const codes = (results: readonly UnitResult[]): string[] => results.map((r) => (r.ok ? "ok" : r.error.code));
const turn = () => new Promise((resolve) => setImmediate(resolve));

async function stored(store: FaultyStore): Promise<string[]> {
  const request = { spaces: [ADA], filter: {}, sortBy: "arrival", order: "asc", limit: 1000, now: 0 } as const;
  return (await store.list(request)).items.map(({ id }) => id);
}

describe("group commit", () => {
  it("makes one commit of all that wait while another is under way", async () => {
    const { store, buffer } = await setUp();
    const release = store.stallCommits();
    const first = add(buffer, "first");
    await turn();
    await turn();
    const others = Array.from({ length: 50 }, (_, at) => add(buffer, `other ${at}`, `lane ${at % 5}`));
    release();
    await Promise.all([first, ...others]);
    expect(store.commits).toBe(2);
    expect(buffer.stats()).toMatchObject({ totalWrites: 51, totalMessages: 51, totalGroups: 2, waitingWrites: 0 });
  });

  it("reports how long the oldest call has waited, and nothing if none is waiting", async () => {
    const { clock, store, buffer } = await setUp();
    expect(buffer.stats()).not.toHaveProperty("oldestMs");
    const release = store.stallCommits();
    const first = add(buffer, "first");
    clock.advance(30);
    const second = add(buffer, "second");
    clock.advance(20);
    expect(buffer.stats()).toMatchObject({ waitingWrites: 2, oldestMs: 50, maxWaitingBytes: 64 * MIB });
    release();
    await Promise.all([first, second]);
    expect(buffer.stats()).not.toHaveProperty("oldestMs");
  });

  it("takes at most 256 messages or 1 MB into a group", async () => {
    const { store, buffer } = await setUp();
    const many = Array.from({ length: 6 }, (_, at) =>
      buffer.write({ lane: `${at}`, units: [unit(`u${at}`, "s", 100, GROUP_MESSAGES / 2)], stepwise: false }),
    );
    await Promise.all(many);
    const groupsByCount = store.commits;
    expect(groupsByCount).toBeGreaterThanOrEqual(3);
    const large = Array.from({ length: 4 }, (_, at) => add(buffer, `large ${at}`, `l${at}`, 0.6 * MIB));
    await Promise.all(large);
    expect(store.commits - groupsByCount).toBe(4);
  });

  it("stops a stepwise write at its first failure and writes nothing after it", async () => {
    const { store, buffer } = await setUp();
    await add(buffer, "taken");
    const conflicting = unit("taken");
    const [write] = conflicting.unit as readonly [AddWrite];
    const other = {
      ...conflicting,
      unit: [{ ...write, items: [{ ...write.items[0], content: "other" }] } as AddWrite],
    };
    const results = await buffer.write({ lane: "s", units: [unit("one"), other, unit("three")], stepwise: true });
    expect(codes(results)).toEqual(["ok", "conflict"]);
    expect(await stored(store)).toEqual(["taken", "one"]);
    expect(codes(await add(buffer, "after"))).toEqual(["ok"]);
  });

  it("answers a write of nothing", async () => {
    const { store, buffer } = await setUp();
    expect(await buffer.write({ lane: "s", units: [], stepwise: false })).toEqual([]);
    expect(store.commits).toBe(0);
  });
});

describe("a failing store", () => {
  it.each(["failed", "busy"] as const)(
    "that %s tells the group that nothing was written, and goes on",
    async (fault) => {
      const { store, buffer } = await setUp();
      store.failCommits(fault);
      const results = await Promise.all([add(buffer, "a", "x"), add(buffer, "b", "y")]);
      expect(results.map(codes)).toEqual([
        [fault === "busy" ? "busy" : "store_failed"],
        [fault === "busy" ? "busy" : "store_failed"],
      ]);
      expect(await stored(store)).toEqual([]);
      expect(codes(await add(buffer, "c"))).toEqual(["ok"]);
    },
  );

  it("whose commit was lost but written is reopened, and callers get their real answers", async () => {
    const { store, buffer } = await setUp();
    await add(buffer, "before");
    store.failCommits("unknown, written");
    const [[a], [b]] = await Promise.all([add(buffer, "a"), add(buffer, "b")]);
    expect(a).toMatchObject({ ok: true, done: [{ op: "add", ids: ["a"], sequences: [2] }] });
    expect(b).toMatchObject({ ok: true, done: [{ op: "add", ids: ["b"], sequences: [3] }] });
    expect(await stored(store)).toEqual(["before", "a", "b"]);
    expect(buffer.stats()).toMatchObject({ health: "ok", recoveries: 1 });
  });

  it("whose lost commit held a retry gives it the first answer, and names nothing that was never written", async () => {
    const { store, buffer } = await setUp();
    const keyed = (id: string): SizedUnit => ({
      ...unit(id),
      once: ONCE,
    });
    await buffer.write({ lane: "s", units: [keyed("first")], stepwise: false });
    store.failCommits("unknown, written");
    const units = [keyed("again"), unit("other"), { ...keyed("own"), once: { ...ONCE, key: "another" } }];
    const results = await buffer.write({ lane: "s", units, stepwise: false });
    expect(results).toMatchObject([
      { ok: true, repeated: true, done: [{ ids: ["first"], sequences: [1] }] },
      { ok: true, repeated: false, done: [{ ids: ["other"], sequences: [2] }] },
      { ok: true, repeated: false, done: [{ ids: ["own"], sequences: [3] }] },
    ]);
    expect(await stored(store)).toEqual(["first", "other", "own"]);
  });

  it("whose commit was lost and not written is reopened, and the group is written once", async () => {
    const { store, buffer } = await setUp();
    store.failCommits("unknown, not written");
    expect(codes(await add(buffer, "a"))).toEqual(["ok"]);
    expect(await stored(store)).toEqual(["a"]);
  });

  it("that loses every commit makes callers learn that nothing was written", async () => {
    const { store, buffer } = await setUp();
    store.failCommits("unknown, not written", 3);
    expect(codes(await add(buffer, "a"))).toEqual(["store_failed"]);
    expect(await stored(store)).toEqual([]);
    expect(codes(await add(buffer, "b"))).toEqual(["ok"]);
  });

  it("that cannot be reopened closes the door: in doubt stays in doubt, later writes are refused with the cause", async () => {
    const { store, buffer } = await setUp();
    store.failCommits("unknown, written");
    store.failReopens(100);
    const release = store.stallCommits();
    const first = add(buffer, "a");
    await turn();
    await turn();
    const second = add(buffer, "b", "other lane");
    release();
    expect(codes(await first)).toEqual(["outcome_unknown"]);
    expect(codes(await second)).toEqual(["store_failed"]);
    const refusal = (await add(buffer, "c").catch((error: unknown) => error)) as HoldfastError;
    expect(refusal).toMatchObject({ code: "store_failed" });
    expect(refusal.cause).toBeInstanceOf(HoldfastError);
    expect(buffer.stats()).toMatchObject({ health: "failed", waitingWrites: 0, waitingBytes: 0 });
    await buffer.close();
  });
});

describe("back-pressure", () => {
  it("makes callers wait for room, in order, and lets them in", async () => {
    const { store, buffer } = await setUp({ maxWaitingBytes: 1_000 });
    const release = store.stallCommits();
    const calls = Array.from({ length: 5 }, (_, at) => add(buffer, `${at}`, "s", 900));
    await turn();
    await turn();
    expect(buffer.stats()).toMatchObject({ waitingBytes: 900, waitingWrites: 1 });
    release();
    await Promise.all(calls);
    expect(await stored(store)).toEqual(["0", "1", "2", "3", "4"]);
  });

  it("makes room by writing, from the session that has waited longest since its turn, while others wait", async () => {
    const { store, buffer } = await setUp({ maxWaitingBytes: 2_400_000 });
    const large = 600_000; // a group has room for one
    const release = store.stallCommits();
    const units = ["a0", "a1", "a2"].map((id) => unit(id, "a", large));
    const calls = [buffer.write({ lane: "a", units, stepwise: false })];
    await turn();
    await turn();
    expect(store.heldCommits).toBe(1);
    calls.push(add(buffer, "b", "b", large), add(buffer, "c", "c", large));
    await turn();
    expect(buffer.stats()).toMatchObject({ waitingBytes: 2_400_000, waitingWrites: 2, waitingForRoom: 1 });
    release();
    expect((await Promise.all(calls)).flatMap(codes)).toEqual(["ok", "ok", "ok", "ok", "ok"]);
    expect(await stored(store)).toEqual(["a0", "a1", "b", "a2", "c"]);
    expect(buffer.stats()).toMatchObject({ waitingBytes: 0, waitingForRoom: 0, refused: 0 });
  });

  it("refuses calls that have waited too long, with a clear error, and drops nothing else", async () => {
    const { clock, store, buffer } = await setUp({ maxWaitingBytes: 1_000, maxWaitMs: 50 });
    const release = store.stallCommits();
    const accepted = add(buffer, "accepted", "s", 900);
    await turn();
    const refused = add(buffer, "refused", "s", 900);
    const outcome = refused.catch((error: unknown) => error);
    clock.advance(49);
    expect(buffer.stats().refused).toBe(0);
    clock.advance(2);
    expect(await outcome).toMatchObject({ code: "overloaded", retryable: true });
    release();
    expect(codes(await accepted)).toEqual(["ok"]);
    expect(await stored(store)).toEqual(["accepted"]);
    expect(buffer.stats()).toMatchObject({ refused: 1, waitingBytes: 0 });
    expect(clock.pending).toBe(0);
  });

  it("lets in a write that is larger than all the room there is, when nothing else waits", async () => {
    const { buffer } = await setUp({ maxWaitingBytes: 10 });
    expect(codes(await add(buffer, "huge", "s", 10_000))).toEqual(["ok"]);
  });
});

describe("close", () => {
  it("writes what was accepted, refuses who waits for room and who comes later", async () => {
    const { store, buffer } = await setUp({ maxWaitingBytes: 1_000 });
    const release = store.stallCommits();
    const accepted = add(buffer, "accepted", "s", 900);
    await turn();
    const waiting = add(buffer, "waiting", "s", 900).catch((error: unknown) => error);
    const closed = buffer.close();
    expect(await waiting).toMatchObject({ code: "closed" });
    await expect(add(buffer, "late")).rejects.toMatchObject({ code: "closed" });
    release();
    await closed;
    expect(codes(await accepted)).toEqual(["ok"]);
    expect(buffer.stats().health).toBe("closed");
  });

  it("flushAll resolves when everything accepted is written", async () => {
    const { store, buffer } = await setUp();
    const calls = Array.from({ length: 20 }, (_, at) => add(buffer, `${at}`, `lane ${at}`));
    await buffer.flushAll();
    expect(await stored(store)).toHaveLength(20);
    await Promise.all(calls);
  });
});
