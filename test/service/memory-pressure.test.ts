/** A process that is short of memory: what only saves time is given up, and nothing else suffers. */
import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { BufferService, type MemorySource } from "holdfast";
import { SqliteStore } from "holdfast/stores";
import { FakeClock } from "holdfast/testing";
import { describe, expect, it } from "vitest";
import { MirrorEmbedder, mirrored } from "../meaning/mirror.js";
import { newPath, open } from "../support/opened.js";
import { loadConfig } from "../support/product.js";
import { until } from "../support/until.js";

const MIB = 1024 * 1024;
const SECOND = 1_000;
const ADA = { user: "ada", session: "s" };
const said = (content: string) => ({ role: "user" as const, content });

describe("a process above its limit", () => {
  it("answers by words and says why, searches nothing ahead, and continues to write; below it, works as before", async () => {
    const process = { residentBytes: 100 * MIB, heapBytes: MIB, maxHeapBytes: 100 * MIB };
    const memory: MemorySource = { usage: () => process, onCollected: () => () => undefined };
    const clock = new FakeClock();
    const path = newPath();
    const limits = { maxProcessBytes: 200 * MIB, query: { maxBytes: MIB } };
    const options = loadConfig({ code: { path, clock, buffer: limits } });
    const store = await SqliteStore.open({ path, busyTimeoutMs: 10_000, mirrorBytes: MIB });
    const service = new BufferService(store, options, { embedder: new MirrorEmbedder(), memory });
    const ask = (text: string) => service.query(ADA, text, { deadlineMs: 60_000 });
    const budget = async () => (await store.mirrors()).budget;
    const isShort = async () => (await service.stats()).process.isShort;
    const component = async (name: "query" | "speculative") => (await service.stats()).health.components[name];

    await service.add(ADA, [said("blue kettle"), said("green lamp")]);
    await service.flush();
    expect((await ask(mirrored("blue kettle")))[0]?.content).toBe("blue kettle");
    expect((await store.mirrors()).bytes).toBeGreaterThan(0);

    process.residentBytes = 201 * MIB;
    clock.advance(SECOND);
    expect(await isShort()).toBe(true);
    const degraded = { state: "degraded", reason: expect.stringContaining("short of memory") };
    expect([await component("query"), await component("speculative")]).toEqual([degraded, degraded]);
    await until(async () => (await budget()) < MIB);
    expect((await store.mirrors()).bytes, "the vectors are gone from memory").toBe(0);
    const { ids } = await service.add(ADA, [said("red chair")]);
    await service.flush();
    const hits = await ask("kettle");
    expect([hits[0]?.content, hits.partial, hits.degraded]).toEqual([
      "blue kettle",
      true,
      expect.stringContaining("short of memory"),
    ]);
    expect((await ask("chair"))[0]?.id).toBe(ids[0]);
    expect(await ask(mirrored("green lamp")), "found by meaning only").toHaveLength(0);
    clock.advance(SECOND);
    expect((await service.stats()).speculative).toMatchObject({ entries: 0 });

    process.residentBytes = 100 * MIB;
    for (let passed = 0; passed < 10 * SECOND; passed += SECOND) clock.advance(SECOND);
    expect(await isShort()).toBe(false);
    await until(async () => (await budget()) === MIB);
    const whole = await ask(mirrored("green lamp"));
    expect([whole[0]?.content, whole.partial, whole.degraded]).toEqual(["green lamp", false, undefined]);
    expect((await ask(mirrored("red chair")))[0]?.id, "what was added meanwhile, too").toBe(ids[0]);
    expect([await component("query"), await component("speculative")]).toEqual([{ state: "ok" }, { state: "ok" }]);
    await service.close();
  });

  it("is one that `buffer.maxProcessBytes` names", async () => {
    const clock = new FakeClock();
    const buffer = { maxProcessBytes: 1, hybridBuffer: { embeddingModel: "none" } };
    const memory = await open({ path: newPath(), clock, buffer });
    const session = memory.session(ADA);
    await session.add([said("blue kettle")]);
    clock.advance(SECOND);
    expect((await memory.stats()).process).toMatchObject({ isShort: true, maxBytes: 1, shortages: 1 });
    expect((await session.query("kettle"))[0]?.content).toBe("blue kettle");
  });
});

it("a small heap, and a cache that would fill it: the process survives, answers everything and loses nothing", async () => {
  const path = newPath();
  const child = fileURLToPath(new URL("./small-heap-reader.js", import.meta.url));
  const output = execFileSync(process.execPath, ["--max-old-space-size=64", child, path], {
    encoding: "utf8",
    timeout: 300_000,
  });
  const { added, short, shortages } = JSON.parse(output) as { added: number; short: number; shortages: number };
  expect(shortages).toBeGreaterThan(0);
  expect(short).toBeGreaterThan(0);
  const memory = await open({ path, buffer: { hybridBuffer: { embeddingModel: "none" } } });
  expect((await memory.session({ user: "bob", session: "s" }).list({ limit: 1000 })).items).toHaveLength(added);
});
