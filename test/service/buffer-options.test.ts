/** The options of the buffers behind an add, through the public API: each value changes something. */
import type { Memory, OpenOptions } from "holdfast";
import { FakeClock, HashEmbedder } from "holdfast/testing";
import { describe, expect, it } from "vitest";
import { newPath, open } from "../support/opened.js";
import { until } from "../support/until.js";

const ADA = { user: "ada", session: "s" };
const said = (content: string) => ({ role: "user" as const, content });

/** A memory with a clock of its own. */
async function opened(buffer: OpenOptions["buffer"], path = ":memory:") {
  const clock = new FakeClock();
  const embedder = new HashEmbedder();
  const memory = await open({ path, clock, embedder, buffer });
  return { clock, embedder, memory, session: memory.session(ADA) };
}

const transfers = async (memory: Memory) => (await memory.stats()).meaning?.round.transferTriggers;
const flushes = (memory: Memory) => memory.service.buffers.hybrid?.flushTriggers;
const embedded = (memory: Memory, items: number) => until(() => memory.service.buffers.hybrid?.itemCount === items);

/** Lets a little time pass on both clocks, for threads to answer between the steps. */
async function pass(clock: FakeClock, ms: number): Promise<void> {
  for (let step = 0; step < 40; step++) {
    await new Promise((resolve) => setTimeout(resolve, 1));
    clock.advance(ms / 40);
  }
}

describe("the option buffer.", () => {
  it("enabled: false has vectors written when an add resolves, true leaves them for later", async () => {
    const through = await opened({ enabled: false });
    await through.session.add([said("hello")]);
    expect((await through.memory.stats()).store).toMatchObject({ pending: 0, embedded: 1 });
    const buffered = await opened({ enabled: true });
    await buffered.session.add([said("hello")]);
    await embedded(buffered.memory, 1);
    expect((await buffered.memory.stats()).store).toMatchObject({ pending: 1, embedded: 0 });
  });

  it("closeMs bounds how long close continues to embed", async () => {
    const open = async (closeMs: number) => {
      const { clock, embedder, memory, session } = await opened({ closeMs });
      const release = embedder.stall();
      await session.add([said("hello")]);
      await until(() => embedder.waiting === 1);
      return { clock, release, memory };
    };
    const short = await open(100);
    let pending: number | undefined;
    const closing = short.memory.close().then((closed) => {
      pending = closed.pending;
    });
    await until(async () => {
      await pass(short.clock, 100);
      return pending !== undefined;
    });
    await closing;
    expect(pending).toBe(1); // though the embedder still hangs
    const long = await open(60_000);
    let isClosed = false;
    const waiting = long.memory.close().finally(() => {
      isClosed = true;
    });
    await pass(long.clock, 3_000);
    expect(isClosed).toBe(false);
    long.release();
    expect((await waiting).pending).toBe(0);
  });
});

describe("the option buffer.roundBuffer.", () => {
  const exact = { eager: false, maxSize: 100 };

  it("eager embeds pending items at once, or lets them gather", async () => {
    const eager = await opened({ roundBuffer: { eager: true } });
    await eager.session.add([said("hello")]);
    await embedded(eager.memory, 1);
    expect(await transfers(eager.memory)).toMatchObject({ eager: 1 });
    const patient = await opened({ roundBuffer: { eager: false } });
    await patient.session.add([said("hello")]);
    await pass(patient.clock, 1_000);
    expect(patient.embedder.texts).toBe(0);
  });

  it("maxSize sets after how many rounds a session is transferred", async () => {
    const { memory, session, embedder } = await opened({ roundBuffer: { eager: false, maxSize: 2 } });
    await session.add([said("one")]);
    expect(embedder.texts).toBe(0);
    await session.add([said("two")]);
    await embedded(memory, 2);
    expect(await transfers(memory)).toMatchObject({ rounds: 1 });
  });

  it("maxTokens sets above how many tokens a session is transferred", async () => {
    const { memory, session } = await opened({ roundBuffer: { ...exact, maxTokens: 10 } });
    await session.add([said("one two three four five six seven eight nine ten eleven twelve thirteen")]);
    await embedded(memory, 1);
    expect(await transfers(memory)).toMatchObject({ tokens: 1 });
  });

  it("tokenModel sets whose tokens are counted", async () => {
    const counted = async (tokenModel: string) => {
      const { memory, session } = await opened({ roundBuffer: { ...exact, tokenModel } });
      await session.add([said("नमस्ते दुनिया, आप कैसे हैं?")]);
      return (await memory.service.buffers.round.view(ADA)).currentTokens;
    };
    expect(await counted("gpt-4o-mini")).toBeLessThan(await counted("gpt-4"));
  });

  it("idleMs sets after how long without a message a session is transferred", async () => {
    const { clock, memory, session } = await opened({ roundBuffer: { ...exact, idleMs: 700 } });
    await session.add([said("one")]);
    clock.advance(699);
    expect(await transfers(memory)).toMatchObject({ idle: 0 });
    clock.advance(1);
    await embedded(memory, 1);
    expect(await transfers(memory)).toMatchObject({ idle: 1 });
  });
});

describe("the option buffer.hybridBuffer.", () => {
  const written = (memory: Memory, items: number) => until(() => memory.service.buffers.hybrid?.itemsWritten === items);

  it("maxSize sets after how many rounds vectors are written", async () => {
    const { memory, session } = await opened({ hybridBuffer: { maxSize: 2 } });
    await session.add([said("one")]);
    await embedded(memory, 1);
    expect(flushes(memory)).toMatchObject({ rounds: 0 });
    await session.add([said("two")]);
    await written(memory, 2);
    expect(flushes(memory)).toMatchObject({ rounds: 1 });
  });

  it("maxBytes sets how much may be in memory before it is written", async () => {
    const { memory, session } = await opened({ hybridBuffer: { maxBytes: 1 } });
    await session.add([said("one")]);
    await written(memory, 1);
    expect(flushes(memory)).toMatchObject({ bytes: 1 });
  });

  it("idleMs sets how long vectors wait when nothing new comes", async () => {
    const { clock, memory, session } = await opened({ hybridBuffer: { idleMs: 300 } });
    await session.add([said("one")]);
    await embedded(memory, 1);
    clock.advance(300);
    await written(memory, 1);
    expect(flushes(memory)).toMatchObject({ idle: 1 });
  });

  it("forceMs sets how long they wait at most", async () => {
    const { clock, memory, session } = await opened({ hybridBuffer: { forceMs: 200 } });
    await session.add([said("one")]);
    await embedded(memory, 1);
    clock.advance(200);
    await written(memory, 1);
    expect(flushes(memory)).toMatchObject({ forced: 1 });
  });

  it("chunkStrategy: contextual gives the embedder what came before, message does not", async () => {
    const given = async (chunkStrategy: "message" | "contextual") => {
      const { embedder, memory, session } = await opened({ hybridBuffer: { chunkStrategy } });
      const texts: string[] = [];
      const embed = embedder.embed.bind(embedder);
      embedder.embed = (some, options) => {
        texts.push(...some);
        return embed(some, options);
      };
      await session.add([said("shall we meet"), said("yes")]);
      await memory.flush();
      return texts.some((text) => text.includes("yes") && text.includes("shall we meet"));
    };
    expect(await given("contextual")).toBe(true);
    expect(await given("message")).toBe(false);
  });

  it("embeddingModel names the model, or none: then nothing is embedded", async () => {
    const model = "all-MiniLM-L6-v2";
    const memory = await open({ path: ":memory:", buffer: { hybridBuffer: { embeddingModel: model } } });
    await memory.session(ADA).add([said("hello")]);
    await memory.flush();
    expect((await memory.stats()).store).toMatchObject({ embedded: 1, vectorSpace: { model, dimensions: 384 } });
    const words = await open({ path: ":memory:", buffer: { hybridBuffer: { embeddingModel: "none" } } });
    await words.session(ADA).add([said("hello")]);
    await words.flush();
    expect((await words.stats()).store).toMatchObject({ embedded: 0, pending: 1 });
  });

  it("leaseMs sets how long a silent process keeps a session from others", async () => {
    const heldBeside = async (leaseMs: number) => {
      const path = newPath();
      const holder = await opened({ hybridBuffer: { leaseMs: 1_000 } }, path); // its clock stands: no sign of life
      const release = holder.embedder.stall();
      await holder.session.add([said("hello")]);
      await until(() => holder.embedder.waiting === 1);
      const other = await opened({ hybridBuffer: { leaseMs } }, path);
      return { release, other };
    };
    const short = await heldBeside(1_000);
    await until(async () => {
      await pass(short.other.clock, 250);
      return short.other.embedder.texts > 0;
    });
    short.release();
    const long = await heldBeside(60_000);
    await pass(long.other.clock, 10_000);
    expect(long.other.embedder.texts).toBe(0);
    long.release();
  });
});
