/** Context: what is to be put into a model's window for its next turn, and what the caller should know about it. */
import type { ContextPart } from "../input/context.js";
import type { Kind, SpaceRef } from "../types.js";

export interface ContextItem {
  readonly part: ContextPart;
  readonly kind: Kind;
  readonly id: string;
  readonly space: SpaceRef;
  readonly version: number;
  /** As it stands in the tail. */
  readonly text: string;
  readonly tokens: number;
  /** True: its end did not fit. */
  readonly cut: boolean;
}

/** Something that stands in the window and holds no longer. */
export interface RetractedItem {
  readonly kind: Kind;
  readonly id: string;
  readonly space: SpaceRef;
}

/** Something that was found and not given. */
export interface LeftItem {
  readonly part: ContextPart;
  readonly id: string;
  readonly why: string;
}

export interface Context {
  /** Blocks and pinned facts. The same bytes until one of them changes, so that a provider's prompt cache can keep it. */
  readonly prefix: string;
  /** Facts, recalled text and recent turns, for this turn only. */
  readonly tail: string;
  readonly tokens: {
    readonly prefix: number;
    readonly tail: number;
    /** Of `renderText`. Counts of parts need not add up to it. */
    readonly total: number;
    readonly budget: number;
    /** Would have been given again if it did not stand in the window. */
    readonly saved: number;
  };
  /** New in the window. */
  readonly added: readonly ContextItem[];
  /** In the window with an earlier text, which these replace. */
  readonly changed: readonly ContextItem[];
  /** In the window and no longer right; the tail says so. */
  readonly retracted: readonly RetractedItem[];
  readonly left: readonly LeftItem[];
  /** True when something could not be read, or not in time. */
  readonly partial: boolean;
  /** What could not be done as it should be, if anything. */
  readonly degraded?: string;
}
