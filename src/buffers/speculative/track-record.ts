/**
 * TrackRecord: what a predictor's guesses are worth. Each search counts as a hit if a question took it, and as a miss if
 * it was wasted, also when a guess was searched again after a write. A predictor below `WORTH` is throttled: its
 * guesses, which cost almost nothing, are scored but not searched for, until they come true again.
 */

/** A search ahead of time costs as much as the one that it saves, so fewer hits than this cost more than they save. */
const WORTH = 0.5;
/** Slightly below `WORTH`: a predictor has to be right once before anything is searched for it. */
const START = 0.45;
/** The weight of the newest guess in the average. */
const NEWEST = 0.15;

export interface PredictorStats {
  /** Searches made ahead of time. */
  readonly issued: number;
  /** Questions answered from them. */
  readonly served: number;
  /** Questions that came before their answer was ready. */
  readonly late: number;
  /** Searches whose answers were dropped unserved. */
  readonly wasted: number;
  /** The duration of the searches that questions did not have to wait for, in milliseconds. */
  readonly savedMs: number;
  /** The share of searches that questions took, weighted towards the newest. */
  readonly usefulness: number;
  readonly isThrottled: boolean;
}

export class TrackRecord {
  #usefulness: number;
  #issued = 0;
  #served = 0;
  #late = 0;
  #wasted = 0;
  #savedMs = 0;

  /** `isTrusted`: the first guesses are searched without proof. */
  constructor(isTrusted = false) {
    this.#usefulness = isTrusted ? 1 : START;
  }

  get usefulness(): number {
    return this.#usefulness;
  }

  get isThrottled(): boolean {
    return this.#usefulness < WORTH;
  }

  /** A question came that was expected but not searched, or did not come. */
  scored(isHit: boolean): void {
    this.#usefulness += NEWEST * (Number(isHit) - this.#usefulness);
  }

  issued(): void {
    this.#issued++;
  }

  served(savedMs: number): void {
    this.#served++;
    this.scored(true);
    this.#savedMs += savedMs;
  }

  late(): void {
    this.#late++;
    this.scored(true);
  }

  /** `isWrong`: the guess was, or it was outdated. */
  wasted(isWrong: boolean): void {
    this.#wasted++;
    if (isWrong) this.scored(false);
  }

  get stats(): PredictorStats {
    return {
      issued: this.#issued,
      served: this.#served,
      late: this.#late,
      wasted: this.#wasted,
      savedMs: this.#savedMs,
      usefulness: this.#usefulness,
      isThrottled: this.isThrottled,
    };
  }
}
