/** Health: the seed's four indicators, each with what is healthy and what is an alarm. */
import type { Meter } from "./meter.js";

/** Under this many samples an indicator says nothing. */
const SAMPLES_MIN = 20;
const MIB = 1024 * 1024;

/** idle: less than the healthy range, which is no illness · warning: between healthy and alarm. */
export type Condition = "healthy" | "idle" | "warning" | "alert" | "no data";

export interface Indicator {
  readonly condition: Condition;
  readonly value: number;
  readonly unit: string;
}

export interface Health {
  /** Batches transferred to the HybridBuffer in the last minute. */
  readonly transferRate: Indicator;
  /** What the buffers hold. The model and other caches have budgets of their own. */
  readonly memory: Indicator;
  readonly queryLatency: Indicator;
  /** Of repeated questions. */
  readonly cacheHitRate: Indicator;
}

/** Questions that had been asked before, and how many of them needed no search of their own. */
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
