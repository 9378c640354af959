/**
 * Confidence: how often guesses that were made for one reason came true, weighted towards the newest. Guesses below `WORTH`
 * are scored without being searched, which costs almost nothing, until they come true often enough.
 *
 * A predictor with several reasons keeps one for each: after two pages of an answer a third may follow each time, and
 * after three a fourth never. One average of both would make it search whenever it is wrong.
 */
import { LRUCache } from "lru-cache";

/** A search ahead of time costs as much as the one that it saves, so fewer hits than this cost more than they save. */
const WORTH = 0.5;
/** Slightly below `WORTH`: a guess has to be right once before anything is searched for its reason. */
const START = 0.45;
/** The weight of the newest guess in the average. */
const NEWEST = 0.15;
const REASONS_MAX = 64;

export class Confidence {
  #share: number;

  /** `isTrusted`: the first guesses are searched without proof. */
  constructor(isTrusted = false) {
    this.#share = isTrusted ? 1 : START;
  }

  /** The share of guesses that came true. */
  get share(): number {
    return this.#share;
  }

  get isWorth(): boolean {
    return this.#share >= WORTH;
  }

  scored(isHit: boolean): void {
    this.#share += NEWEST * (Number(isHit) - this.#share);
  }
}

/** The confidence of each reason, by name. The least recently used is forgotten. */
export class Reasons {
  readonly #all = new LRUCache<string, Confidence>({ max: REASONS_MAX });

  of(reason: string): Confidence {
    const known = this.#all.get(reason) ?? new Confidence();
    this.#all.set(reason, known);
    return known;
  }
}
