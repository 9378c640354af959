/**
 * Promotion in the Store contract: an item of one space is copied into another one, on purpose, and that is logged.
 *
 * Guarantees of every implementation:
 * - All or nothing: `not_found` (details.id) if one of the items is not there.
 * - The copy has the item's id, text, role, name, parts, metadata, tier, kind and time, no session, and the agent of the promotion. An
 *   item of that id in the target with the same payload is the same copy; with another one it is a `conflict`.
 * - A fact is recorded there as a fact that rests on the word of the host (facts.ts), from the same time on. In other
 *   spelling (fact-id.ts) it is the same fact.
 * - The log is kept with the target space, and goes with it. A forget of the original says how many copies it left.
 */
import type { Order, Page, SpaceRef } from "../types.js";

export interface PromoteWrite {
  readonly op: "promote";
  readonly from: SpaceRef;
  /** Another space than `from`; registered if it is new. */
  readonly to: SpaceRef;
  readonly ids: readonly string[];
  readonly agent?: string;
  readonly actor?: string;
  readonly reason: string;
}

export interface PromoteDone {
  readonly op: "promote";
  /** The ids that are in the target now, in the order asked for. */
  readonly ids: readonly string[];
}

export interface Promotion {
  /** The item's id, in both spaces. */
  readonly id: string;
  /** Absent if that space was forgotten. */
  readonly from?: SpaceRef;
  readonly to: SpaceRef;
  readonly actor?: string;
  readonly reason: string;
  readonly at: number;
}

/**
 * Writes an entry of the log as it was kept elsewhere, and copies nothing. Nothing is written if the entry is there already.
 * The target is registered if it is new; the space it came from is not, and remains unnamed if it is not known.
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
  /** desc, the newest first, if left out. A cursor belongs to one order. */
  readonly order?: Order;
  readonly limit: number;
  readonly cursor?: string;
}

export interface PromotionReads {
  promotions(request: PromotionsRequest): Promise<Page<Promotion>>;
}
