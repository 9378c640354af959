/** The plots of the page: what each shows, in which unit. */

import { bytes, ms, short } from "../../parts/format.js";
import type { Series } from "../../parts/history.js";
import type { Line } from "../../parts/plot.js";

export interface PlotOf {
  readonly title: string;
  readonly note?: string;
  readonly shown: (value: number) => string;
  readonly steps?: readonly number[];
  readonly most?: number;
  readonly lines: (series: Series) => readonly Line[];
}

const perSecond = (value: number): string => `${Number(value.toPrecision(3))}/s`;
const percent = (value: number): string => `${Math.round(value)} %`;
const whole = (value: number): string => (Number.isInteger(value) ? short(value) : value.toFixed(1));

/** 1 byte to 8 TiB, and 1 to 500 million. */
const BINARY = Array.from({ length: 44 }, (_, power) => 2 ** power);
const WHOLE = Array.from({ length: 27 }, (_, at) => ([1, 2, 5][at % 3] as number) * 10 ** Math.floor(at / 3));

type Timed = "add" | "cachedQuery" | "coldQuery" | "context" | "transfer" | "flush" | "meaning";

const latency = (name: Timed, title: string): PlotOf => ({
  title,
  shown: ms,
  lines: (series) => [
    { name: "Median", values: series[`${name}P50Ms`] },
    { name: "95 of 100", values: series[`${name}P95Ms`] },
    { name: "99 of 100", values: series[`${name}P99Ms`] },
  ],
});

/** The part of the questions of each interval that a level answered, in percent. */
function shares({ queriesPerSecond, ...series }: Series): readonly Line[] {
  const share = (...parts: readonly (readonly (number | null)[])[]) =>
    queriesPerSecond.map((all, at) =>
      all ? (100 * parts.reduce((sum, values) => sum + (values[at] ?? 0), 0)) / all : null,
    );
  return [
    { name: "Answers", values: share(series.answersPerSecond) },
    { name: "Rankings", values: share(series.rankingsPerSecond) },
    { name: "Victims", values: share(series.victimsPerSecond) },
    { name: "Ahead", values: share(series.aheadPerSecond) },
    { name: "Search", values: share(series.sharedPerSecond, series.missesPerSecond) },
  ];
}

export const GROUPS: readonly (readonly [name: string, plots: readonly PlotOf[]])[] = [
  [
    "Throughput",
    [
      {
        title: "Writes",
        shown: perSecond,
        lines: (series) => [
          { name: "Items", values: series.messagesPerSecond },
          { name: "Adds", values: series.addsPerSecond },
        ],
      },
      {
        title: "Reads",
        shown: perSecond,
        lines: (series) => [
          { name: "Queries", values: series.queriesPerSecond },
          { name: "Contexts", values: series.contextsPerSecond },
        ],
      },
      {
        title: "Items stored",
        shown: whole,
        steps: WHOLE,
        lines: (series) => [{ name: "Items", values: series.storedItems }],
      },
    ],
  ],
  [
    "Latency",
    [
      latency("add", "Add"),
      latency("context", "Context"),
      latency("cachedQuery", "Query, cached"),
      latency("coldQuery", "Query, cold"),
      latency("transfer", "Transfer and embed"),
      latency("flush", "Flush to the store"),
      latency("meaning", "Write → searchable by meaning"),
    ],
  ],
  [
    "Where answers come from",
    [
      { title: "Questions, by the level that answered", shown: percent, most: 100, lines: shares },
      {
        title: "Hits, by the level that found them",
        shown: perSecond,
        lines: (series) => [
          { name: "Store", values: series.storeHitsPerSecond },
          { name: "HybridBuffer", values: series.hybridHitsPerSecond },
          { name: "RoundBuffer", values: series.roundHitsPerSecond },
        ],
      },
    ],
  ],
  [
    "Memory",
    [
      {
        title: "Process",
        shown: bytes,
        steps: BINARY,
        lines: (series) => [
          { name: "Resident", values: series.residentBytes },
          { name: "Heap", values: series.heapBytes },
        ],
      },
      {
        title: "Buffers and vectors",
        shown: bytes,
        steps: BINARY,
        lines: (series) => [
          { name: "Buffers", values: series.bufferBytes },
          { name: "Mirrors of vectors", values: series.mirrorBytes },
        ],
      },
    ],
  ],
  [
    "Queues",
    [
      {
        title: "Waiting",
        shown: whole,
        steps: WHOLE,
        lines: (series) => [
          { name: "Calls to commit", values: series.waitingWrites },
          { name: "Items to embed", values: series.pendingItems },
          { name: "Items to write", values: series.queuedItems },
          { name: "Changes to send", values: series.unsentRows },
        ],
      },
      {
        title: "Parked",
        note: "Items that could not be embedded. Search by words still finds them.",
        shown: whole,
        steps: WHOLE,
        lines: (series) => [{ name: "Items", values: series.parkedItems }],
      },
    ],
  ],
];
