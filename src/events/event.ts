/**
 * What moves through the buffers, as it is told to those who listen.
 *
 * Invariants:
 * - Ids, counts, names of blocks and reasons: never content, metadata, or what an embedder said about a text.
 * - Every event names exactly one space, so that whoever may see some spaces can be shown just those. The session stands
 *   where the write names one; an edit or a delete by id names none.
 * - An event is told after its commit: what it tells of is there. What expires is not told.
 */
import type { FlushReason } from "../buffers/hybrid/hybrid-buffer.js";
import type { TransferReason } from "../buffers/round-buffer.js";
import type { ErrorCode } from "../errors.js";
import type { FactState } from "../stores/facts.js";
import type { Kind, SpaceRef } from "../types.js";

/** When and where. */
interface Place {
  /** Epoch milliseconds: when it was told. */
  readonly at: number;
  readonly space: SpaceRef;
  readonly session?: string;
}

/** The WriteBuffer has committed items: they are durable, and words find them. */
export interface AddedEvent extends Place {
  readonly type: "added";
  readonly ids: readonly string[];
  /** Each once. */
  readonly kinds: readonly Kind[];
  readonly commit: number;
}

/** An item has a new version; what was embedded of the old one finds nothing any more. */
export interface EditedEvent extends Place {
  readonly type: "edited";
  readonly id: string;
  readonly version: number;
  readonly commit: number;
}

/** Items were deleted by id. */
export interface DeletedEvent extends Place {
  readonly type: "deleted";
  /** Those asked for. */
  readonly ids: readonly string[];
  /** How many items and facts went: of those asked for, and facts that rested on nothing else. */
  readonly items: number;
  readonly facts: number;
}

/** A session was forgotten, or a block (`block` is its id), or, if neither is named, the whole space. */
export interface ForgottenEvent extends Place {
  readonly type: "forgotten";
  readonly block?: string;
  readonly items: number;
  readonly facts: number;
}

/** Items were copied into this space from another one. */
export interface PromotedEvent extends Place {
  readonly type: "promoted";
  readonly ids: readonly string[];
  readonly commit: number;
}

/** The space, or the session that is named, has another name from now on; this is the old one. */
export interface RenamedEvent extends Place {
  readonly type: "renamed";
  readonly commit: number;
}

/** A block was created or has a new version. */
export interface BlockEvent extends Place {
  readonly type: "block";
  readonly id: string;
  readonly name: string;
  readonly version: number;
  readonly commit: number;
}

/** A fact was recorded or updated, has ended, or was retracted: it is in this state now. */
export interface FactEvent extends Place {
  readonly type: "fact";
  readonly id: string;
  readonly state: FactState;
  readonly commit: number;
}

/** RoundBuffer → HybridBuffer: the items are embedded, and found by meaning. */
export interface TransferredEvent extends Place {
  readonly type: "transferred";
  readonly reason: TransferReason;
  readonly ids: readonly string[];
}

/** HybridBuffer → store: the vectors of the items are written. */
export interface FlushedEvent extends Place {
  readonly type: "flushed";
  readonly reason: FlushReason;
  readonly ids: readonly string[];
}

/** An item could not be embedded and was set aside; `parked()` has what the embedder said. */
export interface ParkedEvent extends Place {
  readonly type: "parked";
  readonly id: string;
  readonly code: ErrorCode;
  /** When it is tried again by itself; absent: only by `replay`. */
  readonly retryAt?: number;
}

/** Somebody called for items that were set aside to be tried again. (Those whose time has come are not told.) */
export interface ReplayedEvent extends Place {
  readonly type: "replayed";
  readonly items: number;
}

/**
 * Another process has changed the space. Only for those who listen to spaces they name: no store tells what everyone does.
 * If it names nothing, vectors were written, or an agent was renamed. A block that others edit is not noticed.
 */
export interface ChangedEvent extends Place {
  readonly type: "changed";
  /** Items that were added or edited; of very many, the first ones. */
  readonly ids: readonly string[];
  /** How many items were removed. */
  readonly removed: number;
  /** The last commit that changed the space; 0: there is no space of this name any more. */
  readonly commit: number;
}

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
  | ReplayedEvent
  | ChangedEvent;

/** To a reader that was too slow: so many events of its spaces are not told, between the last one and the next. */
export interface MissedEvents {
  readonly type: "missed";
  readonly at: number;
  readonly count: number;
}

/** An event before it is told. */
export type Untold = MemoryEvent extends infer E ? (E extends MemoryEvent ? Omit<E, "at"> : never) : never;
