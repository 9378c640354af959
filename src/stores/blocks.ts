/**
 * Memory blocks in the Store contract: named texts of a space that agents read and rewrite.
 *
 * Guarantees of every implementation:
 * - A name is used once in a space. A block keeps its id, whatever it is called.
 * - Each write makes the next version, with a log entry, in the same transaction. It names the version it was made from;
 *   if that is not the newest any more, it is refused (`conflict`, details.version) and nothing is written.
 * - Every version can be read until the block is forgotten; then all of them are gone.
 */
import type { Page, SpaceRef } from "../types.js";

/**
 * What happens to a write that makes the block larger than its budget. refuse: it fails · archive: the block keeps its
 * head, the rest becomes a searchable item · manual: nothing, until `archiveOverflow` is called.
 */
export const BLOCK_POLICIES = ["refuse", "archive", "manual"] as const;
export type BlockPolicy = (typeof BLOCK_POLICIES)[number];

/** All that an edit may change of a block. */
export interface BlockState {
  readonly name: string;
  readonly content: string;
  readonly description?: string;
  readonly maxTokens: number;
  /** What counts its tokens: `chars4`, or the name of a model. */
  readonly counter: string;
  readonly policy: BlockPolicy;
  readonly readOnly: boolean;
}

export interface Block extends BlockState {
  readonly id: string;
  readonly space: SpaceRef;
  /** 1 when created, one more with each edit. */
  readonly version: number;
  readonly createdAt: number;
  readonly updatedAt: number;
}

/** One version of a block, and how it came about. */
export interface BlockEdit {
  /** The version that the edit made. */
  readonly version: number;
  /** The text before and after; before the first version there was none (""). */
  readonly old: string;
  readonly new: string;
  /** The block's name after the edit, and before it if that was another one. */
  readonly name: string;
  readonly formerName?: string;
  readonly reason: string;
  /** Who did it. */
  readonly actor?: string;
  readonly at: number;
}

/**
 * Makes the next version of a block. `expect` is the version it is made from, 0 for a new block, whose space is
 * registered if it is new. `not_found` if there is no block of this id in the space; `conflict` if it has another version
 * (details: id, version), or if the name is taken by another block (details: name, id).
 */
export interface PutBlockWrite {
  readonly op: "put_block";
  readonly space: SpaceRef;
  readonly id: string;
  readonly expect: number;
  readonly state: BlockState;
  readonly reason: string;
  readonly actor?: string;
}

export interface PutBlockDone {
  readonly op: "put_block";
  readonly block: Block;
}

/** Blocks of these spaces: all, or those of these names or ids. */
export interface BlocksRequest {
  readonly spaces: readonly SpaceRef[];
  readonly names?: readonly string[];
  readonly ids?: readonly string[];
}

/** Edits of one block, newest first, the creation included. */
export interface BlockLogRequest {
  readonly space: SpaceRef;
  readonly id: string;
  /** At most so many; 0: all. */
  readonly limit: number;
  /** Only this version. */
  readonly version?: number;
}

/** A version of a block with all that belonged to it. */
export interface BlockVersion extends BlockState {
  readonly id: string;
  readonly version: number;
  /** What the block is called now; `name` is what it was called then. */
  readonly presentName: string;
  readonly reason: string;
  readonly actor?: string;
  readonly at: number;
}

/** A page of all versions of all blocks of a space, or of one: block by block as they were made, oldest version first. */
export interface BlockVersionsRequest {
  readonly space: SpaceRef;
  readonly id?: string;
  readonly version?: number;
  readonly limit: number;
  readonly cursor?: string;
}

export interface BlockReads {
  /** In the order of the spaces, then of the names (by code unit). */
  blocks(request: BlocksRequest): Promise<readonly Block[]>;
  /** Empty if there is no such block. */
  blockLog(request: BlockLogRequest): Promise<readonly BlockEdit[]>;
  blockVersions(request: BlockVersionsRequest): Promise<Page<BlockVersion>>;
}
