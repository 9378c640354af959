/**
 * The Embedder contract: turns texts into vectors.
 *
 * Guarantees of every implementation (checked by the conformance suite in src/testing):
 * - One unit-length vector of `dimensions` numbers per text, in order. The same text gives the same vector, whatever
 *   other texts are in the call.
 * - Nothing is truncated silently: a text of more than `tokensMax` tokens is refused (`text_refused`, `details.index`),
 *   and the whole call with it. There are no placeholder vectors.
 * - A failure that is not caused by a text is `embedder_failed`: the same call may succeed later.
 * - Nothing is loaded or requested before the first call; a process that never embeds has no cost.
 * - An aborted call rejects with the signal's reason. After `close`, every pending call settles with its result or
 *   `closed`, and every later call rejects with `closed`.
 * - `countTokens` accepts texts of any length. Lists are read when the call is made.
 */
import type { VectorSpace } from "../types.js";

/** What an embedder produces, and what it accepts. */
export interface EmbedderDescription {
  /** The kind of vectors. Dimensions are found by running the model, never assumed. */
  readonly space: VectorSpace;
  /** The longest text that the model accepts, in its own tokens, special tokens included. */
  readonly tokensMax: number;
  /**
   * How many bytes of text it embeds in about 150 ms. Longer texts and batches are embedded in slices of this size, and
   * other spaces take turns between slices. Default: 64 KiB, for an embedder that takes about as long for one text as
   * for a hundred.
   */
  readonly sliceBytes?: number;
  /** What this installation lacks, and what to do. `stats()`, the command line and the server pass it on. */
  readonly advice?: string;
}

/** The options of one call. */
export interface EmbedOptions {
  /** Stops the call with the signal's reason. */
  readonly signal?: AbortSignal;
  /** A caller is waiting: this call goes ahead of queued calls. */
  readonly urgent?: boolean;
}

/** Turns texts into vectors. See the top of this file for what every implementation guarantees. */
export interface Embedder {
  /** The model's name, known before anything is loaded. */
  readonly model: string;
  /** Loads or requests what is needed, once. A failure is not cached: the next call tries again. */
  describe(): Promise<EmbedderDescription>;
  /** The number of tokens of each text, special tokens included; an upper bound if it cannot be known. */
  countTokens(texts: readonly string[]): Promise<readonly number[]>;
  /** One vector of length 1 for each text, in order. */
  embed(texts: readonly string[], options?: EmbedOptions): Promise<readonly Float32Array[]>;
  /** Ends all calls and frees what was loaded. */
  close(): Promise<void>;
}
