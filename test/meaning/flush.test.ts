/** Flush, close and write-through: everything accepted before the call is embedded and written when it returns. */
import type { Memory, Session } from "holdfast";
import { FakeClock } from "holdfast/testing";
import { describe, expect, it, onTestFinished } from "vitest";
import { newPath, open } from "../support/opened.js";
import { until } from "../support/until.js";
import { MirrorEmbedder, mirrored } from "./mirror.js";

const said = (content: string) => ({ role: "user" as const, content });

async function opened(options: Parameters<typeof open>[0] = {}) {
  const embedder = new MirrorEmbedder();
  const memory = await open({ path: newPath(), embedder, ...options });
  return { memory, embedder, session: memory.session({ user: "ada", session: "s" }) };
}

const buffered = (memory: Memory, items: number) => until(() => memory.service.buffers.hybrid?.itemCount === items);

/** Adds two messages, waits until they are embedded and not yet written, and edits the first. */
async function editedBehind(memory: Memory, session: Session): Promise<void> {
  const { ids } = await session.add([said("blue kettle"), said("green lamp")]);
  await buffered(memory, 2);
  await session.update(String(ids[0]), { content: "yellow boat" });
}

describe("flush", () => {
  it("embeds and writes an edited message while a later one of its session waits to be written", async () => {
    const { memory, session } = await opened();
    await editedBehind(memory, session);
    expect(await memory.flush()).toEqual({ pending: 0, parked: 0 });
    expect((await session.query(mirrored("yellow boat")))[0]).toMatchObject({ content: "yellow boat", level: "store" });
  });

  it("writes what is embedded of a session that another process has renamed meanwhile", async () => {
    const path = newPath();
    // No time passes: it is not the poll for what others have left that finds it.
    const { memory, session, embedder } = await opened({ path, clock: new FakeClock(Date.UTC(2026, 0, 1)) });
    await session.add([said("blue kettle"), said("green lamp")]);
    await buffered(memory, 2);
    const other = await open({ path, embedder });
    await other.sessions.rename({ user: "ada" }, "s", "renamed");
    expect(await memory.flush()).toEqual({ pending: 0, parked: 0 });
    const renamed = memory.session({ user: "ada", session: "renamed" });
    expect((await renamed.query(mirrored("green lamp"), { within: "session" }))[0]).toMatchObject({ level: "store" });
  });

  it("of one session does the same", async () => {
    const { memory, session } = await opened();
    await editedBehind(memory, session);
    expect(await session.flush()).toEqual({ pending: 0, parked: 0 });
  });

  it.each([true, false])("takes more than one batch holds, eager %s", async (eager) => {
    const { memory, session } = await opened({ buffer: { roundBuffer: { eager, maxTokens: 1_000_000 } } });
    for (const part of [0, 1, 2]) {
      await session.add(Array.from({ length: 250 }, (_, at) => said(`message ${part} ${at}`)));
    }
    expect(await session.flush()).toEqual({ pending: 0, parked: 0 });
    expect((await memory.stats()).store.embedded).toBe(750);
  });

  it("resolves while others keep adding to the session", async () => {
    const { memory, session } = await opened();
    let isDone = false;
    onTestFinished(() => {
      isDone = true; // if the flush does not resolve, the test's time-out ends the adds
    });
    let added = 0;
    const adders = Array.from({ length: 4 }, async () => {
      for (; !isDone; added++) await session.add([said(`message ${added}`)]);
    });
    await until(() => added > 20);
    const before = (await session.list({ limit: 1 })).items[0]?.sequence ?? 0;
    await session.flush();
    isDone = true;
    const written = (await memory.stats()).store.embedded;
    await Promise.all(adders);
    expect(written).toBeGreaterThanOrEqual(before);
  });
});

describe("close", () => {
  it("embeds and writes what is being embedded when it is called", async () => {
    const { memory, embedder, session } = await opened();
    const release = embedder.stall();
    await session.add([said("blue kettle")]);
    await until(() => embedder.waiting > 0);
    const closed = memory.close();
    release();
    expect(await closed).toMatchObject({ items: 1, pending: 0, parked: 0 });
  });

  it("embeds and writes what was added and edited right before it", async () => {
    const { memory, session } = await opened();
    const { ids } = await session.add([said("blue kettle"), said("green lamp")]);
    await memory.flush();
    await session.update(String(ids[0]), { content: "yellow boat" });
    await session.add([said("white chair")]);
    expect(await memory.close()).toMatchObject({ items: 3, pending: 0, parked: 0 });
  });

  it("embeds again what borrowed from a message that was deleted right before it", async () => {
    const { memory, session } = await opened({ buffer: { hybridBuffer: { chunkStrategy: "contextual" } } });
    const { ids } = await session.add([said("blue kettle"), said("green lamp"), said("white chair")]);
    await memory.flush();
    await session.delete([String(ids[0])]);
    expect(await memory.close()).toMatchObject({ items: 2, pending: 0, parked: 0 });
  });
});

describe("writing through", () => {
  const through = { buffer: { enabled: false } };
  const pending = async (memory: Memory) => (await memory.stats()).store.pending;

  it("has the vectors of adds, batches, items, turns with facts, and edits in the store when the call resolves", async () => {
    const { memory, session } = await opened(through);
    const { ids } = await session.add([said("blue kettle")]);
    expect(await pending(memory)).toBe(0);
    await session.addBatch([[said("green lamp")], [said("white chair")]]);
    expect(await pending(memory)).toBe(0);
    await session.addItems([{ kind: "knowledge", content: "brown table" }]);
    expect(await pending(memory)).toBe(0);
    const turn = session.turn();
    turn.push({ op: "save_message", message: said("red door") });
    turn.push({ op: "upsert_fact", category: "house", content: "the door is red", confidence: 1 });
    await session.commit(turn);
    expect(await pending(memory)).toBe(0);
    await session.update(String(ids[0]), { content: "yellow boat" });
    expect(await pending(memory)).toBe(0);
    expect((await session.query(mirrored("yellow boat")))[0]).toMatchObject({ content: "yellow boat", level: "store" });
  });

  it("keeps no caller waiting for what others add after him", async () => {
    const { memory, session } = await opened(through);
    const added = await Promise.all(
      Array.from({ length: 40 }, async (_, at) => {
        for (let round = 0; round < 5; round++) await session.add([said(`message ${at} ${round}`)]);
        return at;
      }),
    );
    expect(added).toHaveLength(40);
    expect((await memory.stats()).store).toMatchObject({ pending: 0, embedded: 200 });
  });
});
