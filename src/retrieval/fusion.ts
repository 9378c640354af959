/**
 * Fusion: one ranking from two arms and what else speaks for an item.
 *
 * Each arm's score counts as a share of that arm's best, so that the two can be added and no score depends on how many
 * candidates there were. Ranks would throw away how much better one hit is than the next: fused ranks find less than
 * words alone. Every number here has a row in the ablation table of docs/benchmarks.md.
 */
import type { Role, Why } from "../types.js";

/** The share of words; meaning has the rest. An arm that found nothing leaves all to the other. */
const WORDS = 0.4;
/**
 * What no word speaks for counts among these nearest; the rest comes after everything else. Far down that list stands
 * what is only about the same thing, and role, date and conversation would lift it over what was asked for.
 */
export const NEAREST = 32;
/** Said by whom the question is about: the user, or the assistant where the question refers back to what it said. */
const ROLE = 0.3;
/** Said when the question says. */
const DATE = 0.3;
/** Said in a conversation that has a good hit. */
const SESSION = 0.25;

const DAY_MS = 86_400_000;
/** People remember roughly when something was, and tell of it afterwards rather than before. */
const EARLIER_MS = 2 * DAY_MS;
const LATER_MS = 10 * DAY_MS;
const HALF_LIFE_MS = 30 * DAY_MS;

export interface Candidate {
  readonly key: number;
  readonly role?: Role;
  readonly occurredAt: number;
  /** Items of one conversation; absent: it is in none. */
  readonly sessionId?: string;
  /** BM25; undefined if words were not searched. */
  readonly words?: number | undefined;
  /** The cosine of the best piece; undefined if there is none. */
  readonly meaning?: number | undefined;
  /** Found by meaning alone, and not among the nearest. */
  readonly isFar?: boolean;
}

/** What the question says about the items it is after. */
export interface Wish {
  readonly refersBack: boolean;
  readonly dates: readonly { readonly from: number; readonly to: number }[];
  /** How much being new counts, 0 to 1, and from when newness is counted. */
  readonly recency: number;
  readonly askedAt: number;
}

export interface Fused<C> {
  readonly candidate: C;
  readonly score: number;
  readonly why: Why;
}

/** All candidates, best first, ties newest first; those that are far come last, whatever else speaks for them. */
export function fuse<C extends Candidate>(candidates: readonly C[], wish: Wish): readonly Fused<C>[] {
  const scales = scalesOf(candidates);
  const near = addSessions(candidates.filter(isNear).map((candidate) => weigh(candidate, wish, scales)));
  const far = candidates.filter((candidate) => !isNear(candidate)).map((candidate) => weigh(candidate, wish, scales));
  near.sort(bestFirst);
  const last = near.at(-1)?.score ?? Infinity;
  return [...near, ...far.map((fused) => ({ ...fused, score: settled(Math.min(fused.score, last)) })).sort(bestFirst)];
}

export const isNear = (candidate: Candidate): boolean => candidate.isFar !== true;

const bestFirst = <C extends Candidate>(a: Fused<C>, b: Fused<C>): number =>
  b.score - a.score || b.candidate.key - a.candidate.key;

/**
 * The candidates that can be among the best `count` once their missing scores are known. `unseen` is the most that an
 * arm can have left untold of an item, undefined if it has told of all; so most candidates of one arm need not be scored by the other.
 */
export function contenders<C extends Candidate>(
  candidates: readonly C[],
  wish: Wish,
  count: number,
  unseen: { readonly words: number | undefined; readonly meaning: number | undefined },
): readonly C[] {
  const scales = scalesOf(candidates);
  const most = { words: part(unseen.words ?? 0, scales.words), meaning: part(unseen.meaning ?? 0, scales.meaning) };
  const bounds = candidates.map((candidate) => {
    const { words, meaning } = candidate;
    const { score, why } = weigh(candidate, wish, scales);
    // One that is yet to be scored may turn out to have a vector, one that says nothing.
    const isOpen = meaning === undefined && unseen.meaning !== undefined;
    const least = isOpen ? score - (1 - scales.words.share) * (why.words?.share ?? 0) : score;
    const missing = (words === undefined ? most.words : 0) + (meaning === undefined ? most.meaning : 0);
    return { least, most: Math.max(score, least + missing) };
  });
  // Each gets of its conversation what itself is worth at least, and what the best of all is worth at most.
  const best = bounds.reduce((sum, bound) => Math.max(sum, bound.most), 0);
  const bar = bounds.map(({ least }) => least).sort((a, b) => b - a)[count - 1] ?? 0;
  const share = best > 0 ? (SESSION * bar) / best : 0;
  return candidates.filter(({ words, meaning }, at) => {
    if (words === scales.words.best || meaning === scales.meaning.best) return true; // all others are measured by it
    return (bounds[at]?.most ?? 0) + SESSION >= bar + share;
  });
}

/** The best score of an arm, and what it is worth. */
interface Scale {
  readonly best: number;
  readonly share: number;
}

interface Scales {
  readonly words: Scale;
  readonly meaning: Scale;
}

function scalesOf(candidates: readonly Candidate[]): Scales {
  const best = { words: 0, meaning: 0 };
  let isMeant = false;
  for (const { words = 0, meaning } of candidates) {
    best.words = Math.max(best.words, words);
    best.meaning = Math.max(best.meaning, meaning ?? 0);
    isMeant ||= meaning !== undefined;
  }
  const share = isMeant ? (best.words > 0 ? WORDS : 0) : 1;
  return { words: { best: best.words, share }, meaning: { best: best.meaning, share: 1 - share } };
}

const part = (score: number, { best, share }: Scale): number => (best > 0 ? (share * Math.max(score, 0)) / best : 0);

/** Without what its conversation adds. What has no vector yet is judged by its words alone. */
function weigh<C extends Candidate>(candidate: C, wish: Wish, scales: Scales): Fused<C> {
  const { words, meaning, role, occurredAt } = candidate;
  const wordScale = meaning === undefined ? { ...scales.words, share: 1 } : scales.words;
  const why: Why = {
    ...(words !== undefined && { words: { score: words, share: part(words, wordScale) } }),
    ...(meaning !== undefined && { meaning: { score: meaning, share: part(meaning, scales.meaning) } }),
    role: isFromAssistant(role) === wish.refersBack ? ROLE : 0,
    date: wish.dates.some((range) => isWithin(range, occurredAt)) ? DATE : 0,
    session: 0,
    recency: wish.recency * 0.5 ** (Math.max(wish.askedAt - occurredAt, 0) / HALF_LIFE_MS),
  };
  const score = (why.words?.share ?? 0) + (why.meaning?.share ?? 0) + why.role + why.date + why.recency;
  return { candidate, score, why };
}

/** Adds to each what the best of its conversation earns for all of it. */
function addSessions<C extends Candidate>(fused: readonly Fused<C>[]): Fused<C>[] {
  const bestOf = new Map<string, number>();
  let best = 0;
  for (const { candidate, score } of fused) {
    best = Math.max(best, score);
    const { sessionId } = candidate;
    if (sessionId !== undefined) bestOf.set(sessionId, Math.max(bestOf.get(sessionId) ?? 0, score));
  }
  if (best === 0) return [...fused];
  return fused.map(({ candidate, score, why }) => {
    const { sessionId } = candidate;
    const session = (SESSION * (sessionId === undefined ? score : (bestOf.get(sessionId) ?? score))) / best;
    return { candidate, score: settled(score + session), why: { ...why, session } };
  });
}

/** Without the noise of adding in another order, so that equals tie. */
const settled = (score: number): number => Math.round(score * 1e10) / 1e10;

const isFromAssistant = (role: Role | undefined): boolean => role === "assistant" || role === "tool";

const isWithin = ({ from, to }: { readonly from: number; readonly to: number }, at: number): boolean =>
  at >= from - EARLIER_MS && at < to + LATER_MS;
