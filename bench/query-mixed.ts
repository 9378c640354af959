/**
 * Queries and adds together, as a busy agent makes them: both arrive at random times, whether or not earlier calls have
 * returned (open loop), and are timed from their scheduled time. Every add changes the queried space, so no answer comes from
 * a cache. MiniLM embeds queries and messages in its thread; the stored vectors are those of the clustered embedder.
 */
import { setTimeout as pause } from "node:timers/promises";
import { openMemory } from "holdfast";
import { MiniLmEmbedder } from "holdfast/embedding";
import { ClusteredEmbedder } from "./clustered-embedder.js";
import { randomFrom } from "./data.js";
import { type LoopDelay, withLoopDelay } from "./holdfast.js";
import { Chat, userName } from "./query-data.js";
import type { MadeFile } from "./query-file.js";
import { type Latency, latency } from "./timings.js";

export const QUESTIONS_PER_SECOND = 50;
export const ADDS_PER_SECOND = 20;
const WARM_UP_MS = 3_000;
const SECONDS = 15;
/** If this many queries wait, further ones are not sent: the memory cannot keep up. */
const ABREAST_MAX = 50;

export interface MixedReport {
  readonly loopDelay: LoopDelay;
  readonly query: Latency;
  readonly add: Latency;
  readonly questions: number;
  /** Queries that were not sent, because too many were waiting. */
  readonly refused: number;
  readonly partial: number;
}

export async function measureMixed({ path, shape }: MadeFile): Promise<MixedReport> {
  const chat = new Chat(shape, 5);
  const miniLm = new MiniLmEmbedder();
  const memory = await openMemory({ path, embedder: new ClusteredEmbedder(miniLm) });
  const session = memory.session({ user: userName(0), agent: "assistant", session: "mixed" });
  const warm = performance.now() + WARM_UP_MS;
  while (performance.now() < warm) await session.query(chat.question().text);

  const times = { query: [] as number[], add: [] as number[] };
  let [waiting, refused, partial] = [0, 0, 0];
  const ask = async (due: number): Promise<void> => {
    if (waiting >= ABREAST_MAX) {
      refused++;
      return;
    }
    waiting++;
    if ((await session.query(chat.question().text, { topK: 10 })).partial) partial++;
    waiting--;
    times.query.push(performance.now() - due);
  };
  const add = async (due: number): Promise<void> => {
    await session.add([{ role: "user", content: chat.text() }]);
    times.add.push(performance.now() - due);
  };
  const [, loopDelay] = await withLoopDelay(() =>
    Promise.all([arrivals(QUESTIONS_PER_SECOND, 11, ask), arrivals(ADDS_PER_SECOND, 13, add)]),
  );
  await memory.close();
  await miniLm.close();
  const [query, added] = [latency(times.query), latency(times.add)];
  return { loopDelay, query, add: added, questions: times.query.length, refused, partial };
}

/** Makes calls at random times, at an average rate; resolves when all have returned. */
async function arrivals(perSecond: number, seed: number, call: (due: number) => Promise<void>): Promise<void> {
  const random = randomFrom(seed);
  const calls: Promise<void>[] = [];
  const end = performance.now() + SECONDS * 1000;
  for (let due = performance.now(); due < end; ) {
    due += (-Math.log(1 - random()) * 1000) / perSecond;
    const early = due - performance.now();
    if (early > 0) await pause(early);
    calls.push(call(due));
  }
  await Promise.all(calls);
}
