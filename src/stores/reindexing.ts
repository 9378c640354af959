/**
 * Re-embedding for another model: a second vector space, the next one, grows beside the one that is served, until it is
 * whole and takes its place. Part of the Store contract (store.ts), beside indexing.ts.
 *
 * Guarantees:
 * - The served space answers as ever until the switch. Nobody sees anything of the next one before.
 * - Whatever takes away an item's vectors, or the text they were made from, does so in both spaces, in the same
 *   transaction. What is missing in the next space because of that, or because it is new, is told by `toReindex` again.
 * - Progress is in the store. Whoever begins again with the same vector space goes on where it ended.
 * - The switch is one short transaction. It gives every space a new version, and an external index is told everything
 *   anew. From then on vectors of the former space are refused (`vector_space`).
 * - The vectors of a former space, or of one that was abandoned, go a slice at a time, by `maintain`, in any process.
 *   An item that is forgotten meanwhile takes its own with it at once.
 */
import type { VectorSpace } from "../types.js";
import type { EmbeddedItem, ParkWrite, PendingItem } from "./indexing.js";

/** Begins a next space, or goes on with it. `conflict` if another one is half done. */
export interface BeginReindexWrite {
  readonly op: "begin_reindex";
  readonly vectorSpace: VectorSpace;
}

/**
 * Writes vectors of the next space: only where the item still misses them, and it and all it borrowed from are in the
 * versions that were embedded. `conflict` if this is not the next space (any more).
 */
export interface ReindexWrite {
  readonly op: "reindex";
  readonly vectorSpace: VectorSpace;
  /** As `toReindex` told it. */
  readonly range: KeyRange;
  readonly items: readonly EmbeddedItem[];
  /** Items that the new model does not take. They are parked with the switch. */
  readonly refused: ParkWrite["items"];
}

/**
 * Serves the next space from now on, unless more than `missingMax` items are missing in it. An item that is missing is
 * pending then, as if it had been written right after the switch.
 */
export interface SwitchSpaceWrite {
  readonly op: "switch_space";
  readonly vectorSpace: VectorSpace;
  readonly missingMax: number;
}

/** Gives up the next space, whichever it is. */
export interface AbandonReindexWrite {
  readonly op: "abandon_reindex";
}

export type ReindexingWrite = BeginReindexWrite | ReindexWrite | SwitchSpaceWrite | AbandonReindexWrite;

export type ReindexingDone =
  /** `isServed`: the store keeps vectors of this space already, and there is nothing to do. */
  | { readonly op: "begin_reindex"; readonly isServed: boolean }
  | { readonly op: "reindex"; readonly written: readonly number[]; readonly next: NextSpace }
  | { readonly op: "switch_space"; readonly switched: boolean }
  | { readonly op: "abandon_reindex"; readonly abandoned: boolean };

/** How far the next space has come. */
export interface NextSpace {
  readonly vectorSpace: VectorSpace;
  /** Items whose vectors are there, those without text included. */
  readonly embedded: number;
  /** Items that are still to be embedded. */
  readonly remaining: number;
  /** Items that the new model does not take. */
  readonly refused: number;
}

/** The items after one key, up to and including another. */
export interface KeyRange {
  readonly after: number;
  readonly upTo: number;
}

export interface ToReindexRequest {
  readonly vectorSpace: VectorSpace;
  readonly limit: number;
  /** Stop when the contents read exceed this; one item at least. */
  readonly maxBytes: number;
  readonly now: number;
}

/** Items that the next space misses; those that have expired are passed over. */
export interface ToReindex {
  readonly items: readonly PendingItem[];
  /** What was looked at for the first time; empty (`after` = `upTo`) when all has been. */
  readonly range: KeyRange;
}

export interface ReindexReads {
  /** Nothing if this is not the next space. */
  toReindex(request: ToReindexRequest): Promise<ToReindex>;
}
