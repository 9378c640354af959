/**
 * Fusion: one ranking from two arms and what else speaks for an item.
 *
 * Each arm's score counts as a share of that arm's best, so that the two can be added and no score depends on how many
 * candidates there were. Ranks would throw away how much better one hit is than the next: fused ranks find less than
 * words alone. Every number here has a row in the ablation table of docs/benchmarks.md.
 */
import type { Mutable } from "../mutable.js";
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
  readonly role?: Role | undefined;
  readonly occurredAt: number;
  /** Items of one conversation; absent: it is in none. */
  readonly sessionId?: string | undefined;
  /** BM25; undefined if words were not searched. */
  readonly words?: number | undefined;
  /** The cosine of the best piece; undefined if there is none, or it is not known. */
  readonly meaning?: number | undefined;
  /** Where it is not known: between what and what it lies, if at least that is. */
  readonly meaningLeast?: number | undefined;
  readonly meaningMost?: number | undefined;
  /** Found by meaning alone, and not among the nearest. */
  readonly isFar?: boolean | undefined;
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

/** The best candidates, ties newest first; those that are far come last, whatever else speaks for them. */
export function fuse<C extends Candidate>(candidates: readonly C[], wish: Wish, count = Infinity): readonly Fused<C>[] {
  const scales = scalesOf(candidates);
  const near = addSessions(candidates.filter(isNear).map((candidate) => weigh(candidate, wish, scales)));
  near.sort(bestFirst);
  const last = near.at(-1)?.score ?? Infinity;
  const far = candidates
    .filter((candidate) => !isNear(candidate))
    .map((candidate) => weigh(candidate, wish, scales))
    .map((weighed) => ({ ...weighed, score: settled(min(weighed.score, last)) }));
  const best = [...near, ...far.sort(bestFirst)].slice(0, count);
  return best.map(({ candidate, score, session }) => ({
    candidate,
    score,
    why: whyOf(candidate, session, wish, scales),
  }));
}

export const isNear = (candidate: Candidate): boolean => candidate.isFar !== true;

/** A candidate with its score, and what of that it has from its conversation. */
interface Weighed<C> {
  readonly candidate: C;
  readonly score: number;
  readonly session: number;
}

const bestFirst = <C extends Candidate>(a: Weighed<C>, b: Weighed<C>): number =>
  b.score - a.score || b.candidate.key - a.candidate.key;

/** A candidate that can be among the best. */
export interface Contender<C> {
  readonly candidate: C;
  /** Where its cosine is not known: with less than this it is not among the best after all. */
  readonly floor: number;
}

/**
 * The candidates that can be among the best `count` once their missing scores are known. `unseen` is the most that an
 * arm can have left untold of an item, undefined if it has told of all; so most candidates of one arm need not be scored
 * by the other.
 */
export function contenders<C extends Candidate>(
  candidates: readonly C[],
  wish: Wish,
  count: number,
  unseen: { readonly words: number | undefined; readonly meaning: number | undefined },
): readonly Contender<C>[] {
  const scales = scalesOf(candidates);
  const bounds = candidates.map((candidate) => boundsOf(candidate, wish, scales, unseen));
  const best = { least: 0, most: 0 };
  for (const { least, most } of bounds) {
    best.least = max(best.least, least);
    best.most = max(best.most, most);
  }
  // Each gets of its conversation what the best of it is worth: at least, and at most.
  const sessions = new Map<string, Mutable<Bounds>>();
  for (const [at, { sessionId }] of candidates.entries()) {
    if (sessionId === undefined) continue;
    const { least, most } = bounds[at] as Bounds;
    const known = sessions.get(sessionId);
    if (!known) sessions.set(sessionId, { least, most });
    else {
      known.least = max(known.least, least);
      known.most = max(known.most, most);
    }
  }
  const sessionOf = (at: number): Bounds => {
    const id = candidates[at]?.sessionId;
    return (id === undefined ? bounds[at] : sessions.get(id)) as Bounds;
  };
  const lifted = Float64Array.from(
    bounds,
    ({ least }, at) => least + (best.most > 0 ? (SESSION * sessionOf(at).least) / best.most : 0),
  ).sort();
  const target = (lifted[lifted.length - count] ?? 0) - SLACK;
  const left: Contender<C>[] = [];
  for (const [at, candidate] of candidates.entries()) {
    const { most, apart } = bounds[at] as Worth;
    const { words, meaning } = candidate;
    // All others are measured by these.
    if (words === scales.words.best || meaning === scales.meaning.best) {
      left.push({ candidate, floor: -Infinity });
      continue;
    }
    const session = sessionOf(at).most;
    const lift = session < best.least ? (SESSION * session) / best.least : SESSION;
    if (most + lift < target) continue;
    const { best: nearest, share } = scales.meaning;
    const missing = target - lift - apart;
    left.push({ candidate, floor: missing > 0 && share > 0 ? (missing * nearest) / share : -Infinity });
  }
  return left;
}

const { max, min } = Math;
/** More than adding up in another order makes of a score. */
const SLACK = 1e-9;

interface Bounds {
  readonly least: number;
  readonly most: number;
}

/** What a candidate is worth without its conversation, whatever its missing scores are. */
interface Worth extends Bounds {
  /** What it is worth at least beside a cosine that is not known. */
  readonly apart: number;
}

function boundsOf(
  candidate: Candidate,
  wish: Wish,
  scales: Scales,
  unseen: { readonly words: number | undefined; readonly meaning: number | undefined },
): Worth {
  const { words, meaning, meaningLeast, meaningMost } = candidate;
  const byWords = part(words ?? 0, scales.words);
  const unseenWords = words === undefined ? part(unseen.words ?? 0, scales.words) : 0;
  const bonus = bonusOf(candidate, wish);
  if (meaning === undefined && meaningLeast !== undefined && meaningMost !== undefined) {
    const apart = bonus + byWords;
    const least = apart + part(meaningLeast, scales.meaning);
    return { apart, least, most: apart + unseenWords + part(meaningMost, scales.meaning) };
  }
  const sure = bonus + part(meaning ?? 0, scales.meaning);
  // One that is yet to be scored may turn out to have a vector, one that says nothing.
  const isOpen = meaning === undefined && unseen.meaning !== undefined;
  const alone = meaning === undefined ? part(words ?? 0, scales.alone) : byWords;
  const least = sure + (isOpen ? byWords : alone);
  const unseenMeaning = meaning === undefined ? part(unseen.meaning ?? 0, scales.meaning) : 0;
  return { apart: least, least, most: max(sure + alone, least + unseenWords + unseenMeaning) };
}

/** The best score of an arm, and what it is worth. */
interface Scale {
  readonly best: number;
  readonly share: number;
}

interface Scales {
  readonly words: Scale;
  readonly meaning: Scale;
  /** Words where there is no vector. */
  readonly alone: Scale;
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
  return {
    words: { best: best.words, share },
    meaning: { best: best.meaning, share: 1 - share },
    alone: { best: best.words, share: 1 },
  };
}

const part = (score: number, { best, share }: Scale): number => (best > 0 ? (share * Math.max(score, 0)) / best : 0);

/** What its two scores are worth. What has no vector yet is judged by its words alone. */
function sharesOf({ words, meaning }: Candidate, scales: Scales): { readonly words: number; readonly meaning: number } {
  return {
    words: part(words ?? 0, meaning === undefined ? scales.alone : scales.words),
    meaning: part(meaning ?? 0, scales.meaning),
  };
}

/** Without what its conversation adds. */
function weigh<C extends Candidate>(candidate: C, wish: Wish, scales: Scales): Weighed<C> {
  const shares = sharesOf(candidate, scales);
  return { candidate, score: shares.words + shares.meaning + bonusOf(candidate, wish), session: 0 };
}

function whyOf(candidate: Candidate, session: number, wish: Wish, scales: Scales): Why {
  const { words, meaning } = candidate;
  const shares = sharesOf(candidate, scales);
  const why = {} as Mutable<Why>; // a literal with spreads in it would weigh four times as much
  if (words !== undefined) why.words = { score: words, share: shares.words };
  if (meaning !== undefined) why.meaning = { score: meaning, share: shares.meaning };
  why.role = roleBonus(candidate, wish);
  why.date = dateBonus(candidate, wish);
  why.session = session;
  why.recency = recencyBonus(candidate, wish);
  return why;
}

/** What speaks for an item beside its scores. */
const bonusOf = (candidate: Candidate, wish: Wish): number =>
  roleBonus(candidate, wish) + dateBonus(candidate, wish) + recencyBonus(candidate, wish);

const roleBonus = ({ role }: Candidate, { refersBack }: Wish): number =>
  isFromAssistant(role) === refersBack ? ROLE : 0;

const dateBonus = ({ occurredAt }: Candidate, { dates }: Wish): number =>
  dates.some((range) => isWithin(range, occurredAt)) ? DATE : 0;

const recencyBonus = ({ occurredAt }: Candidate, { recency, askedAt }: Wish): number =>
  recency === 0 ? 0 : recency * 0.5 ** (max(askedAt - occurredAt, 0) / HALF_LIFE_MS);

/** Adds to each what the best of its conversation earns for all of it. */
function addSessions<C extends Candidate>(weighed: readonly Weighed<C>[]): Weighed<C>[] {
  const bestOf = new Map<string, number>();
  let best = 0;
  for (const { candidate, score } of weighed) {
    best = max(best, score);
    const { sessionId } = candidate;
    if (sessionId !== undefined) bestOf.set(sessionId, max(bestOf.get(sessionId) ?? 0, score));
  }
  if (best === 0) return [...weighed];
  return weighed.map(({ candidate, score }) => {
    const { sessionId } = candidate;
    const session = (SESSION * (sessionId === undefined ? score : (bestOf.get(sessionId) ?? score))) / best;
    return { candidate, score: settled(score + session), session };
  });
}

/** Without the noise of adding in another order, so that equals tie. */
const settled = (score: number): number => Math.round(score * 1e10) / 1e10;

const isFromAssistant = (role: Role | undefined): boolean => role === "assistant" || role === "tool";

const isWithin = ({ from, to }: { readonly from: number; readonly to: number }, at: number): boolean =>
  at >= from - EARLIER_MS && at < to + LATER_MS;
