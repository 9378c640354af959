/**
 * Blocks: raw, Holdfast, raw, Holdfast … (and a block of bare SQLite after each), so that other load on the machine affects
 * both sides. A mode starts with empty files, which grow by the same messages in each round. A first round warms up code and
 * caches and is not counted.
 */
import { setTimeout as pause } from "node:timers/promises";
import type { Data } from "./data.js";
import { Holdfast, type LoopDelay, withLoopDelay } from "./holdfast.js";
import { groupsOf, type Mode } from "./mode.js";
import type { Workplace } from "./place.js";
import { Raw } from "./raw.js";
import { Recorder } from "./recording.js";
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
  readonly bare: Side;
  /** `commits`: transactions per round. */
  readonly holdfast: Side & { readonly commits: number };
  /** Holdfast's messages per second relative to raw SQLite's, per round. */
  readonly ratio: Spread;
  readonly bareRatio: Spread;
  /** While Holdfast writes: the median of p50, and the worst p99 and max of all rounds. */
  readonly loopDelay: LoopDelay;
}

/** Pause after a Holdfast block, so that its background checkpoint does not slow the next block. */
const SETTLE_MS = 100;

export async function measureBlocks(
  place: Workplace,
  data: Data,
  mode: Mode,
  { rounds, messages }: { readonly rounds: number; readonly messages: number },
): Promise<BlockReport> {
  const recorder = new Recorder(place);
  const sides = { raw: new Raw(place, "same"), bare: new Raw(place, "bare"), holdfast: await Holdfast.open(place) };
  const raw: Timings[] = [];
  const bare: Timings[] = [];
  const holdfast: Timings[] = [];
  const delays: LoopDelay[] = [];
  let commitsBefore = 0;
  for (let round = 0; round <= rounds; round++) {
    const groups = groupsOf(mode, data.take(round * messages, messages));
    const recording = await recorder.record(groups);
    const rawTimings = sides.raw.run(recording);
    const [timings, delay] = await withLoopDelay(() => sides.holdfast.run(mode, groups));
    await pause(SETTLE_MS);
    const bareTimings = sides.bare.run(recording);
    if (round === 0) {
      commitsBefore = await sides.holdfast.commits();
      continue;
    }
    raw.push(rawTimings);
    bare.push(bareTimings);
    holdfast.push(timings);
    delays.push(delay);
  }
  const commits = ((await sides.holdfast.commits()) - commitsBefore) / rounds;
  recorder.close();
  sides.raw.close();
  sides.bare.close();
  await sides.holdfast.close();
  return {
    mode,
    messages,
    raw: sideOf(raw),
    bare: sideOf(bare),
    holdfast: { ...sideOf(holdfast), commits },
    ratio: ratioOf(holdfast, raw),
    bareRatio: ratioOf(holdfast, bare),
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

function ratioOf(holdfast: readonly Timings[], raw: readonly Timings[]): Spread {
  return spread(holdfast.map(({ perSecond }, round) => perSecond / (raw[round]?.perSecond ?? Number.NaN)));
}
