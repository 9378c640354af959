/**
 * Ablations: the same questions with one part of the ranking removed. Parts that a hit's `why` reports are subtracted from its
 * score, and the hits are ranked again; other parts need another memory, or a store that hides something.
 */
import type { Hit, Hits } from "holdfast";

/** How the memory of an arm differs from the default. */
export interface ArmMemory {
  readonly embeddingModel?: "none";
  /** Puts each turn into its own session, without neighbours. */
  readonly alone?: true;
  /** The store does not return the speakers. */
  readonly speakers?: false;
}

export interface Arm {
  readonly name: string;
  readonly memory: ArmMemory;
  /** Ranks explained hits again; default: as returned. */
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

/** The ids of the best `count` hits of this arm. */
export function rankedBy({ rank }: Arm, hits: Hits, count: number): readonly string[] {
  const best = rank ? [...hits].sort((a, b) => rank(b) - rank(a)) : hits;
  return best.slice(0, count).map(({ id }) => id);
}
