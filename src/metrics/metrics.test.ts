/** Every metric: it changes when its event happens, the text is well-formed, and it contains no names. */
import { Registry } from "prom-client";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type Memory, type OpenOptions, openMemory } from "../memory.js";
import { FakeClock } from "../testing/fake-clock.js";
import { HashEmbedder } from "../testing/hash-embedder.js";
import { LATENCIES, NUMBERS } from "./definitions.js";
import { Metrics } from "./metrics.js";

const WHO = { user: "ada-the-user", session: "evening-session" };

let clock: FakeClock;
let embedder: HashEmbedder;
let memory: Memory;
let metrics: Metrics;
let opened: { readonly memory: Memory; readonly metrics: Metrics }[] = [];

async function open(options: OpenOptions = {}): Promise<void> {
  const buffer = { roundBuffer: { eager: false }, hybridBuffer: { embeddingModel: "none" }, ...options.buffer };
  memory = await openMemory({ path: ":memory:", clock, embedder, ...options, buffer });
  metrics = new Metrics(memory, new Registry());
  opened.push({ memory, metrics });
}

beforeEach(async () => {
  clock = new FakeClock();
  embedder = new HashEmbedder();
  opened = [];
  await open();
});
afterEach(async () => {
  for (const one of opened) {
    one.metrics.close();
    await one.memory.close();
  }
});

const LINE = /^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{((?:[a-zA-Z_][a-zA-Z0-9_]*="(?:[^"\\\n]|\\.)*",?)*)\})? (\S+)$/;
const SUFFIXES = /_(sum|count|bucket)$/;

/** Parses the text as Prometheus does; refuses malformed lines, duplicates, and samples without a family. */
function parse(text: string): Map<string, number> {
  expect(text.endsWith("\n")).toBe(true);
  const families = new Map<string, string>();
  const values = new Map<string, number>();
  for (const line of text.split("\n")) {
    const type = /^# TYPE (\S+) (counter|gauge|summary|histogram)$/.exec(line);
    if (type) {
      expect(families.has(type[1] ?? ""), `${type[1]} is there twice`).toBe(false);
      families.set(type[1] ?? "", type[2] ?? "");
    }
    if (line === "" || line.startsWith("#")) continue;
    const [, name = "", labels = "", value = ""] = LINE.exec(line) ?? [];
    expect(name, line).not.toBe("");
    expect(families.get(name) ?? families.get(name.replace(SUFFIXES, "")), line).toBeDefined();
    const key = labels === "" ? name : `${name}{${labels}}`;
    expect(values.has(key), `${key} is there twice`).toBe(false);
    expect(Number.isNaN(Number(value)) && value !== "Nan" && value !== "NaN", line).toBe(false);
    values.set(key, Number(value));
  }
  return values;
}

const scrape = async () => parse(await metrics.text());

/** The changes of Holdfast's own metrics, without timings. */
async function changed(act: () => Promise<unknown>): Promise<{ readonly [name: string]: number }> {
  const before = await scrape();
  await act();
  const after = await scrape();
  const names = [...after.keys()].filter((name) => name.startsWith("holdfast_") && !/_seconds(_sum)?(\{|$)/.test(name));
  return Object.fromEntries(
    names.flatMap((name) => {
      const difference = (after.get(name) ?? 0) - (before.get(name) ?? 0);
      return difference === 0 ? [] : [[name.slice("holdfast_".length), difference]];
    }),
  );
}

const say = (...contents: readonly string[]) => contents.map((content) => ({ role: "user", content }) as const);

it("reports every defined metric with its help, and those of the process, without any names", async () => {
  await memory.session(WHO).add(say("a lamp in the attic"));
  await memory.flush();
  await memory.session(WHO).query("lamp");
  const text = await metrics.text();
  parse(text);
  for (const { name, help, type } of [...NUMBERS, ...LATENCIES]) {
    expect(text).toContain(`# HELP ${name} ${help}\n# TYPE ${name} ${type}\n`);
    expect(name).toMatch(type === "counter" ? /_total$/ : /[a-z]$/);
  }
  expect(text).toContain("process_cpu_seconds_total");
  expect(text).toContain("nodejs_eventloop_lag_p99_seconds");
  expect(text).not.toMatch(/ada-the-user|evening-session|attic/);
  expect(metrics.contentType).toMatch(/^text\/plain/);
});

describe("a number changes when its thing happens:", () => {
  it("writing, gathering, transferring, flushing", async () => {
    const session = memory.session(WHO);
    const gather = async () => {
      await session.add(say("a lamp", "a rope"));
      // The RoundBuffer counts tokens after the add has returned.
      while (((await scrape()).get("holdfast_round_buffer_tokens") ?? 0) === 0);
    };
    expect(await changed(gather)).toMatchObject({
      write_buffer_writes_total: 1,
      write_buffer_messages_total: 2,
      write_buffer_groups_total: 1,
      round_buffer_sessions: 1,
      round_buffer_rounds: 1,
      round_buffer_tokens: expect.any(Number),
      'searchable_seconds_count{by="words"}': 1,
      store_items: 2,
      pending_items: 2,
    });
    clock.advance(90_000); // idle: transferred, and waiting to be written
    await changed(() => memory.flush());
    const after = await scrape();
    expect(Object.fromEntries(after)).toMatchObject({
      holdfast_pending_items: 0,
      holdfast_embedded_items: 2,
      holdfast_chunks: 2,
      holdfast_round_buffer_sessions: 0,
      holdfast_round_buffer_rounds: 0,
      holdfast_hybrid_buffer_written_items_total: 2,
      'holdfast_searchable_seconds_count{by="meaning"}': 2,
      'holdfast_searchable_seconds_sum{by="meaning"}': 180,
      holdfast_transfer_seconds_count: 1,
      holdfast_flush_seconds_count: 1,
      holdfast_embedder_texts_total: 2,
      holdfast_transfers_per_minute: 1,
    });
    const sum = (start: string) => [...after].reduce((all, [name, n]) => (name.startsWith(start) ? all + n : all), 0);
    expect(sum("holdfast_round_buffer_transfers_total{")).toBe(1);
    expect(sum("holdfast_hybrid_buffer_flushes_total{")).toBe(1);
    expect(after.get('holdfast_searchable_seconds{by="meaning",quantile="0.99"}')).toBeCloseTo(90, -1);
  });

  it("the age of pending items", async () => {
    expect((await scrape()).get("holdfast_oldest_pending_age_seconds")).toBe(0);
    await memory.session(WHO).add(say("a lamp"));
    clock.advance(2_500);
    expect((await scrape()).get("holdfast_oldest_pending_age_seconds")).toBe(2.5);
  });

  it("buffers that hold embedded items, and what is set aside", async () => {
    await open({ buffer: { roundBuffer: { eager: true }, hybridBuffer: { embeddingModel: "none", maxSize: 100 } } });
    const session = memory.session(WHO);
    const transferred = new Promise((resolve) => memory.events.subscribe(resolve));
    embedder.refuse((text) => text === "poison");
    const now = await changed(async () => {
      await session.add(say("a lamp", "poison"));
      await transferred;
      while ((await memory.stats()).meaning?.hybrid.itemCount !== 1)
        await new Promise((resolve) => setImmediate(resolve));
    });
    expect(now).toMatchObject({
      hybrid_buffer_items: 1,
      hybrid_buffer_chunks: 1,
      hybrid_buffer_rounds: 1,
      hybrid_buffer_bytes: expect.any(Number),
      hybrid_buffer_parked_items_total: 1,
      parked_items: 1,
      leases: 1,
      buffer_memory_bytes: expect.any(Number),
      'embedder_state{state="loaded"}': 1,
      'embedder_state{state="not loaded"}': -1,
      'round_buffer_transfers_total{reason="eager"}': 1,
    });
  });

  it("questions and caches", async () => {
    await memory.session(WHO).add(say("a lamp"));
    await memory.flush();
    expect(await changed(() => memory.session(WHO).query("lamp"))).toMatchObject({
      queries_total: 1,
      'cache_misses_total{cache="answers"}': 1,
      'cache_misses_total{cache="questions"}': 1,
      'cache_entries{cache="answers"}': 1,
      'cache_entries{cache="questions"}': 1,
      'cache_bytes{cache="answers"}': expect.any(Number),
      'hits_total{level="store"}': 1,
      'query_seconds_count{answered="cold"}': 1,
    });
    expect(await changed(() => memory.session(WHO).query("lamp"))).toEqual({
      queries_total: 1,
      'cache_hits_total{cache="answers"}': 1,
      cache_hit_ratio: 1,
      'query_seconds_count{answered="cached"}': 1,
    });
    expect(await changed(() => memory.session(WHO).query("lamp", { offset: 1 }))).toMatchObject({
      'cache_hits_total{cache="rankings"}': 1,
    });
  });

  it("contexts", async () => {
    const assembled = await changed(() => memory.session(WHO).context({ dryRun: true }));
    expect(assembled).toMatchObject({ context_seconds_count: 1 });
  });

  it("what goes for want of room", async () => {
    await open({ buffer: { query: { cacheSize: 1 } } });
    const ask = async (count: number) => {
      for (let at = 0; at < count; at++) await memory.session(WHO).query(`question ${at}`);
    };
    await memory.session(WHO).add(say("a lamp"));
    expect(await changed(() => ask(10))).toMatchObject({
      'cache_evictions_total{cache="answers"}': 9,
      'cache_evictions_total{cache="victims"}': 5,
      'cache_evictions_total{cache="questions"}': 2,
      'cache_entries{cache="victims"}': 4,
    });
    expect(await changed(() => memory.session(WHO).query("question 8"))).toMatchObject({
      'cache_hits_total{cache="victims"}': 1,
    });
  });

  it("an embedder that fails, and one that is not there", async () => {
    embedder.failNext(Number.POSITIVE_INFINITY);
    await memory.session(WHO).add(say("a lamp"));
    const failing = changed(() => memory.flush());
    for (let waited = 0; waited < 50; waited++) {
      clock.advance(1_000);
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(await failing).toMatchObject({
      'embedder_state{state="failing"}': 1,
      'component_state{component="embedder",state="ok"}': -1,
      'component_state{component="embedder",state="failed"}': 1,
      'component_state{component="round",state="degraded"}': 1,
      embedder_failed_calls_total: expect.any(Number),
    });
    const none = await openMemory({ path: ":memory:", clock, buffer: { hybridBuffer: { embeddingModel: "none" } } });
    memory = none;
    metrics = new Metrics(none, new Registry());
    opened.push({ memory, metrics });
    const values = await scrape();
    expect(values.get('holdfast_embedder_state{state="none"}')).toBe(1);
    expect(values.has("holdfast_hybrid_buffer_flushes_total")).toBe(false);
  });

  it("health: each indicator has one condition", async () => {
    const conditions = async (indicator: string) =>
      [...(await scrape())]
        .filter(([name, value]) => name.startsWith(`holdfast_health{indicator="${indicator}"`) && value === 1)
        .map(([name]) => /condition="([^"]+)"/.exec(name)?.[1]);
    for (const indicator of ["transfer_rate", "query_latency", "cache_hit_rate"]) {
      expect(await conditions(indicator), indicator).toEqual(["no data"]);
    }
    expect(await conditions("memory")).toEqual(["healthy"]);
    for (let asked = 0; asked < 21; asked++) await memory.session(WHO).query("lamp");
    expect(await conditions("query_latency")).toEqual(["healthy"]);
    expect(await conditions("cache_hit_rate")).toEqual(["healthy"]);
  });

  it("the event loop is late", async () => {
    /** The monitor samples every 10 ms: it needs turns before and after. */
    const turnsFor = async (ms: number) => {
      for (const until = performance.now() + ms; performance.now() < until; ) await new Promise(setImmediate);
    };
    let late = 0;
    while (late < 0.03) {
      await turnsFor(30);
      for (const until = performance.now() + 60; performance.now() < until; );
      await turnsFor(30);
      late = (await scrape()).get('holdfast_event_loop_delay_seconds{quantile="1"}') ?? 0;
    }
    expect(late).toBeLessThan(60);
  });
});

it("reports what it can if the memory cannot be read", async () => {
  expect((await scrape()).get("holdfast_up")).toBe(1);
  await memory.close();
  const values = await scrape();
  expect(values.get("holdfast_up")).toBe(0);
  expect(values.get("process_cpu_seconds_total")).toBeGreaterThan(0);
});

it("reads the memory once for all metrics of a scrape", async () => {
  let reads = 0;
  const stats = memory.stats.bind(memory);
  memory.stats = () => {
    reads++;
    return stats();
  };
  await Promise.all([scrape(), scrape()]);
  expect(reads).toBe(1);
  await scrape();
  expect(reads).toBe(2);
});
