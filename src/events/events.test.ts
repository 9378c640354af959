/** The events of a memory: in order, by space, and never with content. */
import { afterEach, describe, expect, it, vi } from "vitest";
import { type Memory, type OpenOptions, openMemory } from "../memory.js";
import { FakeClock } from "../testing/fake-clock.js";
import { HashEmbedder } from "../testing/hash-embedder.js";
import type { MemoryEvent, MissedEvents } from "./event.js";

const ADA = { user: "ada" };
const memories: Memory[] = [];
afterEach(async () => {
  for (const memory of memories.splice(0)) await memory.close();
});

async function open(options: OpenOptions = {}): Promise<Memory> {
  const buffer = {
    roundBuffer: { eager: false },
    hybridBuffer: { embeddingModel: "none" },
    speculative: { maxSize: 0 },
  };
  const memory = await openMemory({ path: ":memory:", clock: new FakeClock(1_000), buffer, ...options });
  memories.push(memory);
  return memory;
}

const say = (content: string) => [{ role: "user", content } as const];

describe("what moves through the buffers", () => {
  it("is reported step by step: added, transferred, flushed, edited, parked, replayed", async () => {
    const embedder = new HashEmbedder();
    const memory = await open({ embedder });
    const told: MemoryEvent[] = [];
    memory.events.subscribe((event) => told.push(event));
    const session = memory.session({ ...ADA, session: "s" });
    const here = { at: 1_000, space: ADA, session: "s" };

    const { ids } = await session.add([...say("a lamp"), ...say("a rope")]);
    expect(told.splice(0)).toEqual([{ ...here, type: "added", ids, kinds: ["message"] }]);
    await memory.flush();
    expect(told.splice(0)).toEqual([
      { ...here, type: "transferred", reason: "manual", ids },
      { ...here, type: "flushed", reason: "manual", ids },
    ]);

    const [id = ""] = ids;
    await session.update(id, { content: "a lantern" });
    await memory.flush();
    expect(told.splice(0)).toMatchObject([
      { type: "edited", space: ADA, id, version: 2 },
      { type: "transferred", ids: [id] },
      { type: "flushed", ids: [id] },
    ]);

    embedder.refuse((text) => text.includes("poison"));
    const { ids: poisoned } = await session.add([...say("poison"), ...say("bread")]);
    await memory.flush();
    expect(told.splice(0)).toMatchObject([
      { type: "added", ids: poisoned },
      { ...here, type: "parked", id: poisoned[0], code: "text_refused" },
      { type: "transferred", ids: [poisoned[1]] },
      { type: "flushed", ids: [poisoned[1]] },
    ]);
    embedder.refuse(() => false);
    expect(await session.replay()).toBe(1);
    await memory.flush();
    expect(told).toMatchObject([
      { type: "replayed", space: ADA, items: 1 },
      { type: "transferred", ids: [poisoned[0]] },
      { type: "flushed", ids: [poisoned[0]] },
    ]);
  });

  it("is reported for blocks, facts, turns, promotions, names and forgetting too", async () => {
    const memory = await open();
    const told: MemoryEvent[] = [];
    memory.events.subscribe((event) => told.push(event));
    const session = memory.session({ ...ADA, team: "crew", session: "s" });

    const block = await session.blocks.create({ name: "persona", content: "kind" });
    await session.blocks.edit("persona", { content: "stern", reason: "asked" });
    expect(told.splice(0)).toMatchObject([
      { type: "block", space: ADA, id: block.id, name: "persona", version: 1 },
      { type: "block", id: block.id, version: 2 },
    ]);

    const { fact } = await session.facts.upsert({ category: "home", content: "lives in Porto" });
    const next = await session.facts.upsert({ category: "home", content: "lives in Lisbon", supersedes: [fact.id] });
    await session.facts.upsert({ category: "home", content: "lives in Lisbon" });
    await session.facts.retract(next.fact.id);
    expect(told.splice(0)).toMatchObject([
      { type: "fact", space: ADA, id: fact.id, state: "holds" },
      { type: "fact", id: fact.id, state: "ended" },
      { type: "fact", id: next.fact.id, state: "holds" },
      { type: "fact", id: next.fact.id, state: "retracted" },
    ]);

    const turn = session.turn();
    turn.push({ op: "save_message", message: { role: "user", content: "hello" } });
    turn.push({ op: "edit_block", block: "persona", append: " and fair" });
    const { ids } = await session.commit(turn);
    await session.promote(ids, { to: { team: "crew" }, reason: "for all" });
    expect(told.splice(0)).toMatchObject([
      { type: "added", space: ADA, session: "s", ids },
      { type: "block", id: block.id, version: 3 },
      { type: "promoted", space: { team: "crew" }, ids },
    ]);

    await memory.sessions.rename(ADA, "s", "t");
    await session.delete([...ids, "not there"]);
    await session.delete(["not there"]);
    await session.blocks.delete("persona");
    await memory.session({ ...ADA, session: "t" }).add(say("once more"));
    await memory.forget({ ...ADA, session: "t" });
    await memory.users.rename("ada", "lovelace");
    await memory.forget({ user: "lovelace" });
    expect(told).toMatchObject([
      { type: "renamed", space: ADA, session: "s" },
      { type: "deleted", space: ADA, ids: [...ids, "not there"], items: 1, facts: 0 },
      { type: "forgotten", space: ADA, block: block.id, items: 0 },
      { type: "added", session: "t" },
      { type: "forgotten", space: ADA, session: "t", items: 1 },
      { type: "renamed", space: ADA },
      { type: "forgotten", space: { user: "lovelace" } },
    ]);
  });

  it("is not reported if nothing was written: a retry, a known fact", async () => {
    const memory = await open();
    const session = memory.session(ADA);
    await session.add(say("hello"), { idempotencyKey: "k" });
    const told: MemoryEvent[] = [];
    memory.events.subscribe((event) => told.push(event));
    await session.add(say("hello"), { idempotencyKey: "k" });
    expect(told).toEqual([]);
  });

  it("is reported before the writer gets its answer", async () => {
    const memory = await open();
    const order: string[] = [];
    memory.events.subscribe(({ type }) => order.push(type));
    await memory.session(ADA).add(say("hello"));
    order.push("answered");
    expect(order).toEqual(["added", "answered"]);
  });
});

it("never reports content", async () => {
  const embedder = new HashEmbedder();
  const memory = await open({ embedder });
  const told: MemoryEvent[] = [];
  memory.events.subscribe((event) => told.push(event));
  const secret = "xyzzy";
  const session = memory.session({ ...ADA, team: "crew", session: "s" });
  const parts = [
    { type: "text", text: secret },
    { type: "image", name: secret, description: secret },
  ];
  const metadata = { [secret]: secret };
  const { ids } = await session.add([{ role: "user", name: secret, content: parts, metadata }], {
    idempotencyKey: secret,
  });
  await session.addItems([{ kind: "knowledge", content: secret, metadata }]);
  embedder.failNext(0);
  embedder.refuse((text) => text.includes(secret));
  await memory.flush();
  embedder.refuse(() => false);
  await session.replay();
  await memory.flush();
  await session.update(ids[0] ?? "", { content: `${secret} again`, metadata, name: secret });
  await session.blocks.create({ name: "persona", content: secret, description: secret, reason: secret });
  await session.blocks.edit("persona", { append: secret, reason: secret });
  const { fact } = await session.facts.upsert({ category: secret, content: secret });
  await session.facts.end(fact.id);
  await session.promote(ids, { to: { team: "crew" }, reason: secret, actor: secret });
  await session.delete(ids);
  await session.blocks.delete("persona");
  await memory.flush();
  await memory.forget(ADA);
  const types = [
    "added",
    "block",
    "deleted",
    "edited",
    "fact",
    "flushed",
    "forgotten",
    "parked",
    "promoted",
    "replayed",
  ];
  expect([...new Set(told.map(({ type }) => type))].toSorted()).toEqual([...types, "transferred"]);
  expect(JSON.stringify(told)).not.toContain(secret);
});

describe("a listener", () => {
  it("with spaces gets events of these only, not of others with the same name or kind", async () => {
    const memory = await open();
    const told: string[] = [];
    const everything: string[] = [];
    memory.events.subscribe(({ space }) => told.push(JSON.stringify(space)), { spaces: [ADA, { team: "crew" }] });
    memory.events.subscribe(({ space }) => everything.push(JSON.stringify(space)));
    const scopes = [ADA, { agent: "ada" }, { team: "ada" }, { user: "adam" }, { team: "crew" }, { user: "crew" }];
    for (const scope of scopes) await memory.session(scope).add(say("hello"));
    expect(told).toEqual(['{"user":"ada"}', '{"team":"crew"}']);
    expect(everything).toEqual(scopes.map((scope) => JSON.stringify(scope)));
  });

  it("is refused if its spaces are empty or invalid", async () => {
    const memory = await open();
    expect(() => memory.events.subscribe(() => {}, { spaces: [] })).toThrow(/at least one/);
    expect(() => memory.events.stream({ spaces: [{ user: "" }] })).toThrow(/user/);
    expect(() => memory.events.stream({ capacity: 0 })).toThrow(/capacity/);
    expect(memory.service.events.isHeard).toBe(false);
  });

  it("that throws affects neither the write nor other listeners", async () => {
    const memory = await open();
    const later = vi.spyOn(globalThis, "queueMicrotask").mockImplementation(() => {});
    const told: string[] = [];
    memory.events.subscribe(() => {
      throw new Error("mine");
    });
    memory.events.subscribe(({ type }) => told.push(type));
    await memory.session(ADA).add(say("hello"));
    const [thrown] = later.mock.calls.map(([task]) => task);
    later.mockRestore();
    expect(told).toEqual(["added"]);
    expect(thrown).toThrow("mine");
  });

  it("that is gone costs nothing: no event is created, no timer runs, the store is not polled", async () => {
    const clock = new FakeClock();
    const memory = await open({ clock });
    clock.advance(1_000); // reads ahead
    const timers = clock.pending;
    const tell = vi.spyOn(memory.service.events, "tell");
    const versions = vi.spyOn(memory.service.store, "versions");
    const stop = memory.events.subscribe(() => {}, { spaces: [ADA] });
    await memory.session(ADA).add(say("hello"));
    expect([tell.mock.calls.length, clock.pending]).toEqual([1, timers + 1]);
    stop();
    stop();
    versions.mockClear();
    await memory.session(ADA).add(say("hello"));
    clock.advance(1_000);
    expect([tell.mock.calls.length, clock.pending, versions.mock.calls.length]).toEqual([1, timers, 0]);
  });
});

describe("a stream", () => {
  const typesOf = async (stream: AsyncIterable<MemoryEvent | MissedEvents>, count: number) => {
    const types: string[] = [];
    for await (const event of stream) {
      types.push(event.type === "missed" ? `missed ${event.count}` : event.type);
      if (types.length === count) break;
    }
    return types;
  };

  it("tells a slow reader how many events it has missed, and continues from there", async () => {
    const memory = await open();
    const stream = memory.events.stream({ capacity: 2, spaces: [ADA] });
    const session = memory.session(ADA);
    for (let at = 0; at < 5; at++) await session.add(say("hello"));
    await memory.session({ user: "bob" }).add(say("nobody misses this"));
    const first = await stream.next();
    expect(first.value).toMatchObject({ type: "added" });
    await session.add(say("missed too: what is held was not read to its end"));
    const reading = typesOf(stream, 4);
    await session.blocks.create({ name: "persona", content: "" });
    await session.blocks.edit("persona", { content: "kind" });
    expect(await reading).toEqual(["added", "missed 4", "block", "block"]);
    expect(memory.service.events.isHeard).toBe(false); // the loop has ended
  });

  it("begins when it is created, not when it is first read", async () => {
    const memory = await open();
    const stream = memory.events.stream();
    await memory.session(ADA).add(say("hello"));
    expect(await typesOf(stream, 1)).toEqual(["added"]);
  });

  it("ends with its signal, and with the memory, after the events so far", async () => {
    const memory = await open();
    const stop = new AbortController();
    const [ended, left] = [memory.events.stream({ signal: stop.signal }), memory.events.stream()];
    const waiting = ended.next();
    stop.abort();
    expect(await waiting).toEqual({ value: undefined, done: true });
    await memory.session(ADA).add(say("hello"));
    expect(await typesOf(ended, 1)).toEqual([]);
    await memory.close();
    expect(await typesOf(left, 9)).toEqual(["added"]);
    expect(await typesOf(memory.events.stream({ signal: AbortSignal.abort() }), 1)).toEqual([]);
    expect(await typesOf(memory.events.stream(), 1)).toEqual([]);
  });
});
