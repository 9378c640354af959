/** Compaction: what an engine keeps between calls, and what `compact` takes and returns. */
import type { BufferStore } from "./buffer-store.js";

/** What an engine keeps between calls. */
export interface CompactionState {
  /** Episodes that the backend has not confirmed, and ids of items that were injected. */
  readonly buffer: BufferStore;
  /** The token budget that a call named last. */
  cachedTokenBudget: number | undefined;
}

/** What `compact` takes. */
export interface CompactParams {
  /** If given, it must be the engine's. */
  readonly sessionId?: string | undefined;
  /** Tokens that the model's window may have. Default: what a call named last. */
  readonly tokenBudget?: number | undefined;
  /** Tokens that the window has. Default: an estimate of the buffered episodes. */
  readonly currentTokenCount?: number | undefined;
  /** Evicts at least one turn, even below the threshold, and even the newest. */
  readonly force?: boolean | undefined;
}

/** Why the window changed, or did not. */
export type CompactReason =
  /** No episode was buffered. */
  | "nothing to compact"
  /** The episodes were delivered; the window is the host's to shorten. */
  | "delegated to runtime"
  /** The window is short enough; nothing was delivered. */
  | "below compact threshold"
  /** The window is too long, but only the newest turn is buffered; nothing was delivered. */
  | "no messages to evict"
  /** The oldest turns were delivered and left the window. */
  | "ingested and evicted messages";

/** What `compact` returns. */
export interface CompactResult<Message extends object> {
  /** Whether the window changed. */
  readonly compacted: boolean;
  /** What was done, and why. */
  readonly reason: CompactReason;
  /** Only if the window changed. */
  readonly result?: {
    /** The messages of the turns that are still buffered, oldest first: the new window. */
    readonly messages: Message[];
    readonly tokensBefore: number;
    /** An estimate. */
    readonly tokensAfter: number;
  };
}
