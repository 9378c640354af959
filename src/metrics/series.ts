/**
 * The series of the history: name, and how to read the value from a reading and the one before it. A value that does not
 * exist is NaN: no query in the interval has no latency.
 */
import { type LatencyWatch, MEASURED, type MeasuredName } from "../buffers/meter.js";
import type { ServiceStats } from "../stats.js";
import type { MirrorStats } from "../stores/indexing.js";
import type { Level, Origin } from "../types.js";

/** What is read every ten seconds. */
export interface Reading {
  readonly stats: ServiceStats;
  readonly mirrors?: MirrorStats;
  /** The latencies since the reading before. */
  readonly recent: ReturnType<LatencyWatch["take"]>;
  /** Monotonic milliseconds. */
  readonly passed: number;
}

type Read = (now: Reading, before: Reading | undefined) => number;

/** The change of a count since the reading before, per second. */
const rate =
  (count: (reading: Reading) => number): Read =>
  (now, before) =>
    before ? (1000 * (count(now) - count(before))) / (now.passed - before.passed) : NaN;

const percentile =
  (name: MeasuredName, key: "p50" | "p95" | "p99"): Read =>
  ({ recent }) =>
    recent[name].count === 0 ? NaN : recent[name][key];

const origin = (name: Origin): Read =>
  rate(({ stats: { query } }) => (name === "shared" || name === "misses" ? query[name] : query[name].hits));

const level = (name: Level): Read => rate(({ stats }) => stats.query.levels[name]);

type Timed = Exclude<MeasuredName, "query">;
type LatencySeries = `${Timed}${"P50" | "P95" | "P99"}Ms`;
const timed = MEASURED.filter((name): name is Timed => name !== "query");

const LATENCY_SERIES = Object.fromEntries(
  timed.flatMap((name) => [
    [`${name}P50Ms`, percentile(name, "p50")],
    [`${name}P95Ms`, percentile(name, "p95")],
    [`${name}P99Ms`, percentile(name, "p99")],
  ]),
) as { readonly [name in LatencySeries]: Read };

export const SERIES = {
  addsPerSecond: rate(({ stats }) => stats.latencies.add.count),
  messagesPerSecond: rate(({ stats }) => stats.write.totalMessages),
  queriesPerSecond: rate(({ stats }) => stats.query.queries),
  contextsPerSecond: rate(({ stats }) => stats.latencies.context.count),
  ...LATENCY_SERIES,
  // Questions per second, by the level that answered.
  answersPerSecond: origin("answers"),
  rankingsPerSecond: origin("rankings"),
  victimsPerSecond: origin("victims"),
  aheadPerSecond: origin("ahead"),
  sharedPerSecond: origin("shared"),
  missesPerSecond: origin("misses"),
  // Hits per second, by the level that found them.
  roundHitsPerSecond: level("round"),
  hybridHitsPerSecond: level("hybrid"),
  storeHitsPerSecond: level("store"),
  storedItems: ({ stats }) => stats.store.items,
  residentBytes: ({ stats }) => stats.process.residentBytes,
  heapBytes: ({ stats }) => stats.process.heapBytes,
  bufferBytes: ({ stats }) => stats.health.memory.value,
  mirrorBytes: ({ mirrors }) => mirrors?.bytes ?? NaN,
  waitingWrites: ({ stats }) => stats.write.waitingWrites,
  pendingItems: ({ stats }) => stats.store.pending,
  queuedItems: ({ stats }) => stats.meaning?.hybrid.itemCount ?? NaN,
  unsentRows: ({ stats }) => (stats.store.index === undefined ? NaN : stats.store.unsent),
  parkedItems: ({ stats }) => stats.store.parked,
} satisfies { readonly [name: string]: Read };

/** The name of a series: what is measured, with its unit last. */
export type SeriesName = keyof typeof SERIES;
export const SERIES_NAMES = Object.keys(SERIES) as readonly SeriesName[];
