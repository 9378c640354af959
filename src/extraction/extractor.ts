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
  readonly id: string;
  readonly role: Role;
  readonly name?: string;
  readonly content: string;
  readonly occurredAt: number;
}

/** A fact that already holds. */
export interface KnownFact {
  readonly id: string;
  readonly category: string;
  readonly content: string;
}

export interface ExtractionRequest {
  /** Preferably no more than `pageOf` accepts at once. */
  readonly messages: readonly ExtractionMessage[];
  /** Facts that new ones might repeat or supersede, the likeliest first: an extractor may not read them all. */
  readonly known: readonly KnownFact[];
}

export interface FactDraft {
  readonly category: string;
  readonly content: string;
  /** 0 to 1. */
  readonly confidence: number;
  /** The id of the message of the request that states it. */
  readonly source?: string;
  /** Ids of known facts of the request that it replaces. */
  readonly supersedes?: readonly string[];
}

export interface Extractor {
  readonly name: string;
  extract(request: ExtractionRequest, signal: AbortSignal): Promise<readonly FactDraft[]>;
}
