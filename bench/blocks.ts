/**
 * Blocks: raw, Holdfast, raw, Holdfast …, so that whatever else the machine does meets both (and a block of bare SQLite
 * after each). A mode starts with empty files, which grow from round to round by the same messages. A first round warms
 * up code and caches and is not counted.
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
  /** Holdfast's messages per second as a share of raw SQLite's, round by round. */
  readonly ratio: Spread;
  readonly bareRatio: Spread;
  /** While Holdfast writes: p50 the median, p99 and max the worst of the rounds. */
  readonly loopDelay: LoopDelay;
}

/** After a Holdfast block, so that a checkpoint in its background does not slow the block that follows. */
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
