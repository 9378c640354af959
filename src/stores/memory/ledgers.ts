/** The injection ledgers of sessions in memory. A ledger is never changed in place. */
import { isDeepStrictEqual } from "node:util";
import type { SpaceRef } from "../../types.js";
import { LEDGER_MAX, type Ledger, type LedgerDone, type LedgerWrite, ledgerState } from "../ledger.js";
import type { Attempt } from "./attempt.js";
import type { Session } from "./space.js";
import type { State } from "./state.js";

export const EMPTY_LEDGER: Ledger = Object.freeze({ entries: [], saved: 0, resets: 0 });

export function writeLedger(write: LedgerWrite, { registry }: State, attempt: Attempt): LedgerDone {
  if (write.expected !== undefined) {
    const { entries } = registry.find(write.space)?.sessions.get(write.session)?.ledger ?? EMPTY_LEDGER;
    if (ledgerState(entries) !== write.expected) return { op: "ledger", isStale: true };
  }
  const space = registry.ensure(write.space, attempt);
  const session = registry.ensureSession(space, write.session, undefined, attempt);
  const after = written(session.ledger, write);
  if (!isDeepStrictEqual(after, session.ledger)) {
    attempt.assign(session, { ledger: after });
    attempt.changed = true; // no search shows a ledger, so the version of the space stays as it is
  }
  return { op: "ledger" };
}

function written({ entries, saved, resets }: Ledger, write: LedgerWrite): Ledger {
  const byRef = new Map(write.reset ? [] : entries.map((entry) => [entry.ref, entry]));
  for (const ref of write.drop) byRef.delete(ref);
  // An entry that is there keeps its place: a map does so too.
  for (const { ref, version, tokens } of write.put) byRef.set(ref, { ref, version, tokens });
  return {
    entries: [...byRef.values()].slice(-LEDGER_MAX),
    saved: saved + write.saved,
    resets: resets + (write.reset ? 1 : 0),
  };
}

/** Removes the ledger of a session whose entry stays. */
export function forgetLedger(session: Session, attempt: Attempt): void {
  if (session.ledger === EMPTY_LEDGER) return;
  attempt.assign(session, { ledger: EMPTY_LEDGER });
  attempt.changed = true;
}

export function ledger(space: SpaceRef, session: string, { registry }: State): Ledger {
  const { entries, saved, resets } = registry.find(space)?.sessions.get(session)?.ledger ?? EMPTY_LEDGER;
  return { entries: entries.map((entry) => ({ ...entry })), saved, resets };
}
