/** Candidates of a question: what either arm has found, each item once, with both scores as far as they are known. */
import type { Mutable } from "../../mutable.js";
import { type Candidate, NEAREST } from "../../retrieval/fusion.js";
import { type Estimates, eachKnown, type FoundItems } from "../../stores/estimates.js";
import { endingBy, type Scored } from "../../stores/store.js";
import type { Level } from "../../types.js";
import type { Meaning, MeaningHit } from "../meaning.js";

export interface FoundCandidate extends Candidate {
  /** The reference it was found by. */
  readonly item: Scored;
  /** The youngest level that has it. */
  readonly level: Level;
}

/** While it is put together. There are 150 of them in a search, so they are made once, and not copied. */
type Draft = Mutable<FoundCandidate>;

export function candidatesOf(
  words: FoundItems<Scored>,
  meaning: Pick<Meaning, "hits" | "estimates" | "asOf">,
): readonly FoundCandidate[] {
  // What was changed between the two searches has other scores by now.
  const areOfOneTime = words.asOf !== undefined && words.asOf === meaning.asOf;
  const known = areOfOneTime ? { words: words.estimates, meaning: meaning.estimates } : {};
  const near = new Map<number, MeaningHit>();
  for (const hit of meaning.hits) near.set(hit.key, hit);
  const candidates: Draft[] = [];
  const byWords = new Set<number>();
  const withoutMeaning = new Map<number, Draft>();
  for (const item of words) {
    byWords.add(item.key);
    const candidate = candidateOf(item, item.score, near.get(item.key), false);
    candidates.push(candidate);
    if (candidate.meaning === undefined) withoutMeaning.set(item.key, candidate);
  }
  const withoutWords = new Map<number, Draft>();
  for (const [rank, hit] of meaning.hits.entries()) {
    if (byWords.has(hit.key)) continue;
    const candidate = candidateOf(hit, known.words?.isWhole ? 0 : undefined, hit, rank >= NEAREST);
    candidates.push(candidate);
    withoutWords.set(hit.key, candidate);
  }
  eachKnown(known.words, withoutWords, (candidate, score) => {
    candidate.words = score;
  });
  takeBounds(withoutMeaning, known.meaning);
  return candidates;
}

function takeBounds(candidates: ReadonlyMap<number, Draft>, estimates: Estimates | undefined): void {
  eachKnown(estimates, candidates, (candidate, most, slack) => {
    candidate.meaningLeast = most - slack;
    candidate.meaningMost = most;
  });
}

/** Scored in two versions, it was edited in between: what belongs to the other text does not count. */
function candidateOf(item: Scored, words: number | undefined, hit: MeaningHit | undefined, isFar: boolean): Draft {
  const { key, role, occurredAt, sessionId } = item;
  const same = hit?.version === item.version ? hit : undefined;
  return {
    key,
    role,
    occurredAt,
    sessionId,
    words,
    meaning: same?.score,
    meaningLeast: undefined,
    meaningMost: undefined,
    isFar,
    item,
    level: same?.level ?? "store",
  };
}

/** The same with the scores that it has turned out to have; `byWords` as it was scored, if it had to be. */
export function scoredAs(
  { key, role, occurredAt, sessionId, isFar, item: found, words: known }: FoundCandidate,
  byWords: Scored | undefined,
  meaning: number | undefined,
  level: Level,
): FoundCandidate {
  const item = byWords?.until === undefined ? found : endingBy(found, byWords.until);
  return { key, role, occurredAt, sessionId, words: known ?? byWords?.score ?? 0, meaning, isFar, item, level };
}
