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
  const near = new Map<number, MeaningHit>();
  for (const hit of meaning) near.set(hit.key, hit);
  const known = new Set<number>();
  const candidates: FoundCandidate[] = [];
  for (const item of words) {
    known.add(item.key);
    candidates.push(candidateOf(item, item.score, near.get(item.key)));
  }
  for (const [rank, hit] of meaning.entries()) {
    if (!known.has(hit.key)) candidates.push(candidateOf(hit, undefined, hit, rank >= NEAREST));
  }
  return candidates;
}

/** Scored in two versions, it was edited in between: what belongs to the other text does not count. */
function candidateOf(
  item: Scored,
  words: number | undefined,
  hit: MeaningHit | undefined,
  isFar = false,
): FoundCandidate {
  const { key, role, occurredAt, sessionId } = item;
  const same = hit?.version === item.version ? hit : undefined;
  const [meaning, level] = same ? [same.score, same.level] : [undefined, "store" as const];
  return { key, role, occurredAt, sessionId, words, meaning, isFar, item, level };
}
