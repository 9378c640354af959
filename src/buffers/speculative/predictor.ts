/**
 * Predictor: guesses what a session will ask next. A predictor reads the session's trace and returns texts; it searches
 * nothing. The SpeculativeBuffer runs the searches and scores each guess against the question that really comes.
 */
import type { QueryOptions } from "../../input/query.js";
import type { PredictorName } from "../../options.js";
import type { Confidence } from "./confidence.js";

/** A question of a session, with the options that it was asked with. */
export interface AskedQuestion {
  /** Normalised. */
  readonly text: string;
  readonly options: QueryOptions;
}

export interface Said {
  readonly role: string | undefined;
  /** Normalised like a question. */
  readonly text: string;
}

/** What predictors see of a session. */
export interface Trace {
  /** The key of the session's space. */
  readonly space: string;
  /** The newest messages, oldest first. */
  readonly said: readonly Said[];
  /** The newest questions with different texts or pages, oldest first. */
  readonly asked: readonly AskedQuestion[];
}

/** A guess. Without options, the text is asked as the session asked last. */
export interface Guess {
  readonly text: string;
  readonly options?: QueryOptions;
  /** Of all guesses made for the same reason. If absent, of all guesses of the predictor. */
  readonly confidence?: Confidence;
}

export interface Predictor {
  readonly name: PredictorName;
  /** The event after which it guesses. */
  readonly after: "added" | "answered";
  guess(trace: Trace): readonly Guess[];
  /** Learns from the newest question of the trace. */
  learn?(trace: Trace): void;
  /** Forgets what it learned from a space, or everything. */
  forget?(space?: string): void;
}
