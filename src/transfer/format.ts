/**
 * The transfer format, version 1: JSON Lines. A header, then per space what it holds, then an end line with counts.
 * docs/transfer.md describes it for people. A line says all that is needed to write it again; what it says beyond that
 * (`recordedAt`, `version` of an item, `at`) is for information.
 */
import type { BlockVersion } from "../stores/blocks.js";
import type { Fact, FactSpan } from "../stores/facts.js";
import type { Promotion } from "../stores/promotions.js";
import type { Item, Metadata, Part, SessionEntry, SpaceKind, SpaceRef, Tier } from "../types.js";

export const FORMAT = "holdfast";
export const FORMAT_VERSION = 1;

export interface HeaderLine {
  readonly type: typeof FORMAT;
  readonly version: number;
  readonly exportedAt: number;
  /** What was asked for; absent: everything. */
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
  /** Items of one session with the same number came in one call. */
  readonly round?: number;
  /** The parts, if it has any; the text follows from them. */
  readonly content: string | readonly Part[];
  readonly metadata?: Metadata;
  /** episodic if left out. */
  readonly tier?: Tier;
  readonly occurredAt: number;
  readonly expiresAt?: number;
  readonly recordedAt: number;
  readonly version: number;
}

/** One version of a block, with all its settings then. Versions of a block come in order. */
export interface BlockLine extends BlockVersion {
  readonly type: "block";
  readonly space: SpaceRef;
}

/** A fact in whatever state. What took the place of its spans is said by lines of its own, when all facts are known. */
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

/** The fact `by` took the place of the fact `id` in its span that starts at `from`. */
export interface SupersededLine {
  readonly type: "superseded";
  readonly space: SpaceRef;
  readonly id: string;
  readonly from: number;
  readonly by: string;
}

/** What was promoted into the space, oldest first. */
export interface PromotionLine extends Omit<Promotion, "to"> {
  readonly type: "promotion";
  readonly space: SpaceRef;
}

/** What a line of the body may be. */
export type BodyLine = EntryLine | SessionLine | ItemLine | BlockLine | FactLine | SupersededLine | PromotionLine;
export type BodyType = BodyLine["type"];

/** How many lines of each type stand before. */
export type Counts = { readonly [type in BodyType]: number };

export const NO_COUNTS: Counts = {
  entry: 0,
  session: 0,
  item: 0,
  block: 0,
  fact: 0,
  superseded: 0,
  promotion: 0,
};

/** An export that was cut off after this line goes on with this cursor. */
export interface CursorLine {
  readonly type: "cursor";
  readonly cursor: string;
}

export interface EndLine {
  readonly type: "end";
  readonly counts: Counts;
}

/** One name for a space, whichever way it is written. */
export function spaceName(space: SpaceRef): string {
  const [[kind, name] = []] = Object.entries(space);
  return JSON.stringify([kind, name]);
}
