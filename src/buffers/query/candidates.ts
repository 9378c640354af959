/** Candidates of a question: what either arm has found, each item once, with both scores as far as they are known. */
import { type Candidate, NEAREST } from "../../retrieval/fusion.js";
import type { Scored } from "../../stores/store.js";
import type { Level } from "../../types.js";
import type { MeaningHit } from "../meaning.js";

export interface FoundCandidate extends Candidate {
  /** The reference it was found by. */
  readonly item: Scored;
  /** The youngest level that has it. */
  readonly level: Level;
}

export function candidatesOf(words: readonly Scored[], meaning: readonly MeaningHit[]): readonly FoundCandidate[] {
  const near = new Map(meaning.map((hit) => [hit.key, hit]));
  const byWords = words.map((item) => withMeaning({ ...candidateOf(item), words: item.score }, near.get(item.key)));
  const known = new Set(words.map(({ key }) => key));
  const byMeaning = meaning.flatMap((hit, rank) => {
    if (known.has(hit.key)) return [];
    return withMeaning({ ...candidateOf(hit), ...(rank >= NEAREST && { isFar: true }) }, hit);
  });
  return [...byWords, ...byMeaning];
}

/** Scored in two versions, it was edited in between: what belongs to the other text does not count. */
export function withMeaning(candidate: FoundCandidate, hit: MeaningHit | undefined): FoundCandidate {
  if (hit?.version !== candidate.item.version) return candidate;
  return { ...candidate, meaning: hit.score, level: hit.level };
}

function candidateOf(item: Scored): FoundCandidate {
  const { key, role, occurredAt, sessionId } = item;
  return {
    key,
    ...(role !== undefined && { role }),
    occurredAt,
    ...(sessionId !== undefined && { sessionId }),
    item,
    level: "store",
  };
}
