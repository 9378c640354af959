/** The history: a sample every ten seconds, what it contains, and when it ends. */
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { HoldfastError } from "../errors.js";
import { type Memory, openMemory } from "../memory.js";
import { FakeClock } from "../testing/fake-clock.js";
import { HashEmbedder } from "../testing/hash-embedder.js";
import { Sampler } from "./history.js";
import { SERIES_NAMES, type SeriesName } from "./series.js";

const WHO = { user: "ada", session: "evening" };
const START = Date.UTC(2026, 0, 1);
const EVERY_MS = 10_000;

let clock: FakeClock;
let memory: Memory;
let sampler: Sampler;

beforeEach(async () => {
  clock = new FakeClock(START);
  memory = await openMemory({ path: ":memory:", clock, embedder: new HashEmbedder() });
  sampler = new Sampler(memory);
});
afterEach(async () => {
  sampler.stop();
  await memory.close();
});

/** Lets the time of one sample pass, and waits until it was taken. */
async function sample(): Promise<void> {
  clock.advance(EVERY_MS);
  while (sampler.history({ since: clock.now() - 1 }).at[0] !== clock.now())
    await new Promise((resolve) => setImmediate(resolve));
}

const say = (content: string) => [{ role: "user", content }] as const;
const newest = (name: SeriesName) => sampler.history().series[name].at(-1);

describe("the history of a server", () => {
  it("is empty at first, and has a sample every ten seconds, with a value of every series", async () => {
    expect(sampler.history()).toMatchObject({ everyMs: EVERY_MS, at: [] });
    clock.advance(EVERY_MS - 1);
    await new Promise((resolve) => setImmediate(resolve));
    expect(sampler.history().at).toEqual([]);
    clock.advance(1);
    while (sampler.history().at.length === 0) await new Promise((resolve) => setImmediate(resolve));
    await sample();
    const { at, series } = sampler.history();
    expect(at).toEqual([START + EVERY_MS, START + 2 * EVERY_MS]);
    expect(Object.keys(series)).toEqual(SERIES_NAMES);
    for (const [name, values] of Object.entries(series)) expect(values, name).toHaveLength(2);
    expect(sampler.history({ since: START + EVERY_MS }).at).toEqual([START + 2 * EVERY_MS]);
    expect(sampler.history({ since: START + 2 * EVERY_MS }).series.residentBytes).toEqual([]);
  });

  it("reports rates and latencies of each interval, not since the start", async () => {
    await sample();
    expect([newest("addsPerSecond"), newest("addP95Ms")], "nothing before to compare with").toEqual([null, null]);
    const session = memory.session(WHO);
    for (let at = 0; at < 20; at++) await session.add([...say(`lamp ${at}`), ...say("rope")]);
    await memory.flush();
    await session.query("lamp");
    await session.query("lamp");
    await sample();
    expect([newest("addsPerSecond"), newest("messagesPerSecond")]).toEqual([2, 4]);
    expect([newest("queriesPerSecond"), newest("missesPerSecond"), newest("answersPerSecond")]).toEqual([
      0.2, 0.1, 0.1,
    ]);
    expect(newest("storeHitsPerSecond")).toBeGreaterThan(0);
    const timed = ["add", "transfer", "flush", "coldQuery", "cachedQuery", "meaning"] as const;
    for (const name of timed) {
      const [p50, p95, p99] = [newest(`${name}P50Ms`), newest(`${name}P95Ms`), newest(`${name}P99Ms`)];
      expect(p50, name).toEqual(expect.any(Number));
      expect(Number(p50) <= Number(p95) && Number(p95) <= Number(p99), name).toBe(true);
    }
    expect(newest("residentBytes")).toBeGreaterThan(1024 * 1024);
    await sample();
    expect([newest("addsPerSecond"), newest("queriesPerSecond")]).toEqual([0, 0]);
    for (const name of timed) expect(newest(`${name}P95Ms`), name).toBeNull();
    await session.context({ query: "rope", dryRun: true });
    await sample();
    expect([newest("contextsPerSecond"), newest("contextP95Ms")]).toEqual([0.1, expect.any(Number)]);
    expect((await memory.stats()).latencies.add.count, "the totals stay").toBe(20);
  });

  it("reports what is pending, and what could not be embedded", async () => {
    const embedder = new HashEmbedder();
    embedder.refuse((text) => text === "poison");
    const eager = { roundBuffer: { eager: false }, hybridBuffer: { embeddingModel: "none" } };
    const other = await openMemory({ path: ":memory:", clock, embedder, buffer: eager });
    sampler.stop();
    sampler = new Sampler(other);
    await other.session(WHO).add([...say("a lamp"), ...say("poison")]);
    await sample();
    expect([newest("pendingItems"), newest("parkedItems")]).toEqual([2, 0]);
    await other.flush();
    await sample();
    expect([newest("pendingItems"), newest("parkedItems"), newest("unsentRows")]).toEqual([0, 1, null]);
    sampler.stop();
    await other.close();
  });

  it("keeps all digits of counts, and few of what was measured", async () => {
    const session = memory.session(WHO);
    for (let at = 0; at < 41; at++) await session.add(Array.from({ length: 256 }, () => say("lamp")[0]));
    await memory.flush();
    await sample();
    expect(newest("storedItems")).toBe(41 * 256);
    const { series } = sampler.history({ series: "flushP95Ms" });
    expect(Object.keys(series)).toEqual(["flushP95Ms"]);
    expect(String(series.flushP95Ms[0]).replace(/^0?\.0*|\./g, "").length).toBeLessThanOrEqual(4);
  });

  it("keeps six hours in a ring of less than 400 kB", async () => {
    expect(2_160 * (Float32Array.BYTES_PER_ELEMENT * SERIES_NAMES.length + 8)).toBeLessThan(400_000);
    for (let taken = 0; taken < 2_170; taken++) await sample();
    const { at } = sampler.history();
    expect(at).toHaveLength(2_160);
    expect([at[0], at.at(-1)]).toEqual([START + 11 * EVERY_MS, START + 2_170 * EVERY_MS]);
    expect(at.every((one, index) => index === 0 || one - (at[index - 1] ?? 0) === EVERY_MS)).toBe(true);
  });

  it("begins again when the clock is set back, because its times must ascend", async () => {
    await sample();
    await sample();
    clock.set(START - 3_600_000);
    await sample();
    expect(sampler.history().at).toEqual([START - 3_600_000 + EVERY_MS]);
  });

  it("has a gap while the store fails, and continues", async () => {
    await sample();
    const stats = memory.stats.bind(memory);
    memory.stats = () => Promise.reject(new HoldfastError("store_failed", "the disk is gone"));
    await sample();
    expect([newest("pendingItems"), newest("residentBytes")]).toEqual([null, null]);
    memory.stats = stats;
    await sample();
    expect(newest("pendingItems")).toBe(0);
  });

  it("ends when it is stopped, and when the memory is closed: no timer is left", async () => {
    const other = await openMemory({ path: ":memory:", clock: new FakeClock(), embedder: new HashEmbedder() });
    const own = other.service.clock as FakeClock;
    const idle = own.pending;
    const stopped = new Sampler(other);
    expect(own.pending).toBe(idle + 1);
    stopped.stop();
    expect(own.pending).toBe(idle);
    const left = new Sampler(other);
    await other.close();
    own.advance(EVERY_MS);
    while (own.pending > 0) await new Promise((resolve) => setImmediate(resolve));
    own.advance(10 * EVERY_MS);
    expect(left.history().at).toEqual([]);
  });
});
