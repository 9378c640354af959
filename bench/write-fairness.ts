/** Fairness: the latency of a single add while another session writes ten thousand messages in one call. */
import type { NewMessage } from "holdfast";
import type { Data } from "./data.js";
import { Holdfast, type LoopDelay, withLoopDelay } from "./holdfast.js";
import type { Workplace } from "./place.js";
import { type Latency, latency, Timings } from "./timings.js";

/** alone: nothing else is written · batches: addBatch of 10,000 rounds · rounds: one add of 10,000 messages. */
export const NEIGHBOURS = ["alone", "batches", "rounds"] as const;
export type Neighbour = (typeof NEIGHBOURS)[number];

export interface FairnessReport {
  readonly neighbour: Neighbour;
  /** Milliseconds of a single add. */
  readonly single: Latency;
  readonly singles: number;
  /** What the neighbour wrote in the meantime. */
  readonly neighbourMessagesPerSecond: number;
  readonly loopDelay: LoopDelay;
}

const LARGE = 10_000;

export async function measureFairness(
  place: Workplace,
  data: Data,
  singles: number,
): Promise<readonly FairnessReport[]> {
  const reports: FairnessReport[] = [];
  for (const neighbour of NEIGHBOURS) {
    const holdfast = await Holdfast.open(place);
    const large = data.take(0, LARGE).map(({ message }) => message);
    for (const line of data.take(LARGE, 200)) await holdfast.add(line, new Timings());
    reports.push(await measureBeside(holdfast, neighbour, large, data.take(LARGE + 200, singles)));
    await holdfast.close();
  }
  return reports;
}

async function measureBeside(
  holdfast: Holdfast,
  neighbour: Neighbour,
  large: readonly NewMessage[],
  lines: ReturnType<Data["take"]>,
): Promise<FairnessReport> {
  const timings = new Timings();
  let over = neighbour === "alone";
  let written = 0;
  const [, loopDelay] = await withLoopDelay(async () => {
    const beside = (async () => {
      const session = holdfast.session("neighbour");
      while (!over) {
        if (neighbour === "batches") await session.addBatch(large.map((message) => [message]));
        else await session.add(large);
        written += large.length;
      }
    })();
    for (const line of lines) await holdfast.add(line, timings);
    over = true;
    await beside;
  });
  timings.end();
  const neighbourMessagesPerSecond = (written * 1000) / timings.totalMs;
  return { neighbour, single: latency(timings.calls), singles: lines.length, neighbourMessagesPerSecond, loopDelay };
}
