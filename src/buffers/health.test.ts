/** The four indicators at their thresholds. */
import { describe, expect, it } from "vitest";
import { FakeClock } from "../testing/fake-clock.js";
import { healthOf } from "./health.js";
import { Meter } from "./meter.js";

const MIB = 1024 * 1024;

/** A meter that has seen so many transfers, spread over so many minutes, and questions that took so long. */
function meterWith({ transfers = 0, minutes = 0, questions = 0, ms = 1 }): Meter {
  const clock = new FakeClock();
  const meter = new Meter(clock);
  for (let at = 0; at < transfers; at++) {
    meter.transferred(1);
    clock.advance((minutes * 60_000) / transfers);
  }
  for (let at = 0; at < questions; at++) meter.queried(ms);
  return meter;
}

const conditionOf = (indicator: "transferRate" | "queryLatency", seen: Parameters<typeof meterWith>[0]) =>
  healthOf(meterWith(seen), 0)[indicator].condition;

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
    expect(conditionOf("transferRate", { transfers, minutes })).toBe(condition);
  });

  it("counts the last minute only", () => {
    expect(healthOf(meterWith({ transfers: 600, minutes: 6 }), 0).transferRate.value).toBeCloseTo(100, -1);
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
    expect(conditionOf("queryLatency", { questions, ms })).toBe(condition);
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
    expect(healthOf(meterWith({}), bytes).memory).toEqual({ condition, value: bytes, unit: "bytes" });
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
    const { cacheHitRate } = healthOf(meterWith({}), 0, { questions, hits });
    expect(cacheHitRate).toEqual({
      condition,
      value: questions === 0 ? 0 : hits / questions,
      unit: "share of repeated questions",
    });
  });

  it("says nothing where no question is repeated", () => {
    expect(healthOf(meterWith({ questions: 100 }), 0).cacheHitRate.condition).toBe("no data");
  });
});
