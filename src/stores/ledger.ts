/**
 * The injection ledger in the Store contract: what the context window of a session's model contains, so that it is not
 * injected twice.
 *
 * Guarantees of every implementation:
 * - An entry is one thing at one version, identified by a reference that the caller chooses.
 * - A session's ledger is removed with the session or its space. Changes of the things themselves do not affect it.
 * - A session has at most `LEDGER_MAX` entries; the oldest are evicted. An evicted thing may be injected again.
 */
import { createHash } from "node:crypto";
import type { SpaceRef } from "../types.js";

export const LEDGER_MAX = 4_096;

/** One thing in the window. */
export interface LedgerEntry {
  /** Which item, block or fact it is. */
  readonly ref: string;
  /** The version that the window shows. */
  readonly version: number;
  /** The number of tokens that it takes in the window. */
  readonly tokens: number;
}

/**
 * Records what a context has put into the window. Order: reset, drop, put. Registers space and session if they are new.
 */
export interface LedgerWrite {
  readonly op: "ledger";
  readonly space: SpaceRef;
  readonly session: string;
  /** True if the window is empty again. */
  readonly reset: boolean;
  readonly drop: readonly string[];
  readonly put: readonly LedgerEntry[];
  /** Tokens that were not injected again because the window contains them. Added to the session's sum. */
  readonly saved: number;
  /** The `ledgerState` of the entries that this write is based on. If they have changed, nothing is written. */
  readonly expected?: string;
}

/** An entry as it was before a write. Only `ref` if it did not exist. */
export type LedgerChange = Pick<LedgerEntry, "ref"> & Partial<LedgerEntry>;

export interface LedgerDone {
  readonly op: "ledger";
  /** The previous state of everything that was dropped and put. */
  readonly before?: readonly LedgerChange[];
  /** True if nothing was written because the ledger is not in the expected state. */
  readonly isStale?: true;
}

/** A hash of the entries of a window, with their versions and order. */
export function ledgerState(entries: readonly Pick<LedgerEntry, "ref" | "version">[]): string {
  const hash = createHash("sha256");
  for (const { ref, version } of entries) hash.update(`${JSON.stringify([ref, version])}\n`);
  return hash.digest("base64");
}

/** What a model's window contains, as far as `context` supplied it. */
export interface Ledger {
  /** In the order in which they were first put. An entry that is put again keeps its place. */
  readonly entries: readonly LedgerEntry[];
  /** The total of tokens saved, over all windows. */
  readonly saved: number;
  /** How often the window was reset. */
  readonly resets: number;
}

export interface LedgerReads {
  /** Empty if the session does not exist. */
  ledger(space: SpaceRef, session: string): Promise<Ledger>;
}
