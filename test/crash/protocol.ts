/** What the writer and its parent say to each other. */
import type { Answer, Operation } from "./operation.js";

/** One item of the file as the writer found it, short: the text as a digest. */
export interface Found {
  readonly lane: number;
  readonly id: string;
  readonly sequence: number;
  readonly round: number;
  readonly version: number;
  /** Which message of which add it was when it was new. */
  readonly op: number;
  readonly at: number;
  readonly digest: string;
}

export type Report =
  /** It is about to open the file. */
  | { readonly say: "opening" }
  /**
   * A part of what is in the file, then: that was all, what the bare driver finds wrong with the file, up to which commit
   * it has compared vectors with their texts, and how many items were waiting to be embedded.
   */
  | { readonly say: "found"; readonly items: readonly Found[] }
  | { readonly say: "audit"; readonly unsound: readonly string[]; readonly commit: number; readonly pending: number }
  /** The words that are asked for and not found, or found although they are gone; ids likewise. */
  | { readonly say: "searched"; readonly unfound: readonly string[]; readonly ghosts: readonly string[] }
  /** It is about to do this; then: the call has returned. */
  | { readonly say: "do"; readonly operation: Operation }
  | { readonly say: "done"; readonly op: number; readonly answer: Answer }
  /** A call was refused, which none should be. */
  | { readonly say: "refused"; readonly op: number; readonly why: string }
  /** The log is being copied into the file. */
  | { readonly say: "checkpoint" }
  /** Vectors are being written. */
  | { readonly say: "flush" }
  /** All that could be embedded is; so many items are left. */
  | { readonly say: "embedded"; readonly pending: number; readonly parked: number };

export interface Sought {
  readonly lane: number;
  readonly word: string;
  /** The item that contains it; absent if none may be found. */
  readonly id?: string;
}

export type Order =
  /** Look for words, each in one hit exactly, and for ids that are gone. */
  | { readonly order: "search"; readonly words: readonly Sought[]; readonly gone: readonly Gone[] }
  /** Repeat what was under way when the last writer died, then work until killed. */
  | {
      readonly order: "work";
      readonly seed: number;
      /** The first number for operations. */
      readonly firstOp: number;
      readonly mood: Mood;
      readonly repeat: readonly Operation[];
    }
  /** Embed what waits, then close. */
  | { readonly order: "close" };

export interface Gone {
  readonly lane: number;
  readonly id: string;
}

/** mixed: some of everything · growing: adds and edits only, with long texts · forgetting: many deletes and forgets. */
export type Mood = "mixed" | "growing" | "forgetting";
