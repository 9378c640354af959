/**
 * The transfer format, version 1: JSON Lines. A header, the contents of each space, an end line with counts. docs/transfer.md
 * is its documentation. A line contains all that is needed to write it again; other fields (`recordedAt`, an item's
 * `version`, `at`) are for information.
 */
import type { BlockVersion } from "../stores/blocks.js";
import type { Fact, FactSpan } from "../stores/facts.js";
import type { VectorPoint } from "../stores/points.js";
import type { Promotion } from "../stores/promotions.js";
import type { Item, Metadata, Part, SessionEntry, SpaceKind, SpaceRef, Tier } from "../types.js";

export const FORMAT = "holdfast";
export const FORMAT_VERSION = 1;

export interface HeaderLine {
  readonly type: typeof FORMAT;
  readonly version: number;
  readonly exportedAt: number;
  /** The requested spaces; undefined: everything. */
  readonly spaces?: readonly SpaceRef[];
  readonly session?: string;
}

/** A user, an agent or a team. */
export interface EntryLine {
  readonly type: "entry";
  readonly kind: SpaceKind;
  readonly name: string;
  readonly description?: string;
  readonly retentionMs?: number;
}

export interface SessionLine extends Pick<SessionEntry, "space" | "name" | "agent"> {
  readonly type: "session";
}

export interface ItemLine extends Pick<Item, "id" | "kind" | "space" | "session" | "agent" | "role" | "name"> {
  readonly type: "item";
  /** Items of a session with the same number were added in one call. */
  readonly round?: number;
  /** The parts, if there are any; the text is derived from them. */
  readonly content: string | readonly Part[];
  readonly metadata?: Metadata;
  /** Default: episodic. */
  readonly tier?: Tier;
  readonly occurredAt: number;
  readonly expiresAt?: number;
  readonly recordedAt: number;
  readonly version: number;
}

/** One version of a block, with its settings at the time. Versions of a block are in order. */
export interface BlockLine extends BlockVersion {
  readonly type: "block";
  readonly space: SpaceRef;
}

/** A fact in any state. Separate lines, after all facts, say what superseded its spans. */
export interface FactLine
  extends Pick<
    Fact,
    "id" | "space" | "category" | "content" | "confidence" | "pinned" | "state" | "sources" | "recordedAt"
  > {
  readonly type: "fact";
  readonly spans: readonly Omit<FactSpan, "supersededBy">[];
  readonly agent?: string;
  readonly expiresAt?: number;
}

/** The fact `by` superseded the span of the fact `id` that starts at `from`. */
export interface SupersededLine {
  readonly type: "superseded";
  readonly space: SpaceRef;
  readonly id: string;
  readonly from: number;
  readonly by: string;
}

/** A vector of a caller's own. `storedAt` is for information. */
export interface PointLine extends Omit<VectorPoint, "vector"> {
  readonly type: "point";
  readonly vector: readonly number[];
}

/** A promotion into the space. Oldest first. */
export interface PromotionLine extends Omit<Promotion, "to"> {
  readonly type: "promotion";
  readonly space: SpaceRef;
}

/** Any line of the body. */
export type BodyLine =
  | EntryLine
  | SessionLine
  | ItemLine
  | BlockLine
  | FactLine
  | SupersededLine
  | PointLine
  | PromotionLine;
export type BodyType = BodyLine["type"];

/** Number of lines of each type so far. */
export type Counts = { readonly [type in BodyType]: number };

export const NO_COUNTS: Counts = {
  entry: 0,
  session: 0,
  item: 0,
  block: 0,
  fact: 0,
  superseded: 0,
  point: 0,
  promotion: 0,
};
