/** Context: the text for a model's window at its next turn, and what the caller should know about it. */
import type { ContextPart } from "../input/context.js";
import type { Kind, SpaceRef } from "../types.js";

export interface ContextItem {
  readonly part: ContextPart;
  readonly kind: Kind;
  readonly id: string;
  readonly space: SpaceRef;
  readonly version: number;
  /** As in the tail. */
  readonly text: string;
  readonly tokens: number;
  /** True if its end did not fit. */
  readonly cut: boolean;
}

/** An item in the window that no longer holds. */
export interface RetractedItem {
  readonly kind: Kind;
  readonly id: string;
  readonly space: SpaceRef;
}

/** An item that was found but not given. */
export interface LeftItem {
  readonly part: ContextPart;
  readonly id: string;
  readonly why: string;
}

export interface Context {
  /**
   * Blocks and pinned facts. The bytes stay the same until one of them changes, so that a provider can cache the
   * prompt.
   */
  readonly prefix: string;
  /** Facts, recalled text and recent turns, for this turn only. */
  readonly tail: string;
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
  readonly left: readonly LeftItem[];
  /** True if something could not be read, or not in time. */
  readonly partial: boolean;
  /** What went wrong, if anything. */
  readonly degraded?: string;
}
