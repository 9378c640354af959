/**
 * Promotion in the Store contract: explicitly copies items from one space to another and logs it.
 *
 * Guarantees of every implementation:
 * - Atomic: fails with `not_found` (details.id) if one of the items does not exist.
 * - The copy has the item's id, text, role, name, parts, metadata, tier, kind and time, no session, and the agent of
 *   the promotion. An item with that id and the same payload in the target is the same copy; a different payload is a
 *   `conflict`.
 * - A fact is recorded in the target as a fact whose source is the host (facts.ts), from the same time on. Another
 *   spelling (fact-id.ts) is the same fact.
 * - The log belongs to the target space and is removed with it. Forgetting the original reports how many copies remain.
 */
import type { Order, Page, SpaceRef } from "../types.js";

export interface PromoteWrite {
  readonly op: "promote";
  readonly from: SpaceRef;
  /** A space other than `from`; registered if it is new. */
  readonly to: SpaceRef;
  readonly ids: readonly string[];
  readonly agent?: string;
  readonly actor?: string;
  readonly reason: string;
}

export interface PromoteDone {
  readonly op: "promote";
  /** The ids that are in the target now, in the requested order. */
  readonly ids: readonly string[];
}

/** One entry of a space's promotion log. */
export interface Promotion {
  /** The item's id, in both spaces. */
  readonly id: string;
  /** Absent if that space was forgotten. */
  readonly from?: SpaceRef;
  /** The space that received the copy. */
  readonly to: SpaceRef;
  /** Who promoted it. */
  readonly actor?: string;
  /** Why it was promoted. */
  readonly reason: string;
  /** Epoch milliseconds. */
  readonly at: number;
}

/**
 * Restores an entry of the log from elsewhere, without copying an item. Writes nothing if the entry exists already. The
 * target is registered if it is new. The source space is not, and stays unnamed if it is unknown.
 */
export interface RestorePromotionWrite extends Promotion {
  readonly op: "restore_promotion";
}

export interface RestorePromotionDone {
  readonly op: "restore_promotion";
  readonly restored: boolean;
}

export type PromotionWrite = PromoteWrite | RestorePromotionWrite;
export type PromotionDone = PromoteDone | RestorePromotionDone;

export interface PromotionsRequest {
  /** The target space. */
  readonly space: SpaceRef;
  /** Default: desc, newest first. A cursor belongs to one order. */
  readonly order?: Order;
  readonly limit: number;
  readonly cursor?: string;
}

export interface PromotionReads {
  /** A page of a space's promotion log. */
  promotions(request: PromotionsRequest): Promise<Page<Promotion>>;
}
