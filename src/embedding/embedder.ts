/**
 * The Embedder contract: text → vectors.
 *
 * Guarantees of every implementation (the conformance suite in src/testing holds them to it):
 * - One vector per text, in order, of unit length, every one of `dimensions` numbers. The same text gives the same
 *   vector, whatever texts it comes with.
 * - Nothing is cut silently: a text of more than `tokensMax` tokens is refused (`text_refused`, `details.index`), and
 *   with it the call. Nothing is made up: no vector without the model.
 * - A failure that is not a text's fault is `embedder_failed`: the same call may succeed later.
 * - Nothing is loaded or asked before the first call; a process that never embeds pays nothing.
 * - A call that is aborted rejects with the signal's reason. `close` leaves no call unanswered: those under way get their
 *   result or `closed`, and so does every call after it.
 * - `countTokens` counts texts of any length. Lists are read when the call is made.
 */
import type { VectorSpace } from "../types.js";

export interface EmbedderDescription {
  /** What kind of vectors these are; dimensions are found by asking the model, never assumed. */
  readonly space: VectorSpace;
  /** The longest text that the model takes, in its own tokens, special ones included. */
  readonly tokensMax: number;
}

export interface EmbedOptions {
  readonly signal?: AbortSignal;
  /** Somebody waits for this: it goes before whatever is queued. */
  readonly urgent?: boolean;
}

export interface Embedder {
  /** The model's name, known before anything is loaded. */
  readonly model: string;
  /** Loads or asks for what is needed, once. A failure is not remembered: the next call tries again. */
  describe(): Promise<EmbedderDescription>;
  /** How many tokens the model makes of each text, special ones included; an upper bound where it cannot be known. */
  countTokens(texts: readonly string[]): Promise<readonly number[]>;
  embed(texts: readonly string[], options?: EmbedOptions): Promise<readonly Float32Array[]>;
  close(): Promise<void>;
}
