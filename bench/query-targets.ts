/** The targets for queries, and whether they were met. */
import type { Machine } from "./machine.js";
import type { MadeFile } from "./query-file.js";
import type { FirstReport } from "./query-first.js";
import type { MixedReport } from "./query-mixed.js";
import type { SideName, SideReport, SidesReport } from "./query-sides.js";
import type { Verdict } from "./targets.js";
import { spread } from "./timings.js";

/** One file and its measurements. */
export interface FileReport extends Omit<MadeFile, "path"> {
  readonly bytes: number;
  readonly first: readonly FirstReport[];
  readonly sides: SidesReport;
}

export interface QueryReport {
  readonly machine: Machine;
  readonly rounds: number;
  readonly files: readonly FileReport[];
  /** For the largest file of one user. */
  readonly mixed?: MixedReport & { readonly messages: number };
}

const CACHED_MS_MAX = 0.05;
const OF_SQLITE_VEC_MAX = 1 / 5;
const OF_BANDWIDTH_MAX = 3;
const COLD_P95_MS_MAX = 30;
const USER_P50_MS_MAX = 3;
const WORDS_P95_MS_MAX = 5;
const FIRST_MS_MAX: { readonly [messages: number]: number } = { 1000: 50, 10000: 100, 100000: 300 };
const LOOP_P99_MS_MAX = 20;
/** The sizes that have targets. */
const LARGE = 100_000;
const PER_USER = 1_000;

export function sideOf({ sides }: FileReport, name: SideName): SideReport | undefined {
  return sides.sides.find(({ side }) => side === name);
}

/** The p50 of one side as a multiple of the other's, both measured in the same rounds. */
export function ratioOf(file: FileReport, side: SideName, other: SideName): number {
  return (sideOf(file, side)?.p50 ?? Number.NaN) / (sideOf(file, other)?.p50 ?? Number.NaN);
}

export const firstMsOf = ({ first }: FileReport): number => spread(first.map(({ firstMs }) => firstMs)).median;

export function nameOf({ shape: { messages, users } }: Pick<FileReport, "shape">): string {
  const size = `${messages / 1000} k`;
  return users === 1 ? size : `${size} over ${users.toLocaleString("en")} users`;
}

export function judgeQueries({ files, mixed }: QueryReport): readonly Verdict[] {
  const verdicts = files.flatMap((file): Verdict[] => {
    const { messages, users } = file.shape;
    const name = nameOf(file);
    const isLarge = messages === LARGE && users === 1;
    const cold = sideOf(file, "cold");
    const firstMax = FIRST_MS_MAX[messages];
    return [
      atMost(`cached, p50 ms, ${name}`, CACHED_MS_MAX, sideOf(file, "cached")?.p50),
      ...(isLarge
        ? [
            atMost(
              `vectors ÷ sqlite-vec (metadata), p50, ${name}`,
              OF_SQLITE_VEC_MAX,
              ratioOf(file, "vectors", "vecMetadata"),
            ),
            atMost(
              `vectors ÷ reading as many bytes, p50, ${name}`,
              OF_BANDWIDTH_MAX,
              ratioOf(file, "vectors", "bandwidth"),
            ),
            atMost(`cold without embedding, p95 ms, ${name}`, COLD_P95_MS_MAX, cold?.p95),
          ]
        : []),
      ...(users > 1 && messages / users === PER_USER
        ? [atMost(`cold, p50 ms, ${name}`, USER_P50_MS_MAX, cold?.p50)]
        : []),
      ...(users > 1 ? [atMost(`words arm, p95 ms, ${name}`, WORDS_P95_MS_MAX, sideOf(file, "words")?.p95)] : []),
      ...(users === 1 && firstMax !== undefined ? [judgeFirst(file, name, firstMax)] : []),
    ];
  });
  if (mixed === undefined) return verdicts;
  const name = `${mixed.messages / 1000} k`;
  return [...verdicts, atMost(`event-loop delay p99 (ms), ${name}`, LOOP_P99_MS_MAX, mixed.loopDelay.p99)];
}

/** An answer by words only counts, however long it takes, if it is marked as such. */
function judgeFirst(file: FileReport, name: string, max: number): Verdict {
  const isPartial = file.first.every(({ partial }) => partial);
  const verdict = atMost(
    `first question after open, ms, ${name}${isPartial ? " (by words, partial)" : ""}`,
    max,
    firstMsOf(file),
  );
  return { ...verdict, target: `${verdict.target} or partial`, pass: verdict.pass || isPartial };
}

function atMost(what: string, max: number, measured: number | undefined): Verdict {
  const isReached = measured !== undefined && measured <= max;
  return { what, target: `≤ ${max}`, measured: measured ?? Number.NaN, pass: isReached };
}
