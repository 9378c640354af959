/** The messages between the writer of blocks, facts and turns and its parent. */
import type { CarriedFound } from "./carried-found.js";
import type { CarriedAnswer, CarriedOperation } from "./carried-operation.js";
import type { LaneState } from "./carried-state.js";

export type CarriedReport =
  /** It is about to open the file. */
  | { readonly say: "opening" }
  /** What it found in a lane; then: that was all, and what is wrong with the file. */
  | { readonly say: "found"; readonly lane: number; readonly found: CarriedFound }
  | { readonly say: "audit"; readonly unsound: readonly string[] }
  /** It is about to do this; then: the call has returned, or was refused, which none should be. */
  | { readonly say: "do"; readonly operation: CarriedOperation }
  | { readonly say: "done"; readonly lane: number; readonly op: number; readonly answer: CarriedAnswer }
  | { readonly say: "refused"; readonly op: number; readonly why: string }
  /** All that could be embedded is; so many items are left. */
  | { readonly say: "embedded"; readonly pending: number; readonly parked: number };

export type CarriedOrder =
  /** Finish what the last writer could not, then work until killed. */
  | {
      readonly order: "work";
      readonly seed: number;
      /** The first number for operations. */
      readonly firstOp: number;
      /** What the lanes hold. */
      readonly states: readonly LaneState[];
      readonly unfinished: readonly CarriedOperation[];
    }
  | { readonly order: "close" };
