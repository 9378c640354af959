/**
 * Facts in the Store contract: what is known, since when, and on whose word.
 *
 * A fact that holds is an item of kind fact with the same id, so it is found like any other item. One that no longer holds
 * has no item: no search, list or count of items shows it; it stays here with the spans in which it held.
 *
 * Guarantees of every implementation:
 * - The same id is the same fact, for ever: it may hold, end, and hold again. Its spans never overlap.
 * - A retracted fact was never right: `asOf` shows it at no time, and a `put_fact` of it writes nothing unless forced.
 * - A fact rests on its sources: messages, sessions, the word of the host. When the last of them is forgotten, the fact is
 *   forgotten with it, its past included. While others are left it stays, and the forget says so.
 * - Forgetting a fact (by its id, as an item, whether it holds or not) removes all of it, also the mark of a retraction.
 */
import type { Metadata, Page, SpaceRef } from "../types.js";

export const FACT_STATES = ["holds", "ended", "retracted"] as const;
export type FactState = (typeof FACT_STATES)[number];

/** On what a fact rests: a message of the same space, or a session as a whole, or (neither) the word of the host. */
export interface FactSource {
  /** Of a message: its session, if it has one. */
  readonly session?: string;
  /** The id of a message (or any other item) of the fact's space. */
  readonly message?: string;
}

/** From `from` on, and before `to`. */
export interface FactSpan {
  readonly from: number;
  readonly to?: number;
  /** The fact that took its place. */
  readonly supersededBy?: string;
}

export interface Fact {
  readonly id: string;
  readonly space: SpaceRef;
  readonly category: string;
  readonly content: string;
  /** 0 to 1. */
  readonly confidence: number;
  /** Pinned facts stand in every context. */
  readonly pinned: boolean;
  readonly state: FactState;
  /** When it held, oldest first; the last span is open while it holds. */
  readonly spans: readonly FactSpan[];
  /** Distinct, oldest first. Sources whose message was forgotten are gone. */
  readonly sources: readonly FactSource[];
  readonly recordedAt: number;
  readonly updatedAt: number;
  /** 1 when first recorded, one more with each change. */
  readonly version: number;
}

/**
 * Records that a fact holds from `from` on.
 * - Not known: it is added, as an item of kind fact, tier semantic, with metadata { category, confidence }, outside any
 *   session, `occurredAt` = from.
 * - It holds already: confidence, pinned (where given) and the source are updated; its text and spans stay. If nothing is
 *   new, nothing is written. `from` earlier than its open span's start moves that start, not before the end of the span
 *   before it.
 * - It has ended: it holds again, with a new span from `from` (not before the end of its last one).
 * - It was retracted: nothing is written, not even what it supersedes, unless `force`, which takes the retraction back.
 * `supersedes`: these facts of the space end at `from` (not before their own start; a span of no length is dropped);
 * `not_found` (details.id) if one is not known; one that does not hold is left as it is; `invalid_input` if one is the fact itself.
 * The source's message must exist and be visible: else `not_found` (details.id).
 * The space, the agent and a source's session are registered if they are new. With a message, the source's session is that
 * of the message, whatever is given.
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
  readonly outcome: "added" | "updated" | "unchanged" | "revived" | "retracted";
  readonly fact: Fact;
  /** The facts that ended because of it. */
  readonly ended: readonly string[];
}

/**
 * Ends a fact at `at` (not before its start), or retracts it. `not_found` if it is not known. Ending one that does not
 * hold, and retracting one that is retracted, changes nothing. A fact that has ended can still be retracted.
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
 * Writes a fact as it was kept elsewhere: its state, its spans, all that it rests on. If it holds, its item is added.
 * - What took the place of a span (`supersededBy`) is noted if it is known by then. The same write repeated notes it later.
 * - Known already: nothing else is written; `conflict` (details.id) if text, confidence, state, spans or pinning differ.
 * - Messages that it rests on need not be there yet: one fact may rest on a later one. Circles are refused.
 * The space, the agent and sessions of sources are registered if they are new.
 */
export interface RestoreFactWrite
  extends Pick<Fact, "id" | "space" | "category" | "content" | "confidence" | "pinned"> {
  readonly op: "restore_fact";
  readonly state: FactState;
  /** In order, none empty, none overlapping; the last one is open if and only if the fact holds. */
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

/** A page of facts: in the order in which they were first recorded. */
export interface FactsRequest {
  readonly spaces: readonly SpaceRef[];
  readonly ids?: readonly string[];
  readonly categories?: readonly string[];
  readonly pinned?: boolean;
  /** Left out: those that hold. Ignored with `asOf`. */
  readonly states?: readonly FactState[];
  /** Those that held then, retracted ones left out. */
  readonly asOf?: number;
  readonly limit: number;
  readonly cursor?: string;
  readonly now: number;
}

/**
 * Notes that facts were extracted from a session's messages up to this sequence; never goes back. `not_found`. With
 * `after`: `conflict` (details.extracted) if they were extracted up to another one by now.
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
  facts(request: FactsRequest): Promise<Page<Fact>>;
  /** The sequence up to which facts were extracted; 0 if none were, or there is no such session. */
  extracted(space: SpaceRef, session: string): Promise<number>;
}

/** What every item of a fact says in its metadata. */
export const factMetadata = ({ category, confidence }: Pick<Fact, "category" | "confidence">): Metadata => ({
  category,
  confidence,
});
