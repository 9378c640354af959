/** The way of a message: its text is stored with the add, its vectors after RoundBuffer and HybridBuffer. */
import { FakeClock, HashEmbedder } from "holdfast/testing";
import { describe, expect, it } from "vitest";
import { newPath, open } from "../support/opened.js";
import { until } from "../support/until.js";
import { MirrorEmbedder, mirrored } from "./mirror.js";

const ADA = { user: "ada", session: "s" };
const said = (content: string) => [{ role: "user" as const, content }];

describe("a message", () => {
  it("is stored with the add; its vectors pass the RoundBuffer, then the HybridBuffer, then are stored", async () => {
    const path = newPath();
    const memory = await open({
      path,
      embedder: new MirrorEmbedder(),
      buffer: { roundBuffer: { eager: false, maxSize: 2 }, hybridBuffer: { maxSize: 1_000 } },
    });
    const other = await open({ path });
    const session = memory.session(ADA);
    const state = async () => {
      const { store, meaning } = await memory.stats();
      const { items } = await other.session(ADA).list({ order: "asc" });
      return {
        stored: items.map(({ content }) => content),
        gathered: (await memory.service.buffers.round.view(ADA)).roundCount,
        transfers: meaning?.round.totalTransfers,
        queued: meaning?.hybrid.roundCount,
        embedded: store.embedded,
      };
    };

    await session.add(said("blue kettle"));
    expect(await state()).toEqual({ stored: ["blue kettle"], gathered: 1, transfers: 0, queued: 0, embedded: 0 });

    await session.add(said("green lamp"));
    await until(async () => (await state()).queued === 2);
    const stored = ["blue kettle", "green lamp"];
    expect(await state()).toEqual({ stored, gathered: 0, transfers: 1, queued: 2, embedded: 0 });

    await memory.flush();
    expect(await state()).toEqual({ stored, gathered: 0, transfers: 1, queued: 0, embedded: 2 });
  });

  it("that is embedded and not yet written is edited in the store: the queue keeps no copy of its text", async () => {
    const path = newPath();
    const memory = await open({ path, embedder: new MirrorEmbedder(), buffer: { hybridBuffer: { maxSize: 1_000 } } });
    const session = memory.session(ADA);
    const { ids } = await session.add(said("blue kettle"));
    await until(() => memory.service.buffers.hybrid?.roundCount === 1);
    const other = await open({ path });
    await other.session(ADA).update(String(ids[0]), { content: "yellow boat" });
    await memory.flush();
    expect((await session.list()).items.map(({ content }) => content)).toEqual(["yellow boat"]);
    expect((await session.query(mirrored("yellow boat")))[0]?.content).toBe("yellow boat");
  });

  it("gets a new updatedAt by an edit, and keeps it when its vectors are written", async () => {
    const clock = new FakeClock(Date.UTC(2026, 0, 1));
    const memory = await open({ path: newPath(), embedder: new MirrorEmbedder(), clock });
    const session = memory.session(ADA);
    const updatedAt = async () => (await session.list()).items[0]?.updatedAt;
    const { ids } = await session.add(said("blue kettle"));
    const added = clock.now();
    clock.advance(1_000);
    await memory.flush();
    expect((await memory.stats()).store.embedded).toBe(1);
    expect(await updatedAt()).toBe(added);
    clock.advance(1_000);
    await session.update(String(ids[0]), { content: "yellow boat" });
    const edited = clock.now();
    expect(await updatedAt()).toBe(edited);
    clock.advance(1_000);
    await memory.flush();
    expect(await updatedAt()).toBe(edited);
  });
});

describe("flush", () => {
  it("stores all that was called for, from the WriteBuffer to the HybridBuffer, and reports what is left", async () => {
    const embedder = new HashEmbedder();
    embedder.refuse((text) => text.includes("poison"));
    const memory = await open({ path: newPath(), embedder, buffer: { roundBuffer: { eager: false } } });
    const calls = Array.from({ length: 20 }, (_, at) =>
      memory.session({ user: "ada", session: `s${at % 4}` }).add(said(at === 7 ? "poison" : `message ${at}`)),
    );
    expect(memory.service.buffers.write).toMatchObject({ waitingWrites: 20, totalWrites: 0 });
    expect(await memory.flush()).toEqual({ pending: 0, parked: 1 });
    const { write, meaning, store } = await memory.stats();
    expect(write).toMatchObject({ waitingWrites: 0, waitingBytes: 0, totalWrites: 20 });
    expect(meaning?.hybrid).toMatchObject({ itemCount: 0, roundCount: 0, bytes: 0 });
    expect(store).toMatchObject({ items: 20, embedded: 19, pending: 0, parked: 1 });
    await Promise.all(calls);
  });
});
