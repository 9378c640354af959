/**
 * Memory blocks in the Store contract: named texts of a space that agents read and rewrite.
 *
 * Guarantees of every implementation:
 * - A name is unique within a space. A block keeps its id when it is renamed.
 * - Each write makes the next version, with a log entry, in the same transaction. It names the version that it is based
 *   on. If that is no longer the newest, the write is rejected (`conflict`, details.version) and nothing is written.
 * - Every version can be read until the block is forgotten, which removes all of them.
 */
import type { Page, SpaceRef } from "../types.js";

/**
 * What happens to a write that exceeds the block's budget. refuse: it fails · archive: the block keeps the beginning,
 * the rest becomes a searchable item · manual: nothing, until `archiveOverflow` is called.
 */
export const BLOCK_POLICIES = ["refuse", "archive", "manual"] as const;
/** What happens to an edit over the budget of its block. */
export type BlockPolicy = (typeof BLOCK_POLICIES)[number];

/** The part of a block that an edit may change. */
export interface BlockState {
  /** The block's name, unique in its space. */
  readonly name: string;
  /** Its text. */
  readonly content: string;
  /** What the block is for. */
  readonly description?: string;
  /** Its budget in tokens. */
  readonly maxTokens: number;
  /** The token counter: `chars4`, or the name of a model. */
  readonly counter: string;
  /** What happens to an edit over the budget. */
  readonly policy: BlockPolicy;
  /** If true, edits, renames and deletes are refused. */
  readonly readOnly: boolean;
}

/** A memory block: a named, versioned text that agents read and edit. */
export interface Block extends BlockState {
  /** The id of the block, which stays the same when it is renamed. */
  readonly id: string;
  /** The user, agent or team that owns it. */
  readonly space: SpaceRef;
  /** 1 when created; each edit adds one. */
  readonly version: number;
  /** Epoch milliseconds. */
  readonly createdAt: number;
  /** Epoch milliseconds of the last edit. */
  readonly updatedAt: number;
}

/** An entry of a block's log: one version and the edit that made it. */
export interface BlockEdit {
  /** The version that the edit made. */
  readonly version: number;
  /** The text before and after. Before the first version it is "". */
  readonly old: string;
  /** The text after the edit. */
  readonly new: string;
  /** The block's name after the edit, and the name before it if that was different. */
  readonly name: string;
  /** The name before the edit, if it was another one. */
  readonly formerName?: string;
  /** Why the edit was made; "" if nobody said. */
  readonly reason: string;
  /** Who made the edit. */
  readonly actor?: string;
  /** Epoch milliseconds. */
  readonly at: number;
}

/**
 * Makes the next version of a block. `expect` is the version that it is based on, or 0 for a new block, whose space is
 * registered if it is new. Fails with `not_found` if the space has no block with this id, or with `conflict` if the
 * block has another version (details: id, version) or another block has the name (details: name, id).
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

/** Blocks of these spaces: all, or those with these names or ids. */
export interface BlocksRequest {
  readonly spaces: readonly SpaceRef[];
  readonly names?: readonly string[];
  readonly ids?: readonly string[];
}

/** Edits of one block, newest first, including its creation. */
export interface BlockLogRequest {
  readonly space: SpaceRef;
  readonly id: string;
  /** The maximum number of edits; 0 means all. */
  readonly limit: number;
  /** Only this version. */
  readonly version?: number;
}

/** A version of a block with its full state. */
export interface BlockVersion extends BlockState {
  readonly id: string;
  readonly version: number;
  /** The block's current name; `name` is its name at that version. */
  readonly presentName: string;
  readonly reason: string;
  readonly actor?: string;
  readonly at: number;
}

/** A page of all versions of one block or of all blocks of a space: blocks in creation order, oldest version first. */
export interface BlockVersionsRequest {
  readonly space: SpaceRef;
  readonly id?: string;
  readonly version?: number;
  readonly limit: number;
  readonly cursor?: string;
}

export interface BlockReads {
  /** Ordered by space as requested, then by name (by code unit). */
  blocks(request: BlocksRequest): Promise<readonly Block[]>;
  /** Empty if the block does not exist. */
  blockLog(request: BlockLogRequest): Promise<readonly BlockEdit[]>;
  /** A page of versions, of one block or of all blocks of the space. */
  blockVersions(request: BlockVersionsRequest): Promise<Page<BlockVersion>>;
}
