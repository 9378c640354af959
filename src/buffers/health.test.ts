/** Every target at its thresholds. */
import { describe, expect, it } from "vitest";
import { FakeClock } from "../testing/fake-clock.js";
import { healthOf, type Measured, targetsOf } from "./health.js";
import { Meter } from "./meter.js";
import { QueryCounts } from "./query/query-stats.js";
import { WriteBuffer, type WriteBufferOptions } from "./write.js";

const MIB = 1024 * 1024;
const write = new WriteBuffer({} as WriteBufferOptions).stats();
const KEPT = { kept: 0, victims: 0, evictions: { kept: 0, victims: 0 }, bytes: 0, maxEntries: 1, maxBytes: MIB };
const query = new QueryCounts(1).summary(KEPT, new Meter(new FakeClock()).queries);

const MEMORY = { residentBytes: 1, maxBytes: 0, heapBytes: 1, maxHeapBytes: 1, isShort: false, shortages: 0 };

/** What was measured where nothing happened, but for what is given. */
function measured(given: Partial<Measured> = {}): Measured {
  const { latencies, transferRate } = new Meter(new FakeClock());
  return { write, query, latencies, transferRate, process: MEMORY, ...given };
}

/** The measurements after `transfers` within `minutes`, and after `questions` of `ms` each. */
function seen({ transfers = 0, minutes = 0, questions = 0, ms = 1 }): Measured {
  const clock = new FakeClock();
  const meter = new Meter(clock);
  for (let at = 0; at < transfers; at++) {
    meter.transferred(1);
    clock.advance((minutes * 60_000) / transfers);
  }
  for (let at = 0; at < questions; at++) meter.queried(ms, true);
  return measured({ latencies: meter.latencies, transferRate: meter.transferRate });
}

describe("the transfer rate", () => {
  it.each([
    [19, 0, "no data"],
    [20, 0, "healthy"],
    [20, 10, "idle"],
    [100, 0, "healthy"],
    [101, 0, "warning"],
    [500, 0, "warning"],
    [501, 0, "alert"],
    [20_000, 0, "alert"],
  ])("of %i transfers within %i minutes is called %s", (transfers, minutes, condition) => {
    expect(healthOf(seen({ transfers, minutes })).transferRate.condition).toBe(condition);
  });

  it("counts the last minute only", () => {
    expect(healthOf(seen({ transfers: 600, minutes: 6 })).transferRate.value).toBeCloseTo(100, -1);
  });
});

describe("the latency of questions", () => {
  it.each([
    [19, 1_000, "no data"],
    [20, 90, "healthy"],
    [20, 110, "warning"],
    [20, 490, "warning"],
    [20, 520, "alert"],
  ])("of %i questions of %i ms is called %s", (questions, ms, condition) => {
    expect(healthOf(seen({ questions, ms })).queryLatency.condition).toBe(condition);
  });
});

describe("the bytes in the buffers", () => {
  it.each([
    [0, "healthy"],
    [50 * MIB, "healthy"],
    [50 * MIB + 1, "warning"],
    [100 * MIB, "warning"],
    [100 * MIB + 1, "alert"],
  ])("%i are called %s", (bytes, condition) => {
    const { memory } = healthOf(measured({ query: { ...query, bytes } }));
    expect(memory).toEqual({ condition, value: bytes, unit: "bytes" });
  });
});

describe("the cache's hit rate", () => {
  it.each([
    [0, 0, "no data"],
    [19, 0, "no data"],
    [19, 19, "no data"],
    [20, 20, "healthy"],
    [100, 81, "healthy"],
    [100, 80, "warning"],
    [100, 50, "warning"],
    [100, 49, "alert"],
    [20, 0, "alert"],
  ])("of %i repeated questions, %i of them answered from the cache, is called %s", (questions, hits, condition) => {
    const { cacheHitRate } = healthOf(measured({ query: { ...query, repeated: { questions, hits } } }));
    expect(cacheHitRate).toEqual({
      condition,
      value: questions === 0 ? 0 : hits / questions,
      unit: "share of repeated questions",
    });
  });

  it("says nothing where no question is repeated", () => {
    expect(healthOf(seen({ questions: 100 })).cacheHitRate.condition).toBe("no data");
  });
});

describe("the targets", () => {
  it("are those of the seed, without data before anything was measured", () => {
    const rows = targetsOf(measured()).map(({ area, name, goal, condition }) => [area, name, goal, condition]);
    expect(rows).toEqual([
      ["latency", "add", { to: 5 }, "no data"],
      ["latency", "transfer", { to: 50 }, "no data"],
      ["latency", "flush", { to: 200 }, "no data"],
      ["latency", "cachedQuery", { to: 10 }, "no data"],
      ["latency", "coldQuery", { to: 100 }, "no data"],
      ["memory", "roundBuffer", { to: MIB }, "healthy"],
      ["memory", "hybridBuffer", { to: 5 * MIB }, "healthy"],
      ["memory", "queryCache", { to: 2 * MIB }, "healthy"],
      ["memory", "buffers", { to: 8 * MIB }, "healthy"],
      ["health", "transferRate", { from: 10, to: 100, alert: 500 }, "no data"],
      ["health", "memory", { to: 50 * MIB, alert: 100 * MIB }, "healthy"],
      ["health", "queryLatency", { to: 100, alert: 500 }, "no data"],
      ["health", "cacheHitRate", { from: 0.8, alert: 0.5 }, "no data"],
    ]);
  });

  it.each([
    ["add", "added", 5],
    ["transfer", "transferred", 50],
    ["flush", "flushed", 200],
  ] as const)("of %s are met or missed by the 95th percentile of at least 20", (name, record, limit) => {
    const conditionAfter = (...timings: readonly number[]) => {
      const meter = new Meter(new FakeClock());
      for (const ms of timings) meter[record](ms);
      return targetsOf(measured({ latencies: meter.latencies })).find((target) => target.name === name)?.condition;
    };
    const fast = Array.from({ length: 19 }, () => limit * 0.9);
    expect(conditionAfter(...fast)).toBe("no data");
    expect(conditionAfter(...fast, limit * 9)).toBe("healthy"); // one of twenty
    expect(conditionAfter(...fast.slice(2), limit * 9, limit * 9, limit * 9)).toBe("warning");
  });

  it("distinguish cached questions from cold ones", () => {
    const [counts, meter] = [new QueryCounts(1), new Meter(new FakeClock())];
    for (let at = 0; at < 20; at++) {
      counts.answered("answers", true);
      meter.queried(11, false);
      counts.answered("misses", false);
      meter.queried(99, true);
    }
    const asked = counts.summary({ ...KEPT, bytes: 3 * MIB }, meter.queries);
    const rows = targetsOf(measured({ query: asked })).filter(({ condition }) => condition !== "no data");
    expect(rows).toMatchObject([
      { name: "cachedQuery", condition: "warning" },
      { name: "coldQuery", condition: "healthy" },
      { name: "roundBuffer", condition: "healthy", value: 0 },
      { name: "hybridBuffer", condition: "healthy", value: 0 },
      { name: "queryCache", condition: "warning", value: 3 * MIB },
      { name: "buffers", condition: "healthy", value: 3 * MIB },
      { name: "memory", condition: "healthy", value: 3 * MIB },
      { name: "cacheHitRate", condition: "healthy", value: 1 },
    ]);
  });
});
