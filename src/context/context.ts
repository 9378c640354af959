/** Context: the text for a model's window at its next turn, and what the caller should know about it. */
import type { ContextPart } from "../input/context.js";
import type { Kind, SpaceRef } from "../types.js";

/** A block, fact or item in the context. */
export interface ContextItem {
  /** The part of the context that it belongs to. */
  readonly part: ContextPart;
  /** What kind of item it is. */
  readonly kind: Kind;
  /** The id of the item, block or fact. */
  readonly id: string;
  /** The space that owns it. */
  readonly space: SpaceRef;
  /** The version that the context shows. */
  readonly version: number;
  /** As in the tail. */
  readonly text: string;
  /** The tokens that it takes. */
  readonly tokens: number;
  /** True if its end did not fit. */
  readonly cut: boolean;
}

/** An item in the window that no longer holds. */
export interface RetractedItem {
  /** What kind of item it was. */
  readonly kind: Kind;
  /** The id of the item, block or fact. */
  readonly id: string;
  /** The space that owned it. */
  readonly space: SpaceRef;
}

/** An item that was found but not given. */
export interface LeftItem {
  /** The part for which it was found. */
  readonly part: ContextPart;
  /** The id of the item, block or fact. */
  readonly id: string;
  /** The reason. */
  readonly why: string;
}

/** What `session.context` returns: the text for a model's next turn, and what it is made of. */
export interface Context {
  /**
   * Blocks and pinned facts. The bytes stay the same until one of them changes, so that a provider can cache the
   * prompt.
   */
  readonly prefix: string;
  /** Facts, recalled text and recent turns, for this turn only. */
  readonly tail: string;
  /** How many tokens it takes. */
  readonly tokens: {
    readonly prefix: number;
    readonly tail: number;
    /** The tokens of `renderText`. The counts of the parts need not add up to it. */
    readonly total: number;
    readonly budget: number;
    /** The tokens of items that were not given because they are in the window already. */
    readonly saved: number;
  };
  /** New in the window. */
  readonly added: readonly ContextItem[];
  /** In the window with an earlier text, which these replace. */
  readonly changed: readonly ContextItem[];
  /** In the window but no longer true; the tail says so. */
  readonly retracted: readonly RetractedItem[];
  /** What was found but not included, and why. */
  readonly left: readonly LeftItem[];
  /** True if something could not be read, or not in time. */
  readonly partial: boolean;
  /** What went wrong, if anything. */
  readonly degraded?: string;
}
