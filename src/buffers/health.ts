/**
 * Health: the seed's targets for latency, memory and health, each with what was measured, and the state of every
 * component (components.ts).
 *
 * `TARGETS` is the only list of targets. Latencies are 95th percentiles. Memory counts what the buffers hold; the model
 * and the vectors of spaces have budgets of their own.
 */

import type { ProcessMemory } from "../memory-pressure.js";
import { type Components, componentsOf } from "./components.js";
import type { MeaningStats } from "./meaning-path.js";
import type { Latencies, Latency } from "./meter.js";
import type { QueryBufferStats } from "./query/query-stats.js";
import type { SpeculativeStats } from "./speculative/speculative-buffer.js";
import type { WriteBufferStats } from "./write.js";

/** An indicator with fewer samples reports "no data". */
const SAMPLES_MIN = 20;
const MIB = 1024 * 1024;

/** idle: below the healthy range, which is not a problem · warning: between healthy and alert. */
export const CONDITIONS = ["healthy", "idle", "warning", "alert", "no data"] as const;
/** How a measured value compares with its goal. no data: there are fewer than 20 samples. */
export type Condition = (typeof CONDITIONS)[number];

/** A measured value with its condition. */
export interface Indicator {
  /** How the value compares with its goal. */
  readonly condition: Condition;
  /** The measured value, in `unit`. */
  readonly value: number;
  /** The unit of `value`. */
  readonly unit: string;
}

/** The healthy range. A goal without `to` is a minimum; below `from`, any other goal is idle. */
export interface Goal {
  /** The lower bound. */
  readonly from?: number;
  /** The upper bound. */
  readonly to?: number;
  /** The threshold of an alert: above it, or below it if the goal is a minimum. */
  readonly alert?: number;
}

/** A target with what was measured. */
export interface Target extends Indicator {
  /** What the target is about. */
  readonly area: "latency" | "memory" | "health";
  /** The name of the target. */
  readonly name: TargetName;
  /** The healthy range. */
  readonly goal: Goal;
}

/** The health of a memory: four indicators, and the state of each part. */
export interface Health {
  /** Batches transferred to the HybridBuffer in the last minute. */
  readonly transferRate: Indicator;
  /** Bytes held by the buffers. The model and other caches have their own budgets. */
  readonly memory: Indicator;
  /** The 95th percentile of the time that queries take, in milliseconds. */
  readonly queryLatency: Indicator;
  /** Share of repeated questions that needed no search of their own. */
  readonly cacheHitRate: Indicator;
  /** Which parts work, and why others do not. */
  readonly components: Components;
}

/** The statistics from which health is judged. */
export interface Measured {
  readonly write: WriteBufferStats;
  readonly query: QueryBufferStats;
  readonly meaning?: MeaningStats | undefined;
  readonly speculative?: SpeculativeStats | undefined;
  readonly process: ProcessMemory;
  readonly latencies: Latencies;
  /** Transfers in the last minute. */
  readonly transferRate: number;
}

interface Definition {
  readonly area: Target["area"];
  readonly goal: Goal;
  readonly unit: string;
  measure(measured: Measured): { readonly value: number; readonly samples: number };
}

const TARGETS = {
  add: latency({ to: 5 }, ({ latencies }) => latencies.add),
  transfer: latency({ to: 50 }, ({ latencies }) => latencies.transfer),
  flush: latency({ to: 200 }, ({ latencies }) => latencies.flush),
  cachedQuery: latency({ to: 10 }, ({ query }) => query.latency.cached),
  coldQuery: latency({ to: 100 }, ({ query }) => query.latency.cold),

  roundBuffer: memory({ to: MIB }, ({ meaning }) => meaning?.round.bytes ?? 0),
  hybridBuffer: memory({ to: 5 * MIB }, ({ meaning }) => meaning?.hybrid.bytes ?? 0),
  queryCache: memory({ to: 2 * MIB }, ({ query }) => query.bytes),
  buffers: memory({ to: 8 * MIB }, bufferBytes),

  transferRate: {
    area: "health",
    goal: { from: 10, to: 100, alert: 500 },
    unit: "per minute",
    measure: ({ transferRate, latencies }) => ({ value: transferRate, samples: latencies.transfer.count }),
  },
  memory: { ...memory({ to: 50 * MIB, alert: 100 * MIB }, bufferBytes), area: "health" },
  queryLatency: { ...latency({ to: 100, alert: 500 }, ({ latencies }) => latencies.query), area: "health" },
  cacheHitRate: {
    area: "health",
    goal: { from: 0.8, alert: 0.5 },
    unit: "share of repeated questions",
    measure: ({ query: { repeated } }) => ({
      value: repeated.questions === 0 ? 0 : repeated.hits / repeated.questions,
      samples: repeated.questions,
    }),
  },
} as const satisfies { readonly [name: string]: Definition };

/** The names of the targets. */
export type TargetName = keyof typeof TARGETS;
export const TARGET_NAMES = Object.keys(TARGETS) as readonly TargetName[];

export function targetsOf(measured: Measured): readonly Target[] {
  return TARGET_NAMES.map((name) => {
    const { area, goal } = TARGETS[name];
    return { area, name, goal, ...indicator(TARGETS[name], measured) };
  });
}

export function healthOf(measured: Measured): Health {
  return {
    transferRate: indicator(TARGETS.transferRate, measured),
    memory: indicator(TARGETS.memory, measured),
    queryLatency: indicator(TARGETS.queryLatency, measured),
    cacheHitRate: indicator(TARGETS.cacheHitRate, measured),
    components: componentsOf(measured.write, measured.meaning, measured.speculative, measured.process),
  };
}

function indicator({ goal, unit, measure }: Definition, measured: Measured): Indicator {
  const { value, samples } = measure(measured);
  return { condition: samples < SAMPLES_MIN ? "no data" : conditionOf(goal, value), value, unit };
}

function conditionOf({ from = 0, to, alert }: Goal, value: number): Condition {
  if (to === undefined) return value > from ? "healthy" : value < (alert ?? 0) ? "alert" : "warning";
  if (value <= to) return value < from ? "idle" : "healthy";
  return alert !== undefined && value > alert ? "alert" : "warning";
}

function latency(goal: Goal, read: (measured: Measured) => Latency) {
  const measure = (measured: Measured) => {
    const { p95, count } = read(measured);
    return { value: p95, samples: count };
  };
  return { area: "latency", goal, unit: "ms (95th percentile)", measure } as const;
}

/** Bytes are known at any time, without samples. */
function memory(goal: Goal, read: (measured: Measured) => number) {
  const measure = (measured: Measured) => ({ value: read(measured), samples: SAMPLES_MIN });
  return { area: "memory", goal, unit: "bytes", measure } as const;
}

function bufferBytes({ write, query, speculative, meaning }: Measured): number {
  const gathered = meaning ? meaning.round.bytes + meaning.hybrid.bytes : 0;
  return write.waitingBytes + gathered + query.bytes + (speculative?.bytes ?? 0);
}
