/**
 * Turn: the writes of one agent turn, collected and then committed together in one transaction.
 *
 * A turn belongs to one scope: that of the session that created it or, if it was constructed directly, of the session
 * that first commits it. Sessions of other scopes cannot commit it. It is not tied to a memory object: if a commit
 * failed in one, another that opens the same file can commit the turn.
 *
 * Draining has two phases. `drain` removes the writes, and `restore` puts them back in front if they could not be
 * committed, so a failed commit loses nothing and can be repeated. A commit takes and returns a batch in the same way.
 * A batch that was tried once is retried unchanged under the same key, so it is applied once even if the first attempt
 * was written and its outcome is unknown.
 */
import type { BlockEditInput } from "../blocks/block-input.js";
import { HoldfastError } from "../errors.js";
import { newId } from "../ids.js";
import { isPlain, setOwn } from "../input/json.js";
import { JSON_DEPTH_MAX } from "../input/limits.js";
import type { NewPoint } from "../input/points.js";
import { invalid, objectWith, parseChoice, wrongType } from "../input/refusal.js";
import type { ParsedScope } from "../input/scope.js";
import type { NewMessage } from "../types.js";

/** A write that a turn collects. */
export type BufferedWrite =
  /** Adds a message to the session. */
  | { readonly op: "save_message"; readonly message: NewMessage }
  /** Adds a fact, or updates it if a fact with the same category and content exists. */
  | {
      readonly op: "upsert_fact";
      /** The fact's category, for instance "home". */
      readonly category: string;
      /** The fact. */
      readonly content: string;
      /** 0 to 1. */
      readonly confidence: number;
      /** The source of the fact: a message, possibly of this turn, or a session. Default: the scope's session. */
      readonly sourceSession?: string;
      /** The id of the message that states it. */
      readonly sourceMessage?: string;
      /** The facts that it replaces. */
      readonly supersedes?: string | readonly string[];
    }
  /**
   * Stores a vector of the caller's own as a point of a collection, or replaces the point with that id. An external
   * vector index receives it after the commit.
   */
  | ({ readonly op: "store_embedding" } & NewPoint)
  /** Edits a memory block, with any edit that `blocks.edit` accepts. */
  | ({ readonly op: "edit_block"; readonly block: string } & BlockEditInput);

const MESSAGE_KEYS: ReadonlySet<string> = new Set(["op", "message"]);
const OPS = ["save_message", "upsert_fact", "edit_block", "store_embedding"] as const;

/** The writes of one commit. */
export interface TurnBatch {
  readonly key: string;
  /** The writes as they were pushed. */
  readonly given: readonly BufferedWrite[];
  /** The same writes, with an id for each message. */
  readonly writes: readonly BufferedWrite[];
}

const CAPACITY = 64;

/** The writes of one agent turn, which `session.commit` writes in one transaction. */
export class Turn {
  /** Number of writes from which `push` says that the turn should be committed. */
  readonly capacity: number;
  #place: ParsedScope | undefined;
  #pending: BufferedWrite[] = [];
  /** Batches whose commit failed. They precede the pending writes. */
  readonly #tried: TurnBatch[] = [];

  constructor(capacity: number = CAPACITY, place?: ParsedScope) {
    if (!Number.isSafeInteger(capacity) || capacity < 1) {
      throw new HoldfastError("invalid_input", "the capacity of a turn must be a whole number from 1", {
        hint: `leave it out for ${CAPACITY}`,
      });
    }
    this.capacity = capacity;
    this.#place = place;
  }

  /** Throws if the value is not a turn, or is a turn of another scope. A turn without a scope is bound to this one. */
  static bind(turn: Turn, place: ParsedScope): void {
    if (typeof turn !== "object" || turn === null || !(#place in turn))
      throw wrongType("turn", "a turn of this session", turn, "make one with session.turn()");
    turn.#place ??= place;
    if (placeName(turn.#place) === placeName(place)) return;
    throw invalid(
      "turn",
      "belongs to another scope",
      "commit it with a session of the scope that made it, or drain it and push its writes into a turn of this session",
    );
  }

  /**
   * Queues a copy of a write. Returns true if the turn has reached its capacity and should be committed; it still accepts
   * more.
   */
  push(write: BufferedWrite): boolean {
    this.#pending.push(copyOf(write));
    return this.length >= this.capacity;
  }

  /** Removes and returns all pending writes, in push order. */
  drain(): BufferedWrite[] {
    const tried = this.#tried.splice(0).flatMap(({ writes }) => writes);
    return [...tried, ...this.#pending.splice(0)];
  }

  /** Removes and returns the next batch to commit: one that failed before, or else everything pending. */
  take(now: number, key: string = newId(now)): TurnBatch {
    const tried = this.#tried.shift();
    if (tried) return tried;
    const given = this.#pending.splice(0);
    return { key, given, writes: given.map((write) => withId(write, now)) };
  }

  /** Keeps a batch that could not be committed for the next commit. */
  giveBack(batch: TurnBatch): void {
    if (batch.given.length > 0) this.#tried.push(batch);
  }

  /** Puts back writes that could not be committed, in front of those pushed since. */
  restore(writes: readonly BufferedWrite[]): void {
    this.#pending.unshift(...Array.from(writes, copyOf));
  }

  /** Number of writes that wait, including those of a failed commit. */
  get length(): number {
    return this.#tried.reduce((sum, { given }) => sum + given.length, this.#pending.length);
  }

  /** True if there is nothing to commit. */
  get isEmpty(): boolean {
    return this.length === 0;
  }
}

/** A copy, which later changes by the caller do not affect. Throws if the write could never be committed. */
function copyOf(write: BufferedWrite): BufferedWrite {
  if (typeof write !== "object" || write === null) throw wrongType("write", "an object", write);
  const own = withList({ ...write });
  const op = parseChoice(own.op, OPS, "write.op");
  if (op === "save_message") objectWith(own, MESSAGE_KEYS, "write"); // other kinds have their own parsers
  return copied(own, JSON_DEPTH_MAX + 4) as BufferedWrite; // metadata and payloads are a few levels down
}

/** Copies lists and plain objects. What is nested deeper than a write may be stays, for its parser to refuse. */
function copied(value: unknown, levels: number, seen = new Map<unknown, unknown>()): unknown {
  if (typeof value !== "object" || value === null || levels === 0) return value;
  const known = seen.get(value);
  if (known) return known;
  if (Array.isArray(value)) {
    const list: unknown[] = [];
    seen.set(value, list);
    for (const one of value) list.push(copied(one, levels - 1, seen));
    return list;
  }
  if (!isPlain(value)) return value;
  const object = {};
  seen.set(value, object);
  for (const [key, one] of Object.entries(value)) setOwn(object, key, copied(one, levels - 1, seen));
  return object;
}

const placeName = ({ space, session, agent }: ParsedScope): string => JSON.stringify([space, session, agent]);

/** A typed array becomes a list, which has a JSON form. */
function withList(write: BufferedWrite): BufferedWrite {
  if (write.op !== "store_embedding" || !(write.vector instanceof Float32Array)) return write;
  return { ...write, vector: Array.from(write.vector) };
}

/** Ids are assigned before the first attempt, so that a retry cannot add a message twice. */
function withId(write: BufferedWrite, now: number): BufferedWrite {
  if (write.op !== "save_message" || write.message?.id !== undefined) return write;
  return { ...write, message: { ...write.message, id: newId(now) } };
}
