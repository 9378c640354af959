/**
 * Lag: how long after a write a message is searchable, at a given rate of messages. Runs in the process of a trial.
 *
 * Messages arrive at random times derived from a seed, whether or not earlier calls have returned (open loop); a call is timed
 * from its scheduled time. A message is searchable by words when its add returns. It is searchable by meaning when its vectors
 * are in the VectorCache, by the memory's own metric, counted from the `recordedAt` of its transaction. A query would be
 * faster: it first embeds the newest messages.
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
  /** RoundBuffer → HybridBuffer, including embedding; HybridBuffer → store. */
  readonly transfer: Latency;
  readonly flush: Latency;
  readonly loopDelay: LoopDelay;
  /** The share of one core that the process used. */
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
  const { meaning, transfer, flush } = (await memory.stats()).latencies;
  await memory.close();
  await made.close();
  if (meaning.count !== lines.length) throw new Error(`${meaning.count} of ${lines.length} messages were embedded`);
  return { perSecond, messages: lines.length, words: latency(words), meaning, transfer, flush, loopDelay, cpu };
}
