/**
 * What the store does for retrieval by meaning: items that wait to be embedded, leases on them, their vectors, and the
 * outbox for an external vector index. Part of the Store contract (store.ts).
 *
 * The item table is the journal. Each item has `version` and the version that was last embedded; it is pending while
 * they differ. An add or an edit of its text makes it pending, in the same transaction; an edit of anything else keeps
 * it embedded if it was. So a crash loses nothing, and no second log exists.
 *
 * Guarantees:
 * - Vectors are written only where the item still exists, its version and those of all it borrowed from are the ones
 *   that were embedded, and the lease's fence is the newest. What does not hold is skipped, item by item.
 * - An edit of an item's text, or its removal, removes its vectors and those of every item that borrowed its text, in
 *   the same transaction; the borrowers become pending. No read returns a vector of text that is no longer there.
 * - Fences only grow, over all lanes and processes. Leases know no clock: they end when they are released, or when
 *   another owner says so of a beat that has not changed. Whoever was evicted can write nothing any more.
 * - Outbox rows are written in the transaction that changes the vectors, and handed out in order per item.
 * - A key names one item for ever, also when its id is used again.
 */
import type { Span } from "../graphemes.js";
import type { SpaceRef, VectorSpace } from "../types.js";
import type { FoundItems } from "./estimates.js";
import type { NextSpace, ReindexingDone, ReindexingWrite, ReindexReads } from "./reindexing.js";
import type { RowFilter, Scored } from "./store.js";

/** Where items wait to be embedded: one session, or what a space holds outside any session. */
export interface Lane {
  readonly space: SpaceRef;
  readonly session?: string;
}

/** The lane of whoever empties the outbox. */
export const OUTBOX = "outbox";

/** A process that embeds; `process` lets others on the same machine find out whether it still lives. */
export interface Owner {
  readonly id: string;
  readonly process: string;
}

/** Who has a lease, as others see it. */
export interface Holder extends Owner {
  /** Changes as long as the owner lives. */
  readonly beat: number;
}

// Writes.

/** Takes leases for an owner; a lease that it has already keeps its fence. Counts as a beat. */
export interface ClaimWrite {
  readonly op: "claim";
  readonly owner: Owner;
  readonly lanes: readonly (Lane | typeof OUTBOX)[];
  /** Owners that are gone or silent: all their leases end, unless they have shown another beat meanwhile. */
  readonly evict: readonly { readonly owner: string; readonly beat: number }[];
}

/** Shows that the owner lives. */
export interface BeatWrite {
  readonly op: "beat";
  readonly owner: Owner;
}

/** Ends leases: the lanes named, or all of the owner's, and then the owner's own record with them. */
export interface ReleaseWrite {
  readonly op: "release";
  readonly owner: string;
  readonly lanes?: readonly (Lane | typeof OUTBOX)[];
}

/** The vectors of one item: those of its chunks, one after the other. No chunks: it has no text to embed. */
export interface EmbeddedItem {
  readonly key: number;
  readonly version: number;
  readonly spans: readonly Span[];
  /** `spans.length` × dimensions numbers; each vector of unit length. */
  readonly vectors: Float32Array;
  /** The other items whose text the chunks carry, in the versions that were read. */
  readonly borrowed: readonly { readonly key: number; readonly version: number }[];
}

/**
 * Writes vectors of items of one lane. `vector_space` (nothing written) if the store's vectors are of another space.
 * `release` ends the lease if nothing of the lane is pending any more.
 */
export interface IndexWrite {
  readonly op: "index";
  readonly owner: string;
  readonly lane: Lane;
  readonly fence: number;
  readonly vectorSpace: VectorSpace;
  readonly items: readonly EmbeddedItem[];
  readonly release: boolean;
}

/** Sets items aside that could not be embedded: nothing waits behind them. An edit takes them up again. */
export interface ParkWrite {
  readonly op: "park";
  readonly owner: string;
  readonly lane: Lane;
  readonly fence: number;
  readonly items: readonly {
    readonly key: number;
    readonly version: number;
    /** What the embedder said. Never content. */
    readonly error: string;
    /** When it may be tried again by itself; absent: only by `replay`. */
    readonly retryAt?: number;
  }[];
}

/**
 * Takes parked items up again. `due`: those whose time has come, in any space (also those parked in the future of this
 * clock); they keep their count of attempts. `space`: all of it, or these ids; they start counting anew. A slice at a
 * time: repeat while `remaining`.
 */
export interface ReplayWrite {
  readonly op: "replay";
  readonly which: { readonly due: true } | { readonly space: SpaceRef; readonly ids?: readonly string[] };
}

/** Declares whose vectors this store keeps. The first one stays; `vector_space` if it is another. */
export interface AdoptWrite {
  readonly op: "adopt";
  readonly vectorSpace: VectorSpace;
}

/**
 * Attaches an external index by name: from now on every change of vectors leaves a row in the outbox, in every process.
 * What is there already is queued a slice at a time: repeat while `remaining`. `conflict` if another one is attached.
 * `null` detaches it and empties the outbox.
 */
export interface AttachWrite {
  readonly op: "attach";
  readonly index: string | null;
}

/** Rows of the outbox that the index has acknowledged, and those that it refused, to be tried again later. */
export interface AcknowledgeWrite {
  readonly op: "acknowledge";
  readonly owner: string;
  readonly fence: number;
  readonly sent: readonly number[];
  readonly failed: readonly { readonly sequence: number; readonly error: string; readonly retryAt: number }[];
}

export type IndexingWrite =
  | ClaimWrite
  | BeatWrite
  | ReleaseWrite
  | IndexWrite
  | ParkWrite
  | ReplayWrite
  | AdoptWrite
  | AttachWrite
  | AcknowledgeWrite
  | ReindexingWrite;

/** A lease, or who has it, or that the lane does not exist (any more). */
export type Claim = { readonly fence: number } | { readonly holder: Holder } | { readonly gone: true };

export type IndexingDone =
  /** One claim per lane, in order. */
  | { readonly op: "claim"; readonly claims: readonly Claim[] }
  /** `alive` false: the owner was evicted or never known, and has no leases. */
  | { readonly op: "beat"; readonly alive: boolean }
  | { readonly op: "release" }
  /** The keys that were written; `fenced`: none, because the lease is another's by now. */
  | { readonly op: "index"; readonly written: readonly number[]; readonly fenced: boolean; readonly released: boolean }
  | { readonly op: "park"; readonly parked: number; readonly fenced: boolean }
  | { readonly op: "replay"; readonly replayed: number; readonly remaining: boolean }
  | { readonly op: "adopt" }
  | { readonly op: "attach"; readonly remaining: boolean }
  | { readonly op: "acknowledge"; readonly fenced: boolean }
  | ReindexingDone;

// Reads.

/** A lane with items that wait; parked and expired ones do not count. */
export interface WaitingLane {
  readonly lane: Lane;
  readonly items: number;
  /** The key of its newest waiting item. */
  readonly newest: number;
  /** Who has the lease, if it is not whoever asks. */
  readonly holder?: Holder;
}

/** An item that waits to be embedded. */
export interface PendingItem {
  readonly key: number;
  readonly lane: Lane;
  readonly id: string;
  readonly version: number;
  readonly name?: string;
  readonly content: string;
  readonly round?: number;
  readonly recordedAt: number;
}

export interface PendingRequest {
  /** Lane by lane, in this order; only items after the key `after`, if it is given. */
  readonly lanes: readonly { readonly lane: Lane; readonly after?: number }[];
  /** Over all lanes together. */
  readonly limit: number;
  /** Stop when the contents read exceed this; one item at least. */
  readonly maxBytes: number;
  readonly now: number;
}

/** The newest items of spaces that wait to be embedded, newest first. */
export interface TailRequest {
  readonly spaces: readonly SpaceRef[];
  readonly filter: RowFilter;
  readonly limit: number;
  readonly now: number;
}

export interface Tail {
  readonly items: readonly PendingItem[];
  /** True when more of them wait than are told here. */
  readonly more: boolean;
}

/** Text that a chunk may carry of a neighbour. */
export interface Neighbour {
  readonly key: number;
  readonly version: number;
  readonly name?: string;
  readonly content: string;
}

/** Items by the best of their vectors (cosine), best first, ties newest first. */
export interface VectorsRequest {
  readonly spaces: readonly SpaceRef[];
  /** Nothing is found if the store's vectors are of another space. */
  readonly vectorSpace: VectorSpace;
  /** Of unit length. */
  readonly vector: Float32Array;
  readonly filter: RowFilter;
  readonly limit: number;
  readonly now: number;
  /** Only items with rows in the outbox: what an external index may not know yet. */
  readonly unsent?: boolean;
  /**
   * How long the store may take to make vectors ready, milliseconds. If that is not enough it rejects with `loading` and
   * goes on making them ready. Left out: as long as it takes.
   */
  readonly readyMs?: number;
  /** Tell also what is known by the way of items that are not among the best. */
  readonly estimates?: boolean;
}

export interface VectorScored extends Scored {
  /** Which of its chunks it was. */
  readonly part: number;
}

/** Items that something else has found, to be scored by vectors; whether they may be seen, whoever found them knows. */
export interface ScoresRequest extends Pick<VectorsRequest, "spaces" | "vectorSpace" | "vector"> {
  readonly items: readonly ToScore[];
}

export interface ToScore {
  readonly key: number;
  /** With a lower score it is of no interest; so it need not be known exactly. */
  readonly floor: number;
}

/** In no order. Items without vectors are in neither list. */
export interface Scores {
  readonly scored: readonly { readonly key: number; readonly score: number }[];
  /** Those that score less than their floor. */
  readonly below: readonly number[];
}

/** A chunk as it is kept: a slice of its item, no text of its own. */
export interface StoredChunk extends Span {
  /** `chunkId` of the item and the part: the point's id in an external index. */
  readonly id: string;
  readonly key: number;
  readonly item: string;
  readonly version: number;
  readonly part: number;
  readonly parts: number;
  /** The other items whose text it carries. */
  readonly borrowed: readonly string[];
}

export interface ParkedItem {
  readonly space: SpaceRef;
  readonly session?: string;
  readonly id: string;
  readonly version: number;
  readonly attempts: number;
  readonly error: string;
  readonly parkedAt: number;
  /** When it is tried again by itself. */
  readonly retryAt?: number;
}

/** A change that an external index has yet to acknowledge. */
export interface OutboxRow {
  readonly sequence: number;
  /** As it is called now; of no meaning if it has been forgotten. */
  readonly space: SpaceRef;
  /** The space's registry id, which outlives renames. */
  readonly spaceId: string;
  readonly key: number;
  readonly attempts: number;
  /** The vector space of the points, if another one is served by now. Then only its deletes matter. */
  readonly former?: VectorSpace;
  readonly change:
    | {
        readonly kind: "upsert";
        readonly id: string;
        readonly version: number;
        /** As they are now. Absent if they are gone; then a row further on says so. */
        readonly vectors?: Float32Array;
        readonly parts: number;
      }
    | { readonly kind: "delete"; readonly parts: number };
}

export interface IndexingStats {
  /** Items that wait to be embedded, without those parked. */
  readonly pending: number;
  /** When the one of them that was longest untouched was added or last edited; absent if none waits. */
  readonly oldestPendingAt?: number;
  readonly parked: number;
  /** Items with vectors, and their chunks. */
  readonly embedded: number;
  readonly chunks: number;
  readonly vectorSpace?: VectorSpace;
  /** The vector space that is to take its place, while it is being filled. */
  readonly next?: NextSpace;
  /** The external index attached, and the rows it has yet to acknowledge; `unsentFailed`: refused at least once. */
  readonly index?: string;
  readonly unsent: number;
  readonly unsentFailed: number;
}

/** Vectors of searched spaces that a store keeps in memory beside its medium. */
export interface MirrorStats {
  /** Spaces that have a mirror, and the vectors in them. */
  readonly spaces: number;
  readonly vectors: number;
  readonly bytes: number;
  readonly budget: number;
  readonly loads: number;
  readonly evictions: number;
  /** How often a search was answered from the mirror of a space. */
  readonly hits: number;
}

export interface Indexing extends ReindexReads {
  /** Lanes with waiting items, the one with the newest item first. */
  waiting(owner: string, limit: number, now: number): Promise<readonly WaitingLane[]>;
  /** Waiting items of these lanes, oldest first within each. */
  pending(request: PendingRequest): Promise<readonly PendingItem[]>;
  tail(request: TailRequest): Promise<Tail>;
  /** For each key, up to `count` items of the same session before it, the nearest last; none outside a session. */
  earlier(keys: readonly number[], count: number, now: number): Promise<readonly (readonly Neighbour[])[]>;
  searchVectors(request: VectorsRequest): Promise<FoundItems<VectorScored>>;
  scoreVectors(request: ScoresRequest): Promise<Scores>;
  /** The chunks of these items, in the order of items and parts. */
  chunks(spaces: readonly SpaceRef[], ids: readonly string[], now: number): Promise<readonly StoredChunk[]>;
  /** Parked items of these spaces, in the order in which they were added. */
  parked(request: ParkedRequest): Promise<ParkedPage>;
  /** Rows to be sent now, in order; those that wait for a retry, and later ones of the same item, are left out. */
  outbox(limit: number, maxBytes: number, now: number): Promise<readonly OutboxRow[]>;
  /** Whose vectors the store keeps; undefined as long as it keeps none. */
  vectorSpace(): Promise<VectorSpace | undefined>;
  indexingStats(): Promise<IndexingStats>;
  /** Absent in a store that keeps no mirrors. */
  mirrors?(): Promise<MirrorStats>;
}

export interface ParkedRequest {
  readonly spaces: readonly SpaceRef[];
  readonly limit: number;
  readonly cursor?: string;
  readonly now: number;
}

export interface ParkedPage {
  readonly items: readonly ParkedItem[];
  readonly next?: string;
}
