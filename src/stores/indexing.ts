/**
 * The part of the Store contract (store.ts) that serves retrieval by meaning: items pending embedding, leases on them,
 * their vectors, and the outbox for an external vector index.
 *
 * The item table is the journal. Each item has a `version` and the version that was last embedded; it is pending while
 * the two differ. An add or a text edit makes the item pending in the same transaction. Any other edit leaves an
 * embedded item embedded. So a crash loses nothing, and no second log exists.
 *
 * Guarantees:
 * - A vector is written only if the item still exists, its version and the versions of all items it borrowed text from
 *   are the ones that were embedded, and the lease's fencing number is the newest. Items that fail the check are
 *   skipped one by one.
 * - An edit of an item's text, or its removal, removes its vectors and those of every item that borrowed its text, in
 *   the same transaction. The borrowers become pending. No read returns a vector of text that no longer exists.
 * - Fencing numbers only increase, across all lanes and processes. Leases have no timeout: a lease ends when its owner
 *   releases it, or when another process evicts an owner whose heartbeat has not changed. An evicted owner cannot
 *   write.
 * - Outbox rows are written in the transaction that changes the vectors, and delivered in order per item.
 * - A key identifies one item forever, even if the item's id is reused.
 */
import type { Span } from "../graphemes.js";
import type { SpaceRef, VectorSpace } from "../types.js";
import type { NextSpace, ReindexingDone, ReindexingWrite, ReindexReads } from "./reindexing.js";
import type { RowFilter } from "./store.js";

/** A queue of items pending embedding: one session, or the items of a space that belong to no session. */
export interface Lane {
  readonly space: SpaceRef;
  readonly session?: string;
}

/** The lane of the process that drains the outbox. */
export const OUTBOX = "outbox";

/** A process that embeds. `process` lets others on the same machine check whether it is still alive. */
export interface Owner {
  readonly id: string;
  readonly process: string;
}

/** The current owner of a lease, as other processes see it. */
export interface Holder extends Owner {
  /** The heartbeat. It keeps changing while the owner is alive. */
  readonly beat: number;
}

/**
 * Acquires leases for an owner. A lease that the owner already holds keeps its fencing number. Counts as a heartbeat.
 */
export interface ClaimWrite {
  readonly op: "claim";
  readonly owner: Owner;
  readonly lanes: readonly (Lane | typeof OUTBOX)[];
  /** Dead or silent owners. All their leases end, unless the owner's heartbeat has changed since. */
  readonly evict: readonly { readonly owner: string; readonly beat: number }[];
}

/** Renews the owner's heartbeat. */
export interface BeatWrite {
  readonly op: "beat";
  readonly owner: Owner;
}

/**
 * Releases the leases on the given lanes. Without `lanes`, releases all of the owner's leases and removes its record.
 */
export interface ReleaseWrite {
  readonly op: "release";
  readonly owner: string;
  readonly lanes?: readonly (Lane | typeof OUTBOX)[];
}

/** The vectors of one item, one per chunk, concatenated. An item with no text to embed has no chunks. */
export interface EmbeddedItem {
  readonly key: number;
  readonly version: number;
  readonly spans: readonly Span[];
  /**
   * `spans.length` × dimensions numbers; each vector has unit length. A store may keep 16 bits per number
   * (quantise.ts).
   */
  readonly vectors: Float32Array;
  /** The other items whose text the chunks include, in the versions that were read. */
  readonly borrowed: readonly { readonly key: number; readonly version: number }[];
}

/**
 * Writes vectors of items of one lane. Fails with `vector_space`, and writes nothing, if the store's vectors belong to
 * another space. `release` ends the lease if no item of the lane is pending any more.
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

/**
 * Parks items that could not be embedded, so that they do not block the lane. An edit makes a parked item pending
 * again.
 */
export interface ParkWrite {
  readonly op: "park";
  readonly owner: string;
  readonly lane: Lane;
  readonly fence: number;
  readonly items: readonly {
    readonly key: number;
    readonly version: number;
    /** The embedder's error message. Never contains content. */
    readonly error: string;
    /** When the item may be retried automatically. If absent, only `replay` retries it. */
    readonly retryAt?: number;
  }[];
}

/**
 * Makes parked items pending again. `due`: the items of any space whose retry time has come, including items whose
 * parking time lies in the future by this clock; they keep their attempt count. `space`: all items of the space, or
 * only the given ids; their attempt count starts from zero. Works in slices: repeat while `remaining`.
 */
export interface ReplayWrite {
  readonly op: "replay";
  readonly which: { readonly due: true } | { readonly space: SpaceRef; readonly ids?: readonly string[] };
}

/**
 * Attaches an external index by name. From then on every change of vectors, in every process, writes an outbox row.
 * Existing vectors are queued in slices: repeat while `remaining`. Fails with `conflict` if another index is attached.
 * `null` detaches the index and empties the outbox.
 */
export interface AttachWrite {
  readonly op: "attach";
  readonly index: string | null;
}

/** Reports the outbox rows that the index acknowledged, and the rows that it rejected, which are retried later. */
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
  | AttachWrite
  | AcknowledgeWrite
  | ReindexingWrite;

/** The result of a claim: a lease, the current holder, or `gone` if the lane does not exist. */
export type Claim = { readonly fence: number } | { readonly holder: Holder } | { readonly gone: true };

export type IndexingDone =
  /** One claim per lane, in order. */
  | { readonly op: "claim"; readonly claims: readonly Claim[] }
  /** `alive` is false if the owner was evicted or is unknown; it then holds no leases. */
  | { readonly op: "beat"; readonly alive: boolean }
  | { readonly op: "release" }
  /** The keys that were written. If `fenced`, none were, because another owner holds the lease now. */
  | { readonly op: "index"; readonly written: readonly number[]; readonly fenced: boolean; readonly released: boolean }
  | { readonly op: "park"; readonly parked: number; readonly fenced: boolean }
  | { readonly op: "replay"; readonly replayed: number; readonly remaining: boolean }
  | { readonly op: "attach"; readonly remaining: boolean }
  | { readonly op: "acknowledge"; readonly fenced: boolean }
  | ReindexingDone;

/** A lane with pending items. Parked and expired items do not count. */
export interface WaitingLane {
  readonly lane: Lane;
  readonly items: number;
  /** The key of its newest pending item. */
  readonly newest: number;
  /** The holder of the lease, if it is not the caller. */
  readonly holder?: Holder;
}

/** An item pending embedding. */
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
  /** The lanes to read, in this order. With `after`, only items with a higher key are read. */
  readonly lanes: readonly { readonly lane: Lane; readonly after?: number }[];
  /** The maximum number of items, across all lanes. */
  readonly limit: number;
  /** Reading stops when the contents exceed this size. At least one item is always returned. */
  readonly maxBytes: number;
  readonly now: number;
}

/** Reads the newest pending items of the given spaces, newest first. */
export interface TailRequest {
  readonly spaces: readonly SpaceRef[];
  readonly filter: RowFilter;
  readonly limit: number;
  /** Contents larger than this are not read. If absent, there is no limit. */
  readonly contentBytesMax?: number;
  readonly now: number;
}

export interface PendingItems {
  readonly items: readonly PendingItem[];
  /** True if more items are pending than this result contains. */
  readonly more: boolean;
}

export interface Tail extends PendingItems {
  /** Those of the newest items whose content was not read because of its size. */
  readonly long: readonly Omit<PendingItem, "content">[];
}

/** An earlier item whose text a chunk may include. */
export interface Neighbour {
  readonly key: number;
  readonly version: number;
  readonly name?: string;
  readonly content: string;
}

/** A chunk as it is stored: a span of its item. It has no text of its own. */
export interface StoredChunk extends Span {
  /** The `chunkId` of the item and the part. It is the point's id in an external index. */
  readonly id: string;
  readonly key: number;
  readonly item: string;
  readonly version: number;
  readonly part: number;
  readonly parts: number;
  /** The ids of the other items whose text it includes. */
  readonly borrowed: readonly string[];
}

/** An item that could not be embedded. */
export interface ParkedItem {
  /** The space that owns it. */
  readonly space: SpaceRef;
  /** Its session, if it has one. */
  readonly session?: string;
  /** The id of the item. */
  readonly id: string;
  /** The version that could not be embedded. An edit tries again. */
  readonly version: number;
  /** How often it was tried. */
  readonly attempts: number;
  /** The embedder's message. Never content. */
  readonly error: string;
  /** Epoch milliseconds. */
  readonly parkedAt: number;
  /** When the item is retried automatically. */
  readonly retryAt?: number;
}

/** A change that an external index has not acknowledged yet. */
export interface OutboxRow {
  readonly sequence: number;
  /** The space under its current name. Meaningless if the space has been forgotten. */
  readonly space: SpaceRef;
  /** The registry id of the space, which renames do not change. Of a point: that of its collection. */
  readonly spaceId: string;
  readonly key: number;
  readonly attempts: number;
  /**
   * The vector space of the vectors, if it is not the current one: a former one, of which only deletes are left, or that
   * of points (points.ts).
   */
  readonly other?: VectorSpace;
  readonly change:
    | {
        readonly kind: "upsert";
        readonly id: string;
        readonly version: number;
        /** The current vectors. Absent if they have been removed; a later row then records the removal. */
        readonly vectors?: Float32Array;
        readonly parts: number;
      }
    | { readonly kind: "delete"; readonly parts: number };
}

export interface IndexingStats {
  /** Items pending embedding, without parked ones. */
  readonly pending: number;
  /** The earliest add or last-edit time among the pending items. Absent if no item is pending. */
  readonly oldestPendingAt?: number;
  readonly parked: number;
  /** Items that have vectors, and the number of their chunks. */
  readonly embedded: number;
  readonly chunks: number;
  readonly vectorSpace?: VectorSpace;
  /** The vector space that will replace the current one, while it is being filled. */
  readonly next?: NextSpace;
  /**
   * The attached external index and the number of rows it has not acknowledged. `unsentFailed` counts the rows that it
   * rejected at least once.
   */
  readonly index?: string;
  readonly unsent: number;
  readonly unsentFailed: number;
}

/** Statistics of the mirrors: in-memory copies of the vectors of searched spaces. */
export interface MirrorStats {
  /** The number of mirrored spaces and of the vectors in them. */
  readonly spaces: number;
  readonly vectors: number;
  readonly bytes: number;
  readonly budget: number;
  readonly loads: number;
  readonly evictions: number;
  /** How many times a search used a space's mirror. */
  readonly hits: number;
}

export interface Indexing extends ReindexReads {
  /** Lanes with pending items. The lane with the newest item comes first. */
  waiting(owner: string, limit: number, now: number): Promise<readonly WaitingLane[]>;
  /** Pending items of these lanes, oldest first within each lane. */
  pending(request: PendingRequest): Promise<PendingItems>;
  tail(request: TailRequest): Promise<Tail>;
  /**
   * For each key, up to `count` preceding items of the same session, nearest last. Empty for items outside a session.
   */
  earlier(keys: readonly number[], count: number, now: number): Promise<readonly (readonly Neighbour[])[]>;
  /** Up to `limit` items of these spaces whose vectors an attached external index has not acknowledged. */
  unsent(spaces: readonly SpaceRef[], limit: number): Promise<readonly number[]>;
  /** The chunks of these items, ordered by item and part. */
  chunks(spaces: readonly SpaceRef[], ids: readonly string[], now: number): Promise<readonly StoredChunk[]>;
  /** Parked items of these spaces, in the order in which they were added. */
  parked(request: ParkedRequest): Promise<ParkedPage>;
  /** Rows that are due now, in order. Excludes rows that wait for a retry and later rows of the same item. */
  outbox(limit: number, maxBytes: number, now: number): Promise<readonly OutboxRow[]>;
  /** The vector space of the stored vectors. Undefined while the store has none. */
  vectorSpace(): Promise<VectorSpace | undefined>;
  /** What is embedded, pending and parked. */
  indexingStats(): Promise<IndexingStats>;
  /** Absent in a store without mirrors. */
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
