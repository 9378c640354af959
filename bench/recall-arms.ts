/**
 * Ablations: the same questions with one part of the ranking left out. What a hit's `why` tells apart is taken off its
 * score and the hits are ranked again; other parts need another memory, or one whose store keeps something to itself.
 */
import type { Hit, Hits } from "holdfast";

/** How the memory of an arm differs from everyone's. */
export interface ArmMemory {
  readonly embeddingModel?: "none";
  /** Each turn in a session of its own: nobody has neighbours. */
  readonly alone?: true;
  /** The store does not tell who speaks. */
  readonly speakers?: false;
}

export interface Arm {
  readonly name: string;
  readonly memory: ArmMemory;
  /** Ranks explained hits anew; left out: as they come. */
  readonly rank?: (hit: Hit) => number;
}

const EVERYONES: ArmMemory = {};
const less = (share: (hit: Hit) => number) => (hit: Hit) => hit.score - share(hit);

export const ARMS: readonly Arm[] = [
  { name: "full", memory: EVERYONES },
  { name: "words", memory: { embeddingModel: "none" } },
  { name: "meaning", memory: EVERYONES, rank: ({ why }) => why?.meaning?.score ?? -1 },
  { name: "no role", memory: EVERYONES, rank: less(({ why }) => why?.role ?? 0) },
  { name: "no date", memory: EVERYONES, rank: less(({ why }) => why?.date ?? 0) },
  { name: "no session", memory: EVERYONES, rank: less(({ why }) => why?.session ?? 0) },
  { name: "no first person", memory: { speakers: false } },
  { name: "no neighbours", memory: { alone: true } },
];

/** The ids of the best `count` by this arm. */
export function rankedBy({ rank }: Arm, hits: Hits, count: number): readonly string[] {
  const best = rank ? [...hits].sort((a, b) => rank(b) - rank(a)) : hits;
  return best.slice(0, count).map(({ id }) => id);
}
