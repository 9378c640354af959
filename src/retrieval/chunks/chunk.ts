/**
 * Chunks: the pieces of an item that are embedded. They are derived data and can be rebuilt at any time.
 *
 * A chunk is a slice of its item's content; the embedded text may add the speaker and what was said before. The chunks
 * of an item are numbered from 0 and together cover all of its content except white space.
 */

import type { Span } from "../../graphemes.js";

export const CHUNK_STRATEGIES = ["message", "contextual"] as const;
export type ChunkStrategyName = (typeof CHUNK_STRATEGIES)[number];

/** An item, as far as chunking needs it. */
export interface Chunkable {
  /** The store's number of the item, never reused. */
  readonly key: number;
  readonly version: number;
  /** The speaker. */
  readonly name?: string;
  readonly content: string;
}

/** A slice of the item's content. */
export interface Chunk extends Span {
  /** The text that is embedded. */
  readonly text: string;
}

/** The chunks of one item, and the other items whose text they contain, with the versions that were read. */
export interface Chunked {
  readonly chunks: readonly Chunk[];
  readonly borrowed: readonly { readonly key: number; readonly version: number }[];
}

/** The limit on a chunk's length, as the embedding model counts it. */
export interface Fit {
  readonly tokensMax: number;
  readonly countTokens: (texts: readonly string[]) => Promise<readonly number[]>;
}
