/**
 * Blocks: raw, Holdfast, raw, Holdfast …, so that whatever else the machine does meets both. Every round has fresh
 * files and its own messages, the same for both sides; the first messages of a file warm it up and are not counted.
 */
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
  readonly holdfast: Side & { readonly commits: number };
  /** Holdfast's messages per second as a share of raw SQLite's, round by round. */
  readonly ratio: Spread;
  /** While Holdfast writes: p50 the median, p99 and max the worst of the rounds. */
  readonly loopDelay: LoopDelay;
}

const WARM_UP = 200;

export async function measureBlocks(
  place: Workplace,
  data: Data,
  mode: Mode,
  { rounds, messages }: { readonly rounds: number; readonly messages: number },
): Promise<BlockReport> {
  const raw: Timings[] = [];
  const holdfast: Timings[] = [];
  const delays: LoopDelay[] = [];
  let commits = 0;
  for (let round = 0; round < rounds; round++) {
    const from = round * (messages + WARM_UP);
    const warmUp = groupsOf(mode, data.take(from, WARM_UP));
    const groups = groupsOf(mode, data.take(from + WARM_UP, messages));
    raw.push(await rawBlock(place, warmUp, groups));
    const block = await holdfastBlock(place, mode, warmUp, groups);
    holdfast.push(block.timings);
    delays.push(block.delay);
    commits += block.commits;
  }
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

type Groups = ReturnType<typeof groupsOf>;

async function rawBlock(place: Workplace, warmUp: Groups, groups: Groups): Promise<Timings> {
  const raw = new Raw(place);
  raw.run(await raw.prepare(warmUp));
  const timings = raw.run(await raw.prepare(groups));
  raw.close();
  return timings;
}

async function holdfastBlock(place: Workplace, mode: Mode, warmUp: Groups, groups: Groups) {
  const holdfast = await Holdfast.open(place);
  await holdfast.run(mode, warmUp);
  const { totalGroups } = (await holdfast.memory.stats()).write;
  const [timings, delay] = await withLoopDelay(() => holdfast.run(mode, groups));
  const commits = (await holdfast.memory.stats()).write.totalGroups - totalGroups;
  await holdfast.close();
  return { timings, delay, commits };
}

function sideOf(rounds: readonly Timings[]): Side {
  return {
    messagesPerSecond: spread(rounds.map(({ perSecond }) => perSecond)),
    latency: latency(rounds.flatMap(({ calls }) => calls)),
  };
}
