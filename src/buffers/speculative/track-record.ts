/**
 * TrackRecord: what a predictor's guesses were worth. Each search counts as a hit if a question took it, and as a miss if
 * it was wasted, also when a guess was searched again after a write.
 */
import { Confidence } from "./confidence.js";

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
  /** The share of guesses that came true, weighted towards the newest. */
  readonly usefulness: number;
  /** Guesses made for the reason of the newest one come true too rarely to be searched. */
  readonly isThrottled: boolean;
}

export class TrackRecord {
  /** Of all guesses, whatever their reason. */
  readonly confidence: Confidence;
  /** That of the newest guess. */
  #newest: Confidence;
  #issued = 0;
  #served = 0;
  #late = 0;
  #wasted = 0;
  #savedMs = 0;

  /** `isTrusted`: the first guesses are searched without proof. */
  constructor(isTrusted = false) {
    this.confidence = new Confidence(isTrusted);
    this.#newest = this.confidence;
  }

  /** Whether a guess with this confidence is to be searched. */
  admits(confidence = this.confidence): boolean {
    this.#newest = confidence;
    return confidence.isWorth;
  }

  /** A question came that was expected but not searched, or did not come. */
  scored(isHit: boolean, confidence = this.confidence): void {
    confidence.scored(isHit);
    if (confidence !== this.confidence) this.confidence.scored(isHit);
  }

  issued(): void {
    this.#issued++;
  }

  served(savedMs: number, confidence?: Confidence): void {
    this.#served++;
    this.scored(true, confidence);
    this.#savedMs += savedMs;
  }

  late(confidence?: Confidence): void {
    this.#late++;
    this.scored(true, confidence);
  }

  /** `isWrong`: the guess was, or it was outdated. */
  wasted(isWrong: boolean, confidence?: Confidence): void {
    this.#wasted++;
    if (isWrong) this.scored(false, confidence);
  }

  get stats(): PredictorStats {
    return {
      issued: this.#issued,
      served: this.#served,
      late: this.#late,
      wasted: this.#wasted,
      savedMs: this.#savedMs,
      usefulness: this.confidence.share,
      isThrottled: !this.#newest.isWorth,
    };
  }
}
