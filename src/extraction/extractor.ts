/**
 * The Extractor contract: what was said → what is to be remembered of it. Off unless the host gives one; whatever it does,
 * the messages are stored already, so its failure loses nothing.
 *
 * Guarantees of every implementation:
 * - The drafts are those of all messages of the request. If it cannot read them all, or doubts what it was answered, it
 *   throws (`extractor_failed`), and the same messages are offered again.
 * - It keeps nothing between calls that changes an answer.
 * - It ends soon after the signal is aborted, with the signal's reason.
 *
 * The other side trusts nothing of it: drafts are checked by `parseDrafts`, whoever made them.
 */
import type { Role } from "../types.js";

/** A message to read, in the order of the session. */
export interface ExtractionMessage {
  readonly id: string;
  readonly role: Role;
  readonly name?: string;
  readonly content: string;
  readonly occurredAt: number;
}

/** A fact that holds already. */
export interface KnownFact {
  readonly id: string;
  readonly category: string;
  readonly content: string;
}

export interface ExtractionRequest {
  /** Best not more than `pageOf` takes at once. */
  readonly messages: readonly ExtractionMessage[];
  /** Those that new ones might repeat or supersede, the likeliest first: an extractor may not read them all. */
  readonly known: readonly KnownFact[];
}

export interface FactDraft {
  readonly category: string;
  readonly content: string;
  /** 0 to 1. */
  readonly confidence: number;
  /** The id of the message of the request that says it. */
  readonly source?: string;
  /** Ids of known facts of the request that no longer hold because of it. */
  readonly supersedes?: readonly string[];
}

export interface Extractor {
  readonly name: string;
  extract(request: ExtractionRequest, signal: AbortSignal): Promise<readonly FactDraft[]>;
}
