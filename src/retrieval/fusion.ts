/**
 * Fusion: combines the two arms (words and meaning) and the bonuses of an item into one ranking.
 *
 * Each arm's score is divided by that arm's best score, so the two can be added and no score depends on the number of
 * candidates. Fusing ranks instead would discard how much better one hit is than the next; it finds less than words
 * alone. docs/benchmarks.md has the ablations of most of these constants.
 */
import type { Mutable } from "../mutable.js";
import type { Role, Why } from "../types.js";
import { roundScore } from "./words/bm25.js";

/** The weight of the words arm; the rest is the meaning arm's. If one arm finds nothing, the other has all of it. */
const WORDS = 0.4;
/**
 * Only this many of the nearest items without a matching word compete; the others rank after everything else. Further
 * down that list are items that merely share the topic, and the role, date and session bonuses would lift them over the
 * answer.
 */
export const NEAREST = 32;
/**
 * Bonus for the role that the question asks about: the user, or the assistant if the question refers back to what it
 * said.
 */
const ROLE = 0.3;
/** Bonus for items from a time that the question names. */
const DATE = 0.3;
/** Bonus for items of a session that has a good hit. */
const SESSION = 0.25;
/**
 * Bonus for items that contain an identifier of the question. Larger than all other terms together, so an exact match
 * always ranks first.
 */
const EXACT = 3;

const DAY_MS = 86_400_000;
/** People remember dates roughly, and talk about events after they happen rather than before. */
const EARLIER_MS = 2 * DAY_MS;
const LATER_MS = 10 * DAY_MS;
const HALF_LIFE_MS = 30 * DAY_MS;

export interface Candidate {
  readonly key: number;
  readonly role?: Role | undefined;
  readonly occurredAt: number;
  /** The session of the item; absent if it has none. */
  readonly sessionId?: string | undefined;
  /** The BM25 score; undefined if words were not searched. */
  readonly words?: number | undefined;
  /** The cosine of the item's best chunk; undefined if it has none or it is not known. */
  readonly meaning?: number | undefined;
  /** How well the item matches identifiers of the question (`exactMatches`); absent if not at all. */
  readonly exact?: number | undefined;
  /** Found by meaning alone, and not among the `NEAREST`. */
  readonly isFar?: boolean | undefined;
}

/** What the question says about the items that it asks for. */
export interface RankingHints {
  readonly refersBack: boolean;
  readonly dates: readonly { readonly from: number; readonly to: number }[];
  /** The weight of recency, 0 to 1, and the time that age is measured from. */
  readonly recency: number;
  readonly askedAt: number;
}

export interface Fused<C> {
  readonly candidate: C;
  readonly score: number;
  readonly why: Why;
}

/** The best candidates, ties newest first. Candidates with `isFar` come last, whatever their bonuses. */
export function fuse<C extends Candidate>(
  candidates: readonly C[],
  hints: RankingHints,
  count = Infinity,
): readonly Fused<C>[] {
  const scales = scalesOf(candidates);
  const near = addSessions(candidates.filter(isNear).map((candidate) => scoreOf(candidate, hints, scales)));
  near.sort(bestFirst);
  const last = near.at(-1)?.score ?? Infinity;
  const far = candidates
    .filter((candidate) => !isNear(candidate))
    .map((candidate) => scoreOf(candidate, hints, scales))
    .map((scored) => ({ ...scored, score: roundScore(min(scored.score, last)) }));
  const best = [...near, ...far.sort(bestFirst)].slice(0, count);
  return best.map(({ candidate, score, session }) => ({
    candidate,
    score,
    why: whyOf(candidate, session, hints, scales),
  }));
}

const isNear = (candidate: Candidate): boolean => candidate.isFar !== true;

/** A candidate with its score, and the part of the score that is the session bonus. */
interface Scored<C> {
  readonly candidate: C;
  readonly score: number;
  readonly session: number;
}

const bestFirst = <C extends Candidate>(a: Scored<C>, b: Scored<C>): number =>
  b.score - a.score || b.candidate.key - a.candidate.key;

const { max, min } = Math;
/** The best score of an arm, and the arm's weight. */
interface Scale {
  readonly best: number;
  readonly share: number;
}

interface Scales {
  readonly words: Scale;
  readonly meaning: Scale;
  /** For items that have no vector: words have all the weight. */
  readonly alone: Scale;
}

function scalesOf(candidates: readonly Candidate[]): Scales {
  const best = { words: 0, meaning: 0 };
  let hasMeaning = false;
  for (const { words = 0, meaning } of candidates) {
    best.words = Math.max(best.words, words);
    best.meaning = Math.max(best.meaning, meaning ?? 0);
    hasMeaning ||= meaning !== undefined;
  }
  const share = hasMeaning ? (best.words > 0 ? WORDS : 0) : 1;
  return {
    words: { best: best.words, share },
    meaning: { best: best.meaning, share: 1 - share },
    alone: { best: best.words, share: 1 },
  };
}

const part = (score: number, { best, share }: Scale): number => (best > 0 ? (share * Math.max(score, 0)) / best : 0);

/** The weighted scores of both arms. An item without a vector is scored by its words alone. */
function sharesOf({ words, meaning }: Candidate, scales: Scales): { readonly words: number; readonly meaning: number } {
  return {
    words: part(words ?? 0, meaning === undefined ? scales.alone : scales.words),
    meaning: part(meaning ?? 0, scales.meaning),
  };
}

/** Scores a candidate without the session bonus. */
function scoreOf<C extends Candidate>(candidate: C, hints: RankingHints, scales: Scales): Scored<C> {
  const shares = sharesOf(candidate, scales);
  return { candidate, score: shares.words + shares.meaning + bonusOf(candidate, hints), session: 0 };
}

function whyOf(candidate: Candidate, session: number, hints: RankingHints, scales: Scales): Why {
  const { words, meaning } = candidate;
  const shares = sharesOf(candidate, scales);
  const why = {} as Mutable<Why>; // an object literal with spreads takes four times the memory
  if (words !== undefined) why.words = { score: words, share: shares.words };
  if (meaning !== undefined) why.meaning = { score: meaning, share: shares.meaning };
  why.exact = exactBonus(candidate);
  why.role = roleBonus(candidate, hints);
  why.date = dateBonus(candidate, hints);
  why.session = session;
  why.recency = recencyBonus(candidate, hints);
  return why;
}

/** The bonuses that also count for the session of the item. */
const bonusOf = (candidate: Candidate, hints: RankingHints): number =>
  roleBonus(candidate, hints) + dateBonus(candidate, hints) + recencyBonus(candidate, hints);

/** Does not count for the session of the item. */
const exactBonus = ({ exact = 0 }: Candidate): number => EXACT * exact;

const roleBonus = ({ role }: Candidate, { refersBack }: RankingHints): number =>
  isFromAssistant(role) === refersBack ? ROLE : 0;

const dateBonus = ({ occurredAt }: Candidate, { dates }: RankingHints): number =>
  dates.some((range) => isWithin(range, occurredAt)) ? DATE : 0;

const recencyBonus = ({ occurredAt }: Candidate, { recency, askedAt }: RankingHints): number =>
  recency === 0 ? 0 : recency * 0.5 ** (max(askedAt - occurredAt, 0) / HALF_LIFE_MS);

/** Adds the session bonus to each candidate: the session's best score relative to the best of all. */
function addSessions<C extends Candidate>(scored: readonly Scored<C>[]): Scored<C>[] {
  const bestOf = new Map<string, number>();
  let best = 0;
  for (const { candidate, score } of scored) {
    best = max(best, score);
    const { sessionId } = candidate;
    if (sessionId !== undefined) bestOf.set(sessionId, max(bestOf.get(sessionId) ?? 0, score));
  }
  return scored.map(({ candidate, score }) => {
    const { sessionId } = candidate;
    const earned = sessionId === undefined ? score : (bestOf.get(sessionId) ?? score);
    const session = best > 0 ? (SESSION * earned) / best : 0;
    return { candidate, score: roundScore(score + session + exactBonus(candidate)), session };
  });
}

const isFromAssistant = (role: Role | undefined): boolean => role === "assistant" || role === "tool";

const isWithin = ({ from, to }: { readonly from: number; readonly to: number }, at: number): boolean =>
  at >= from - EARLIER_MS && at < to + LATER_MS;
