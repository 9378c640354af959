/**
 * The events that report what happens in the buffers.
 *
 * Invariants:
 * - Events carry ids, counts, block names and reasons: never content, metadata, or an embedder's message about a text.
 * - Every event names exactly one space, so that subscribers can be limited to the spaces they may read. The session is
 *   present if the write names one; an edit or a delete by id names none.
 * - An event is published after its commit, so its effects are already visible. Expiry publishes no event.
 */
import type { ErrorCode } from "../errors.js";
import type { PredictorName } from "../options.js";
import type { FactState } from "../stores/facts.js";
import type { Kind, SpaceRef } from "../types.js";

/**
 * Why a batch was transferred. recovery: it was found on disk, left by a dead process or by an earlier run. through: the
 * buffers are turned off.
 */
export const TRANSFER_REASONS = [
  "tokens",
  "rounds",
  "idle",
  "manual",
  "close",
  "eager",
  "recovery",
  "through",
] as const;
/** Why a batch was transferred to the HybridBuffer. */
export type TransferReason = (typeof TRANSFER_REASONS)[number];

/** Why vectors were written. through: the buffers are turned off. */
export const FLUSH_REASONS = ["rounds", "bytes", "idle", "forced", "manual", "close", "through"] as const;
export type FlushReason = (typeof FLUSH_REASONS)[number];

/** ready: an answer is held · served: a question got it · wasted: it was dropped unserved. */
export type PrefetchOutcome = "ready" | "served" | "wasted";

/** The time and place of an event. */
interface EventBase {
  /** Epoch milliseconds of the event. */
  readonly at: number;
  /** The space in which it happened. */
  readonly space: SpaceRef;
  /** The session, if the write names one. */
  readonly session?: string;
}

/** The WriteBuffer committed items. They are durable and searchable by words. */
export interface AddedEvent extends EventBase {
  readonly type: "added";
  /** The ids of the items. */
  readonly ids: readonly string[];
  /** Without duplicates. */
  readonly kinds: readonly Kind[];
}

/** An item has a new version. The vectors of the old version are no longer searched. */
export interface EditedEvent extends EventBase {
  readonly type: "edited";
  /** The id of the item, block or fact. */
  readonly id: string;
  /** The new version. */
  readonly version: number;
}

/** Items were deleted by id. */
export interface DeletedEvent extends EventBase {
  readonly type: "deleted";
  /** The requested ids. */
  readonly ids: readonly string[];
  /** Number of deleted items and facts, including facts that had no other source. */
  readonly items: number;
  /** Number of facts that were removed. */
  readonly facts: number;
}

/** A session was forgotten, or a block (`block` is its id), or the whole space if neither is present. */
export interface ForgottenEvent extends EventBase {
  readonly type: "forgotten";
  /** The id of the forgotten block. */
  readonly block?: string;
  /** Number of items. */
  readonly items: number;
  /** Number of facts that were removed. */
  readonly facts: number;
}

/** Items were copied into this space from another. */
export interface PromotedEvent extends EventBase {
  readonly type: "promoted";
  /** The ids of the items. */
  readonly ids: readonly string[];
}

/** The space, or the named session, was renamed. The event carries the old name. */
export interface RenamedEvent extends EventBase {
  readonly type: "renamed";
}

/** A block was created or has a new version. */
export interface BlockEvent extends EventBase {
  readonly type: "block";
  /** The id of the item, block or fact. */
  readonly id: string;
  /** The name of the block. */
  readonly name: string;
  /** The new version. */
  readonly version: number;
}

/** A fact was recorded, updated, ended or retracted, and is now in this state. */
export interface FactEvent extends EventBase {
  readonly type: "fact";
  /** The id of the item, block or fact. */
  readonly id: string;
  /** The new state of the fact. */
  readonly state: FactState;
}

/** RoundBuffer → HybridBuffer: the items are embedded and searchable by meaning. */
export interface TransferredEvent extends EventBase {
  readonly type: "transferred";
  /** Why it happened now. */
  readonly reason: TransferReason;
  /** The ids of the items. */
  readonly ids: readonly string[];
}

/** HybridBuffer → store: the vectors of the items are written. */
export interface FlushedEvent extends EventBase {
  readonly type: "flushed";
  /** Why it happened now. */
  readonly reason: FlushReason;
  /** The ids of the items. */
  readonly ids: readonly string[];
}

/**
 * SpeculativeBuffer: an answer was made ahead of time (`ready`), a question got it (`served`), or it was dropped
 * (`wasted`).
 */
export interface PrefetchedEvent extends EventBase {
  readonly type: "prefetched";
  /** Who guessed the question. */
  readonly predictor: PredictorName;
  /** What became of the answer. */
  readonly outcome: PrefetchOutcome;
}

/** An item could not be embedded and was parked. `parked()` returns the embedder's message. */
export interface ParkedEvent extends EventBase {
  readonly type: "parked";
  /** The id of the item, block or fact. */
  readonly id: string;
  /** The code of the error. */
  readonly code: ErrorCode;
  /** Time of the automatic retry; absent if only `replay` retries it. */
  readonly retryAt?: number;
}

/** A caller asked to retry parked items. Automatic retries are not reported. */
export interface ReplayedEvent extends EventBase {
  readonly type: "replayed";
  /** Number of items. */
  readonly items: number;
}

/**
 * Another process changed the space. Sent only to subscribers that name their spaces. If it lists no items, vectors
 * were written or an agent was renamed. Block edits by other processes are not detected.
 */
export interface ChangedEvent extends EventBase {
  readonly type: "changed";
  /** Ids of added or edited items; if there are very many, only the first ones. */
  readonly ids: readonly string[];
  /** Number of removed items. */
  readonly removed: number;
  /** The space no longer exists under this name. */
  readonly gone?: true;
}

/** Something that happened in a memory. It carries ids and counts, never content. */
export type MemoryEvent =
  | AddedEvent
  | EditedEvent
  | DeletedEvent
  | ForgottenEvent
  | PromotedEvent
  | RenamedEvent
  | BlockEvent
  | FactEvent
  | TransferredEvent
  | FlushedEvent
  | ParkedEvent
  | PrefetchedEvent
  | ReplayedEvent
  | ChangedEvent;

/** Sent to a reader that was too slow: the number of events of its spaces that it missed at this point. */
export interface MissedEvents {
  readonly type: "missed";
  /** Epoch milliseconds. */
  readonly at: number;
  /** Number of events that were missed. */
  readonly count: number;
}

/** An event without its time. */
export type Untold = MemoryEvent extends infer E ? (E extends MemoryEvent ? Omit<E, "at"> : never) : never;
