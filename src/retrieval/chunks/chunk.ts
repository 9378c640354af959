/**
 * Chunks: the pieces of an item by which it is found by meaning. They are derived and can be rebuilt at any time.
 *
 * A chunk is a slice of its item's content; the text that is embedded may say more (who speaks, what came before). The
 * parts of one item are numbered from 0; together they cover all of its content that is not white space.
 */

import type { Span } from "../../graphemes.js";

export const CHUNK_STRATEGIES = ["message", "contextual"] as const;
export type ChunkStrategyName = (typeof CHUNK_STRATEGIES)[number];

/** An item as chunking sees it. */
export interface Chunkable {
  /** The store's number of the item, never given twice. */
  readonly key: number;
  readonly version: number;
  /** Who speaks. */
  readonly name?: string;
  readonly content: string;
}

/** A slice of the item's content. */
export interface Chunk extends Span {
  /** What is embedded. */
  readonly text: string;
}

/** The chunks of one item, and the other items whose text they carry, with the versions that were read. */
export interface Chunked {
  readonly chunks: readonly Chunk[];
  readonly borrowed: readonly { readonly key: number; readonly version: number }[];
}

/** How long a chunk may be for the model that will embed it. */
export interface Fit {
  readonly tokensMax: number;
  readonly countTokens: (texts: readonly string[]) => Promise<readonly number[]>;
}
