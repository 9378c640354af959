/**
 * The injection ledger in the Store contract: what stands in the window of a session's model, so that it is not given twice.
 *
 * Guarantees of every implementation:
 * - An entry is one thing, named by a reference that the caller makes, at one version.
 * - A session's ledger goes with the session, and with its space. It is not changed by what happens to the things.
 * - At most `LEDGER_MAX` entries per session: the oldest leave. What has left may be given again.
 */
import { createHash } from "node:crypto";
import type { SpaceRef } from "../types.js";

export const LEDGER_MAX = 4_096;

export interface LedgerEntry {
  readonly ref: string;
  readonly version: number;
  /** How many tokens it takes in the window. */
  readonly tokens: number;
}

/** Writes what a context has put into the window. In this order: reset, drop, put. Registers space and session if new. */
export interface LedgerWrite {
  readonly op: "ledger";
  readonly space: SpaceRef;
  readonly session: string;
  /** The window is empty again. */
  readonly reset: boolean;
  readonly drop: readonly string[];
  readonly put: readonly LedgerEntry[];
  /** Tokens that were not given again because they stand in the window: added to the session's sum. */
  readonly saved: number;
  /** `ledgerState` of the entries that this was made from: if they are others by now, nothing is written. */
  readonly expected?: string;
}

export interface LedgerDone {
  readonly op: "ledger";
  /** Nothing was written, because the ledger is not the expected one. */
  readonly isStale?: true;
}

/** Says in a few bytes what stands in a window, in which versions and in which order. */
export function ledgerState(entries: readonly Pick<LedgerEntry, "ref" | "version">[]): string {
  const hash = createHash("sha256");
  for (const { ref, version } of entries) hash.update(`${JSON.stringify([ref, version])}\n`);
  return hash.digest("base64");
}

export interface Ledger {
  /** In the order in which they were first put; an entry that was put again keeps its place. */
  readonly entries: readonly LedgerEntry[];
  /** Tokens saved in all, over all windows. */
  readonly saved: number;
  readonly resets: number;
}

export interface LedgerReads {
  /** Empty if there is no such session. */
  ledger(space: SpaceRef, session: string): Promise<Ledger>;
}
