/**
 * Lag: how long after it was written a message can be found, at a given rate of messages. Runs in the process of a trial.
 *
 * Messages come at random moments that follow from a seed, whether or not earlier ones were answered (open loop); a call
 * is timed from the moment at which it should have been made. By words a message can be found when its add is answered.
 * By meaning: when its vectors are in the VectorCache, as the memory's own meter sees it, counted from the `recordedAt`
 * that its transaction gave it. A question would come before that: it has the newest messages embedded first.
 */
import { setTimeout as pause } from "node:timers/promises";
import { openMemory } from "holdfast";
import { sessionsOf } from "./audience.js";
import { type Line, randomFrom } from "./data.js";
import { makeEmbedder } from "./embedders.js";
import { type LoopDelay, withLoopDelay } from "./holdfast.js";
import { type Latency, latency } from "./timings.js";
import type { LagTrial } from "./trial.js";

const SEED = 7;

export interface LagReport {
  readonly perSecond: number;
  readonly messages: number;
  /** Milliseconds. */
  readonly words: Latency;
  readonly meaning: Latency;
  readonly loopDelay: LoopDelay;
  /** Share of one core that the process used. */
  readonly cpu: number;
}

export async function measureLag(
  { embedder, perSecond }: LagTrial,
  path: string,
  lines: readonly Line[],
): Promise<LagReport> {
  const made = await makeEmbedder(embedder);
  await made.embedder.embed(["ready"]);
  const memory = await openMemory({ path, embedder: made.embedder });
  const sessions = sessionsOf(memory);
  const random = randomFrom(SEED);
  const words: number[] = [];

  const write = async (): Promise<void> => {
    const calls: Promise<void>[] = [];
    let due = performance.now();
    for (const { message } of lines) {
      due += (-Math.log(1 - random()) * 1000) / perSecond;
      const early = due - performance.now();
      if (early > 0) await pause(early);
      const session = sessions[Math.floor(random() * sessions.length)];
      const from = due;
      calls.push(session?.add([message]).then(() => void words.push(performance.now() - from)) ?? Promise.resolve());
    }
    await Promise.all(calls);
  };

  const cpuBefore = process.cpuUsage();
  const started = performance.now();
  const [, loopDelay] = await withLoopDelay(write);
  const { user, system } = process.cpuUsage(cpuBefore);
  const cpu = (user + system) / 1000 / (performance.now() - started);
  await memory.flush();
  const { meaning } = (await memory.stats()).latencies;
  await memory.close();
  await made.close();
  if (meaning.count !== lines.length) throw new Error(`${meaning.count} of ${lines.length} messages were embedded`);
  return { perSecond, messages: lines.length, words: latency(words), meaning, loopDelay, cpu };
}
