/**
 * The Extractor contract: finds facts worth remembering in messages. Off unless the host provides an extractor. The
 * messages are already stored, so a failure loses nothing.
 *
 * Guarantees of every implementation:
 * - The drafts cover all messages of the request. If it cannot read them all, or doubts the answer it got, it throws
 *   (`extractor_failed`), and the same messages are offered again.
 * - It keeps no state between calls that changes an answer.
 * - It ends soon after the signal is aborted, with the signal's reason.
 *
 * The caller trusts none of this: `parseDrafts` checks all drafts.
 */
import type { Role } from "../types.js";

/** A message to read, in session order. */
export interface ExtractionMessage {
  /** The id of the message. */
  readonly id: string;
  /** Who spoke. */
  readonly role: Role;
  /** The speaker's name, if there is one. */
  readonly name?: string;
  /** What was said. */
  readonly content: string;
  /** When it was said, in epoch milliseconds. */
  readonly occurredAt: number;
}

/** A fact that already holds. */
export interface KnownFact {
  /** The id of the fact. */
  readonly id: string;
  /** Its category. */
  readonly category: string;
  /** Its text. */
  readonly content: string;
}

/** Messages to read, with the facts that are known already. */
export interface ExtractionRequest {
  /** Preferably no more than `pageOf` accepts at once. */
  readonly messages: readonly ExtractionMessage[];
  /** Facts that new ones might repeat or supersede, the likeliest first: an extractor may not read them all. */
  readonly known: readonly KnownFact[];
}

/** A fact that an extractor proposes. */
export interface FactDraft {
  /** For instance "preference" or "home". */
  readonly category: string;
  /** The fact, in one sentence. */
  readonly content: string;
  /** 0 to 1. */
  readonly confidence: number;
  /** The id of the message of the request that states it. */
  readonly source?: string;
  /** Ids of known facts of the request that it replaces. */
  readonly supersedes?: readonly string[];
}

/** Finds facts worth remembering in messages. */
export interface Extractor {
  /** Identifies the extractor and its model. The file remembers which one has read what. */
  readonly name: string;
  /** Reads the messages and returns the facts that they state. */
  extract(request: ExtractionRequest, signal: AbortSignal): Promise<readonly FactDraft[]>;
}
