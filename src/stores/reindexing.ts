/**
 * Re-embedding for another model: a second vector space, the next one, is filled while the first is still served, and
 * replaces it when it is complete. Part of the Store contract (store.ts), like indexing.ts.
 *
 * Guarantees:
 * - The served space answers all searches until the switch. Nothing of the next space is visible before.
 * - Whatever removes an item's vectors, or the text they were computed from, does so in both spaces, in the same
 *   transaction. `toReindex` returns the items that the next space lacks because of that, or because they are new.
 * - Progress is kept in the store. Beginning again with the same vector space continues where it stopped.
 * - The switch is one short transaction. It gives every space a new version, and an external index receives everything
 *   again. From then on vectors of the former space are rejected (`vector_space`).
 * - `maintain`, in any process, removes the vectors of a former or abandoned space in slices. Forgetting an item
 *   removes its vectors there at once.
 */
import type { VectorSpace } from "../types.js";
import type { EmbeddedItem, ParkWrite, PendingItem } from "./indexing.js";

/** Begins a next space, or continues it. Fails with `conflict` if another one is in progress. */
export interface BeginReindexWrite {
  readonly op: "begin_reindex";
  readonly vectorSpace: VectorSpace;
}

/**
 * Writes vectors of the next space, but only for items that still lack them and that are, with all items they borrowed
 * from, in the versions that were embedded. Fails with `conflict` if this is not the next space (any more).
 */
export interface ReindexWrite {
  readonly op: "reindex";
  readonly vectorSpace: VectorSpace;
  /** The range that `toReindex` returned. */
  readonly range: KeyRange;
  readonly items: readonly EmbeddedItem[];
  /** Items that the new model rejects. The switch parks them. */
  readonly refused: ParkWrite["items"];
}

/**
 * Serves the next space from now on, unless it lacks more than `missingMax` items. Missing items become pending, as if
 * they had been written right after the switch.
 */
export interface SwitchSpaceWrite {
  readonly op: "switch_space";
  readonly vectorSpace: VectorSpace;
  readonly missingMax: number;
}

/** Abandons the next space, whichever it is. */
export interface AbandonReindexWrite {
  readonly op: "abandon_reindex";
}

export type ReindexingWrite = BeginReindexWrite | ReindexWrite | SwitchSpaceWrite | AbandonReindexWrite;

export type ReindexingDone =
  /** `isServed`: the store already serves vectors of this space, and there is nothing to do. */
  | { readonly op: "begin_reindex"; readonly isServed: boolean }
  | { readonly op: "reindex"; readonly written: readonly number[]; readonly next: NextSpace }
  | { readonly op: "switch_space"; readonly switched: boolean }
  | { readonly op: "abandon_reindex"; readonly abandoned: boolean };

/** The progress of the next space. */
export interface NextSpace {
  /** The kind of vectors that is being built. */
  readonly vectorSpace: VectorSpace;
  /** Items whose vectors are written, including items without text. */
  readonly embedded: number;
  /** Items that are still to be embedded. */
  readonly remaining: number;
  /** Items that the new model rejects. */
  readonly refused: number;
}

/** The items with keys above `after`, up to and including `upTo`. */
export interface KeyRange {
  readonly after: number;
  readonly upTo: number;
}

export interface ToReindexRequest {
  readonly vectorSpace: VectorSpace;
  readonly limit: number;
  /** Reading stops when the contents exceed this size. At least one item is always returned. */
  readonly maxBytes: number;
  readonly now: number;
}

/** Items that the next space lacks, without expired ones. */
export interface ToReindex {
  readonly items: readonly PendingItem[];
  /** The keys that were processed for the first time; empty (`after` = `upTo`) when all have been. */
  readonly range: KeyRange;
}

export interface ReindexReads {
  /** Empty if this is not the next space. */
  toReindex(request: ToReindexRequest): Promise<ToReindex>;
}
