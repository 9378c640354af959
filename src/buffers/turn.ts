/**
 * Turn: the writes of one agent turn, gathered and then committed together, in one transaction.
 *
 * A turn is owned by one agent loop. Draining has two phases: `drain` hands the writes out, and `restore` puts them
 * back in front if they could not be committed, so that a failed commit loses nothing and can be repeated.
 */
import type { BlockEditInput } from "../blocks/block-input.js";
import { HoldfastError } from "../errors.js";
import type { Json, NewMessage } from "../types.js";

export type BufferedWrite =
  /** Adds a message to the session. */
  | { readonly op: "save_message"; readonly message: NewMessage }
  /** Adds a fact, or updates it if the same category and content are known. */
  | {
      readonly op: "upsert_fact";
      readonly category: string;
      readonly content: string;
      /** 0 to 1. */
      readonly confidence: number;
      /** What it rests on: a message, which may be one of this turn, or a session; left out, the scope's session. */
      readonly sourceSession?: string;
      readonly sourceMessage?: string;
      /** The fact that it takes the place of. */
      readonly supersedes?: string;
    }
  /** Hands a vector to the vector index, after the commit. */
  | {
      readonly op: "store_embedding";
      readonly collection: string;
      readonly pointId: string;
      readonly vector: readonly number[];
      readonly payload: Json;
    }
  /** Edits a memory block, in any of the ways of `blocks.edit`. */
  | ({ readonly op: "edit_block"; readonly block: string } & BlockEditInput);

const NOT_BUILT: { readonly [op: string]: string } = {
  store_embedding: "an index for vectors of callers' own (what is added is embedded by itself)",
};

const CAPACITY = 64;

export class Turn {
  readonly capacity: number;
  #pending: BufferedWrite[] = [];

  constructor(capacity: number = CAPACITY) {
    if (!Number.isSafeInteger(capacity) || capacity < 1) {
      throw new HoldfastError("invalid_input", "the capacity of a turn must be a whole number from 1", {
        hint: `leave it out for ${CAPACITY}`,
      });
    }
    this.capacity = capacity;
  }

  /** Queues a write. True when the turn has reached its capacity and should be committed; it accepts more all the same. */
  push(write: BufferedWrite): boolean {
    const missing = NOT_BUILT[write.op];
    if (missing !== undefined) {
      throw new HoldfastError("unsupported", `${write.op} needs ${missing}, which this version does not have`, {
        hint: "leave this write out; the others are not affected",
      });
    }
    this.#pending.push(write);
    return this.#pending.length >= this.capacity;
  }

  /** Takes all pending writes out, in the order of their pushing. */
  drain(): BufferedWrite[] {
    return this.#pending.splice(0);
  }

  /** Puts writes that could not be committed back, before what was pushed meanwhile. */
  restore(writes: readonly BufferedWrite[]): void {
    this.#pending.unshift(...writes);
  }

  get length(): number {
    return this.#pending.length;
  }

  get isEmpty(): boolean {
    return this.#pending.length === 0;
  }
}
