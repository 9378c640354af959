/** The service as the seed describes it: messages of the buffers, reports, views, statistics. */
import { FakeClock, HashEmbedder } from "holdfast/testing";
import { describe, expect, it } from "vitest";
import { newPath, open } from "../support/opened.js";
import { until } from "../support/until.js";

const ADA = { user: "ada", session: "s" };
const said = (content: string) => ({ role: "user" as const, content });
const gathering = { roundBuffer: { eager: false } };

describe("service.messages", () => {
  it("lists all messages of the session, or only those in the buffers", async () => {
    const { service } = await open({
      path: ":memory:",
      clock: new FakeClock(),
      embedder: new HashEmbedder(),
      buffer: gathering,
    });
    await service.add(ADA, [said("one"), said("two")]);
    await service.flush();
    await service.add(ADA, [said("three")]);
    await service.add({ user: "ada", session: "t" }, [said("elsewhere")]);
    await service.addItems(ADA, [{ kind: "knowledge", content: "no message" }]);
    const contents = async (options: Parameters<typeof service.messages>[1]) =>
      (await service.messages(ADA, { order: "asc", ...options })).items.map(({ content }) => content);
    expect(await contents({})).toEqual(["one", "two", "three"]);
    expect(await contents({ bufferOnly: true })).toEqual(["three"]);
    expect(await contents({ bufferOnly: false })).toEqual(["one", "two", "three"]);
    await service.flush();
    expect(await contents({ bufferOnly: true })).toEqual([]);
  });
});

describe("the reports", () => {
  it("of flush and close report pending and parked items", async () => {
    const path = newPath();
    const embedder = new HashEmbedder();
    embedder.refuse((text) => text.includes("poison"));
    const memory = await open({ path, embedder, buffer: { ...gathering, closeMs: 0 } });
    await memory.service.add(ADA, [said("one"), said("poison")]);
    expect(await memory.flush()).toEqual({ pending: 0, parked: 1 });
    const release = embedder.stall();
    await memory.service.add(ADA, [said("two"), said("three")]);
    expect(await memory.close()).toMatchObject({ items: 4, pending: 2, parked: 1 });
    release();
    const again = await open({ path, embedder });
    expect(await again.flush()).toEqual({ pending: 0, parked: 1 });
    expect(await again.close()).toMatchObject({ items: 4, pending: 0, parked: 1 });
  });
});

describe("the views", () => {
  it("show what gathers in a session, what is embedded, and what was written", async () => {
    const { service } = await open({
      path: ":memory:",
      clock: new FakeClock(),
      embedder: new HashEmbedder(),
      buffer: gathering,
    });
    await service.add(ADA, [said("hello world"), said("how are you")]);
    await service.add(ADA, [said("fine")]);
    expect(await service.buffers.round.view(ADA)).toEqual({ currentTokens: 6, roundCount: 2, messageCount: 3 });
    expect(await service.buffers.round.view({ user: "bob", session: "s" })).toMatchObject({ roundCount: 0 });
    expect(service.buffers.write).toMatchObject({ totalWrites: 2, totalMessages: 3, waitingWrites: 0, health: "ok" });
    expect(service.buffers.hybrid).toMatchObject({ itemCount: 0, flushOperations: 0 });
    await service.query(ADA, "hello"); // embeds them ahead of their batch
    expect(service.buffers.hybrid).toMatchObject({ itemCount: 3, chunkCount: 3, roundCount: 0 });
    expect(await service.buffers.round.view(ADA)).toMatchObject({ messageCount: 3 });
    await service.flush();
    expect(await service.buffers.round.view(ADA)).toMatchObject({ messageCount: 0 });
    expect(service.buffers.hybrid).toMatchObject({ itemCount: 0, flushOperations: 1, itemsWritten: 3 });
  });

  it("without a model show nothing of it", async () => {
    const { service } = await open({ path: ":memory:" });
    await service.add(ADA, [said("hello")]);
    expect(service.buffers.hybrid).toBeUndefined();
    expect(await service.buffers.round.view(ADA)).toEqual({ currentTokens: 0, roundCount: 0, messageCount: 0 });
    expect((await service.stats()).meaning).toBeUndefined();
    expect(await service.flush()).toEqual({ pending: 1, parked: 0 }); // for whoever opens the file with a model
  });
});

describe("the buffers", () => {
  it("can each be asked alone: commit, transfer, write, and drop what is cached", async () => {
    const embedder = new HashEmbedder();
    const memory = await open({
      ...{ path: ":memory:", clock: new FakeClock(), embedder },
      buffer: { ...gathering, hybridBuffer: { maxSize: 1_000 } },
    });
    const { service } = memory;
    const adding = service.add(ADA, [said("hello world")]);
    const other = service.add({ user: "bob", session: "s" }, [said("hello")]);
    expect(service.buffers.write).toMatchObject({ waitingWrites: 2, totalWrites: 0 });
    await service.buffers.write.flush();
    expect(service.buffers.write).toMatchObject({ waitingWrites: 0, totalWrites: 2 });
    await Promise.all([adding, other]);
    expect([embedder.texts, service.buffers.round.totalTransfers]).toEqual([0, 0]);

    await service.buffers.round.transfer(ADA);
    expect(service.buffers.round).toMatchObject({ totalTransfers: 1, transferTriggers: { manual: 1 } });
    expect(await service.buffers.round.view({ user: "bob", session: "s" })).toMatchObject({ roundCount: 1 });
    expect(service.buffers.hybrid).toMatchObject({ itemCount: 1, flushOperations: 0 });

    await service.buffers.hybrid?.flush();
    expect(service.buffers.hybrid).toMatchObject({ itemCount: 0, flushTriggers: { manual: 1 }, itemsWritten: 1 });
    expect((await service.stats()).store).toMatchObject({ embedded: 1, pending: 1 }); // bob's still gathers

    await service.query(ADA, "hello");
    expect(service.buffers.query.answers.entries).toBe(1);
    service.buffers.query.clear();
    expect(service.buffers.query).toMatchObject({ answers: { entries: 0 }, bytes: 0 });
    await service.query(ADA, "hello");
    expect(service.buffers.query).toMatchObject({ misses: 2, answers: { hits: 0 } });
  });

  it("without a model can be asked all the same", async () => {
    const { service } = await open({ path: ":memory:" });
    await service.add(ADA, [said("hello")]);
    await service.buffers.round.transfer(ADA);
    expect(service.buffers.round.totalTransfers).toBeUndefined();
    await expect(service.buffers.round.transfer({ user: "" })).rejects.toMatchObject({ code: "invalid_input" });
  });
});

describe("stats", () => {
  it("count what happened: adds of every kind, questions, transfers, flushes, the lag of meaning", async () => {
    const clock = new FakeClock();
    const memory = await open({ path: ":memory:", embedder: new HashEmbedder(), clock, buffer: gathering });
    const { service } = memory;
    await service.add(ADA, [said("one")]);
    await service.addBatch(ADA, [[said("two")], [said("three")]]);
    await service.addItems(ADA, [{ kind: "knowledge", content: "four" }]);
    const turn = memory.session(ADA).turn();
    turn.push({ op: "save_message", message: said("five") });
    await service.commit(ADA, turn);
    await service.query(ADA, "two");
    clock.advance(30_000);
    await service.flush();
    const { latencies, health, meaning, store } = await service.stats();
    expect(latencies.add.count).toBe(4);
    expect(latencies.query.count).toBe(1);
    expect(latencies.transfer.count).toBe(1);
    expect(latencies.flush.count).toBe(1);
    expect(latencies.meaning.count).toBe(5);
    expect(latencies.meaning.max).toBeLessThan(1_000); // five rounds had gathered, or the question had them embedded
    expect(meaning?.round.transferTriggers).toMatchObject({ eager: 0, idle: 0, tokens: 0 });
    expect(store).toMatchObject({ items: 5, embedded: 5, pending: 0, parked: 0, unsent: 0 });
    expect(health.transferRate.condition).toBe("no data");
    expect(health.queryLatency.condition).toBe("no data");
    expect(health.memory).toMatchObject({ condition: "healthy", value: service.buffers.query.bytes }); // all else is written
  });

  it("report the health of questions after twenty of them, and the bytes in the buffers", async () => {
    const memory = await open({ path: ":memory:", embedder: new HashEmbedder() });
    const session = memory.session(ADA);
    await session.add([said("hello")]);
    for (let time = 0; time < 20; time++) await session.query("hello");
    await until(() => memory.service.buffers.hybrid?.itemCount === 1);
    const { health } = await memory.stats();
    expect(health.queryLatency.condition).not.toBe("no data");
    expect(health.memory.value).toBeGreaterThan(256);
  });
});
