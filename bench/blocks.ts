/**
 * Blocks: raw, Holdfast, raw, Holdfast …, so that whatever else the machine does meets both. A mode starts with two
 * empty files; both grow from round to round by the same messages. A first block on both sides warms up code and caches
 * and is not counted.
 */
import { setTimeout as pause } from "node:timers/promises";
import type { Data } from "./data.js";
import { Holdfast, type LoopDelay, withLoopDelay } from "./holdfast.js";
import { groupsOf, type Mode } from "./mode.js";
import { Raw, type Workplace } from "./raw.js";
import { type Latency, latency, type Spread, spread, type Timings } from "./timings.js";

export interface Side {
  readonly messagesPerSecond: Spread;
  /** Milliseconds of one call (raw: one transaction), over all rounds. */
  readonly latency: Latency;
}

export interface BlockReport {
  readonly mode: Mode;
  readonly messages: number;
  readonly raw: Side;
  /** `commits`: transactions per round. */
  readonly holdfast: Side & { readonly commits: number };
  /** Holdfast's messages per second as a share of raw SQLite's, round by round. */
  readonly ratio: Spread;
  /** While Holdfast writes: p50 the median, p99 and max the worst of the rounds. */
  readonly loopDelay: LoopDelay;
}

/** After a Holdfast block, so that a checkpoint in its background does not slow the raw block that follows. */
const SETTLE_MS = 100;

export async function measureBlocks(
  place: Workplace,
  data: Data,
  mode: Mode,
  { rounds, messages }: { readonly rounds: number; readonly messages: number },
): Promise<BlockReport> {
  const sides = { raw: new Raw(place), holdfast: await Holdfast.open(place) };
  const raw: Timings[] = [];
  const holdfast: Timings[] = [];
  const delays: LoopDelay[] = [];
  let commitsBefore = 0;
  for (let round = 0; round <= rounds; round++) {
    const groups = groupsOf(mode, data.take(round * messages, messages));
    const rawTimings = sides.raw.run(await sides.raw.prepare(groups));
    const [timings, delay] = await withLoopDelay(() => sides.holdfast.run(mode, groups));
    await pause(SETTLE_MS);
    if (round === 0) {
      commitsBefore = await sides.holdfast.commits();
      continue;
    }
    raw.push(rawTimings);
    holdfast.push(timings);
    delays.push(delay);
  }
  const commits = ((await sides.holdfast.commits()) - commitsBefore) / rounds;
  sides.raw.close();
  await sides.holdfast.close();
  const ratios = holdfast.map(({ perSecond }, round) => perSecond / (raw[round]?.perSecond ?? Number.NaN));
  return {
    mode,
    messages,
    raw: sideOf(raw),
    holdfast: { ...sideOf(holdfast), commits },
    ratio: spread(ratios),
    loopDelay: {
      p50: spread(delays.map(({ p50 }) => p50)).median,
      p99: spread(delays.map(({ p99 }) => p99)).max,
      max: spread(delays.map(({ max }) => max)).max,
    },
  };
}

function sideOf(rounds: readonly Timings[]): Side {
  return {
    messagesPerSecond: spread(rounds.map(({ perSecond }) => perSecond)),
    latency: latency(rounds.flatMap(({ calls }) => calls)),
  };
}
