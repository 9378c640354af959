/** Health: the seed's four indicators, each with its healthy range and its alert threshold. */
import type { Meter } from "./meter.js";

/** An indicator with fewer samples reports "no data". */
const SAMPLES_MIN = 20;
const MIB = 1024 * 1024;

/** idle: below the healthy range, which is not a problem · warning: between healthy and alert. */
export type Condition = "healthy" | "idle" | "warning" | "alert" | "no data";

export interface Indicator {
  readonly condition: Condition;
  readonly value: number;
  readonly unit: string;
}

export interface Health {
  /** Batches transferred to the HybridBuffer in the last minute. */
  readonly transferRate: Indicator;
  /** Bytes held by the buffers. The model and other caches have their own budgets. */
  readonly memory: Indicator;
  readonly queryLatency: Indicator;
  /** Share of repeated questions that needed no search of their own. */
  readonly cacheHitRate: Indicator;
}

/** Questions asked before, and how many of them needed no search of their own. */
export interface Repeated {
  readonly questions: number;
  readonly hits: number;
}

export function healthOf(meter: Meter, bufferBytes: number, repeated: Repeated = { questions: 0, hits: 0 }): Health {
  const { query } = meter.latencies;
  const rate = meter.transferRate;
  return {
    transferRate: {
      condition:
        meter.transferCount < SAMPLES_MIN ? "no data" : rate < 10 ? "idle" : above(rate, { healthy: 100, alert: 500 }),
      value: rate,
      unit: "per minute",
    },
    memory: {
      condition: above(bufferBytes, { healthy: 50 * MIB, alert: 100 * MIB }),
      value: bufferBytes,
      unit: "bytes",
    },
    queryLatency: {
      condition: query.count < SAMPLES_MIN ? "no data" : above(query.p95, { healthy: 100, alert: 500 }),
      value: query.p95,
      unit: "ms (95th percentile)",
    },
    cacheHitRate: hitRate(repeated),
  };
}

function above(value: number, { healthy, alert }: { readonly healthy: number; readonly alert: number }): Condition {
  if (value <= healthy) return "healthy";
  return value > alert ? "alert" : "warning";
}

function hitRate({ questions, hits }: Repeated): Indicator {
  const value = questions === 0 ? 0 : hits / questions;
  const condition = value > 0.8 ? "healthy" : value < 0.5 ? "alert" : "warning";
  return { condition: questions < SAMPLES_MIN ? "no data" : condition, value, unit: "share of repeated questions" };
}
