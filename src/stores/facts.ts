/**
 * Facts in the Store contract: what is known, since when, and from which source.
 *
 * A fact that holds is an item of kind fact with the same id, so it is found like any other item. A fact that no longer
 * holds has no item: no search, list or item count includes it. It is kept here with the spans in which it held.
 *
 * Guarantees of every implementation:
 * - The same id is the same fact forever: it may hold, end, and hold again. Its spans never overlap.
 * - A retracted fact was never true: `asOf` returns it for no time, and `put_fact` writes nothing unless forced.
 * - A fact depends on its sources: messages, sessions, or the host itself. When its last source is forgotten, the fact
 *   is forgotten with its history. While it has other sources it stays, and the forget reports it.
 * - Forgetting a fact (by its id, as an item, whether it holds or not) removes all of it, including a retraction.
 */
import type { Metadata, Page, SpaceRef } from "../types.js";

export const FACT_STATES = ["holds", "ended", "retracted"] as const;
/** holds: it is true now · ended: it was true · retracted: it never was. */
export type FactState = (typeof FACT_STATES)[number];

/** The source of a fact: a message of the same space, a whole session, or (neither given) the host itself. */
export interface FactSource {
  /** For a message: its session, if it has one. */
  readonly session?: string;
  /** The id of a message (or any other item) in the fact's space. */
  readonly message?: string;
}

/** The time from `from` (inclusive) to `to` (exclusive). */
export interface FactSpan {
  /** Epoch milliseconds, inclusive. */
  readonly from: number;
  /** Epoch milliseconds, exclusive; absent while it holds. */
  readonly to?: number;
  /** The fact that supersedes it. */
  readonly supersededBy?: string;
}

/** A statement with its sources and the time in which it holds. */
export interface Fact {
  /** The id of the fact; the same text in the same category always gets the same one. */
  readonly id: string;
  /** The user, agent or team that it belongs to. */
  readonly space: SpaceRef;
  /** For instance "preference" or "home". */
  readonly category: string;
  /** The fact. */
  readonly content: string;
  /** From 0 to 1. */
  readonly confidence: number;
  /** Pinned facts are part of every context. */
  readonly pinned: boolean;
  /** Whether it holds. */
  readonly state: FactState;
  /** When it held, oldest first. The last span is open while it holds. */
  readonly spans: readonly FactSpan[];
  /** Distinct, oldest first. Sources whose message was forgotten are removed. */
  readonly sources: readonly FactSource[];
  /** Epoch milliseconds of its first recording. */
  readonly recordedAt: number;
  /** Epoch milliseconds of its last change. */
  readonly updatedAt: number;
  /** 1 when first recorded; each change adds one. */
  readonly version: number;
}

/**
 * Records that a fact holds from `from` on.
 * - Unknown: the fact is added as an item of kind fact, tier semantic, with metadata { category, confidence }, outside
 *   any session, with `occurredAt` = from.
 * - Holds already: confidence, pinned (if given) and the source are updated; its text and spans stay. If nothing is
 *   new, nothing is written. A `from` before the start of its open span moves that start, but not before the end of the
 *   previous span.
 * - Ended: it holds again, with a new span from `from` (not before the end of its last one).
 * - Retracted: nothing is written, not even what it supersedes. `force` takes the retraction back.
 *
 * `supersedes`: these facts of the space end at `from` (not before their own start; an empty span is dropped). Fails
 * with `not_found` (details.id) if one is unknown, and with `invalid_input` if one is the fact itself. One that does
 * not hold is left unchanged.
 *
 * The source's message must exist and be visible, else `not_found` (details.id). The space, the agent and a source's
 * session are registered if they are new. If a message is given, its own session is used instead of the given one.
 */
export interface PutFactWrite {
  readonly op: "put_fact";
  readonly space: SpaceRef;
  readonly agent?: string;
  readonly id: string;
  readonly category: string;
  readonly content: string;
  readonly confidence: number;
  readonly pinned?: boolean;
  readonly source: FactSource;
  readonly from: number;
  readonly supersedes: readonly string[];
  readonly force: boolean;
}

export interface PutFactDone {
  readonly op: "put_fact";
  /** What was done. */
  readonly outcome: "added" | "updated" | "unchanged" | "revived" | "retracted";
  /** The fact as it is now. */
  readonly fact: Fact;
  /** The facts that ended because of it. */
  readonly ended: readonly string[];
}

/**
 * Ends a fact at `at` (not before its start), or retracts it. Fails with `not_found` if it is unknown. Ending a fact
 * that does not hold, or retracting a retracted one, changes nothing. An ended fact can still be retracted.
 */
export interface EndFactWrite {
  readonly op: "end_fact";
  readonly space: SpaceRef;
  readonly id: string;
  readonly as: "ended" | "retracted";
  readonly at: number;
}

export interface EndFactDone {
  readonly op: "end_fact";
  readonly fact: Fact;
}

/**
 * Restores a fact from elsewhere: its state, its spans and all its sources. If it holds, its item is added.
 * - The superseding fact of a span (`supersededBy`) is recorded if it is known by then. Repeating the write records it
 *   later.
 * - Known already: nothing else is written. Fails with `conflict` (details.id) if text, confidence, state, spans or
 *   pinning differ.
 * - Source messages need not exist yet: a fact may depend on one that is restored later. Cycles are rejected.
 *
 * The space, the agent and sessions of sources are registered if they are new.
 */
export interface RestoreFactWrite
  extends Pick<Fact, "id" | "space" | "category" | "content" | "confidence" | "pinned"> {
  readonly op: "restore_fact";
  readonly state: FactState;
  /** Sorted, non-empty and not overlapping. The last one is open if and only if the fact holds. */
  readonly spans: readonly FactSpan[];
  /** At least one. */
  readonly sources: readonly FactSource[];
  readonly agent?: string;
  readonly expiresAt?: number;
}

export interface RestoreFactDone {
  readonly op: "restore_fact";
  readonly outcome: "added" | "linked" | "unchanged";
}

/** A page of facts, in the order in which they were first recorded. */
export interface FactsRequest {
  readonly spaces: readonly SpaceRef[];
  readonly ids?: readonly string[];
  readonly categories?: readonly string[];
  readonly pinned?: boolean;
  /** If absent: facts that hold. Ignored with `asOf`. */
  readonly states?: readonly FactState[];
  /** Facts that held at this time, without retracted ones. */
  readonly asOf?: number;
  readonly limit: number;
  readonly cursor?: string;
  readonly now: number;
}

/**
 * Records that facts were extracted from a session's messages up to this sequence; never goes back. Fails with
 * `not_found` if the session does not exist. With `after`, fails with `conflict` (details.extracted) if the recorded
 * sequence differs.
 */
export interface ExtractedWrite {
  readonly op: "extracted";
  readonly space: SpaceRef;
  readonly session: string;
  readonly upTo: number;
  readonly after?: number;
}

export interface ExtractedDone {
  readonly op: "extracted";
}

export type FactWrite = PutFactWrite | EndFactWrite | RestoreFactWrite | ExtractedWrite;
export type FactDone = PutFactDone | EndFactDone | RestoreFactDone | ExtractedDone;

export interface FactReads {
  /** A page of facts, in any of the requested states. */
  facts(request: FactsRequest): Promise<Page<Fact>>;
  /** The sequence up to which facts were extracted. 0 if none were, or if the session does not exist. */
  extracted(space: SpaceRef, session: string): Promise<number>;
}

/** The metadata of every fact's item. */
export const factMetadata = ({ category, confidence }: Pick<Fact, "category" | "confidence">): Metadata => ({
  category,
  confidence,
});
