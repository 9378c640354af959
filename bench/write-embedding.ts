/**
 * What the embedding pipeline costs an add: the same messages without an embedding model and with the shipped one, in
 * alternating blocks. Between blocks everything that is pending is embedded, outside the measured time.
 */
import type { Side } from "./blocks.js";
import type { Data } from "./data.js";
import { Holdfast } from "./holdfast.js";
import { groupsOf, type Mode } from "./mode.js";
import type { Workplace } from "./place.js";
import { latency, type Spread, spread, type Timings } from "./timings.js";

export interface EmbeddingReport {
  readonly mode: Mode;
  readonly messages: number;
  readonly without: Side;
  readonly embedding: Side;
  /** With the model ÷ without it, per round: the median latency of a call, and messages per second. */
  readonly p50: Spread;
  readonly perSecond: Spread;
  /** Bytes of each file per message after close. With the model they include the vectors. */
  readonly bytesPerMessage: { readonly without: number; readonly embedding: number };
}

export async function measureEmbedding(
  place: Workplace,
  data: Data,
  mode: Mode,
  { rounds, messages }: { readonly rounds: number; readonly messages: number },
): Promise<EmbeddingReport> {
  const sides = { without: await Holdfast.open(place), embedding: await Holdfast.open(place, {}) };
  const timings: { readonly [side in keyof typeof sides]: Timings[] } = { without: [], embedding: [] };
  for (let round = 0; round <= rounds; round++) {
    const groups = groupsOf(mode, data.take(round * messages, messages));
    for (const side of ["without", "embedding"] as const) {
      const timed = await sides[side].run(mode, groups);
      await sides[side].memory.flush();
      if (round > 0) timings[side].push(timed); // the first round warms up
    }
  }
  const written = (rounds + 1) * messages;
  const bytesPerMessage = {
    without: (await sides.without.close()) / written,
    embedding: (await sides.embedding.close()) / written,
  };
  const per = (measure: (timed: Timings) => number): Spread =>
    spread(timings.embedding.map((timed, round) => measure(timed) / measure(timings.without[round] as Timings)));
  return {
    mode,
    messages,
    without: sideOf(timings.without),
    embedding: sideOf(timings.embedding),
    p50: per(({ calls }) => latency(calls).p50),
    perSecond: per(({ perSecond }) => perSecond),
    bytesPerMessage,
  };
}

const sideOf = (rounds: readonly Timings[]): Side => ({
  messagesPerSecond: spread(rounds.map(({ perSecond }) => perSecond)),
  latency: latency(rounds.flatMap(({ calls }) => calls)),
});
