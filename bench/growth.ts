/**
 * Growth: the cost of a message in a file of a thousand messages and in one of a hundred thousand, compared with raw SQLite's
 * own growth. Both files grow in alternating blocks, with addBatch of 100 rounds (100 per transaction).
 *
 * A new memory has a new thread, whose code is slow at first; that would look like a high cost at a thousand messages. So the
 * thread is warmed up with a hundred messages that are added again and again, which stores them once.
 */
import type { Data } from "./data.js";
import { Holdfast } from "./holdfast.js";
import { groupsOf } from "./mode.js";
import type { Workplace } from "./place.js";
import { Raw } from "./raw.js";
import { Recorder } from "./recording.js";
import { type Spread, spread } from "./timings.js";

export interface Curve {
  /** Microseconds per message around each size. */
  readonly microseconds: { readonly [size: string]: number };
  /** Cost at the end ÷ cost at a thousand. */
  readonly factor: Spread;
}

export interface GrowthReport {
  readonly messages: number;
  readonly raw: Curve;
  readonly holdfast: Curve;
  /** Holdfast's factor ÷ raw SQLite's factor. */
  readonly relative: Spread;
}

const BLOCK = 2_000;
const START = 1_000;

const WARM_UP_TIMES = 50;

/** The cost at a size is measured on blocks that end within this share of the size. */
const WINDOW = 0.1;

export async function measureGrowth(
  place: Workplace,
  data: Data,
  messages: number,
  rounds: number,
): Promise<GrowthReport> {
  const sizes = [START, 5_000, 10_000, 20_000, 50_000, 100_000].filter((size) => size <= messages);
  const raws: number[][] = [];
  const holdfasts: number[][] = [];
  for (let round = 0; round < rounds; round++) {
    const costs = await growOnce(place, data, messages);
    raws.push(sizes.map((size) => costAt(costs.raw, size)));
    holdfasts.push(sizes.map((size) => costAt(costs.holdfast, size)));
  }
  const factors = (runs: readonly number[][]) => runs.map((run) => (run.at(-1) ?? 0) / (run[0] ?? 1));
  const [raw, holdfast] = [factors(raws), factors(holdfasts)];
  return {
    messages,
    raw: { microseconds: medians(sizes, raws), factor: spread(raw) },
    holdfast: { microseconds: medians(sizes, holdfasts), factor: spread(holdfast) },
    relative: spread(holdfast.map((factor, round) => factor / (raw[round] ?? 1))),
  };
}

/** Milliseconds per message of every block, on both sides. */
async function growOnce(
  place: Workplace,
  data: Data,
  messages: number,
): Promise<{ raw: number[]; holdfast: number[] }> {
  const recorder = new Recorder(place);
  const raw = new Raw(place, "same");
  const holdfast = await Holdfast.open(place);
  await warmUp(holdfast, data);
  const costs = { raw: [] as number[], holdfast: [] as number[] };
  for (let from = 0; from < messages; from += BLOCK) {
    const groups = groupsOf("batch", data.take(from, BLOCK));
    costs.raw.push(raw.run(await recorder.record(groups)).msPerMessage);
    costs.holdfast.push((await holdfast.run("batch", groups)).msPerMessage);
  }
  recorder.close();
  raw.close();
  await holdfast.close();
  return costs;
}

async function warmUp(holdfast: Holdfast, data: Data): Promise<void> {
  const lines = data.take(0, 100).map(({ message }, at) => ({
    conversation: "warm-up",
    message: { ...message, id: `warm-up-${at}` },
  }));
  for (let time = 0; time < WARM_UP_TIMES; time++) await holdfast.run("batch", [lines]);
}

function costAt(blocks: readonly number[], size: number): number {
  const last = Math.min(blocks.length, Math.ceil(size / BLOCK));
  const first = Math.min(last - 1, Math.floor((size * (1 - WINDOW)) / BLOCK));
  const window = blocks.slice(first, last);
  return window.reduce((sum, cost) => sum + cost, 0) / window.length;
}

function medians(sizes: readonly number[], runs: readonly (readonly number[])[]): { [size: string]: number } {
  return Object.fromEntries(
    sizes.map((size, at) => [size, 1000 * spread(runs.map((run) => run[at] ?? Number.NaN)).median]),
  );
}
