/**
 * Receipts in the Store contract: a unit that begins with `once` is applied once, no matter how often it is sent.
 *
 * Guarantees of every implementation:
 * - The receipt is written in the transaction of its unit and kept for seven days of time in use.
 * - Repeating the same key and hash in the same place writes nothing and returns the notes of the first time. A
 *   different hash is a `conflict`.
 * - A receipt holds ids, versions and numbers, no text. When an item, fact, block or point that it names is forgotten, the
 *   receipt loses its hash, and for a fact also the fact's id, because both reveal something about the text. From then
 *   on any request with this key gets the notes, so a late retry cannot bring the content back. Forgetting a session or
 *   a space removes its receipts.
 */
import { HoldfastError } from "../errors.js";
import type { SpaceRef } from "../types.js";
import { isFactId } from "./fact-id.js";
import type { PutFactDone } from "./facts.js";
import type { LedgerChange } from "./ledger.js";
import { pointName } from "./points.js";
import type { Done, RegisterWrite, Unit, Write } from "./store.js";

/** How long a receipt is kept, measured in time in use. */
export const RECEIPT_MS = 7 * 24 * 60 * 60 * 1000;

/** The most time that counts as use between two commits. */
const IDLE_MS = 60 * 60 * 1000;

/**
 * The store's own count of the time in which it was used. It follows the host's clock but never goes back, and a clock
 * that is set forward advances it by at most one hour. So a wrong clock cannot expire receipts early.
 */
export interface TimeInUse {
  readonly inUseMs: number;
  /** The clock's value at the last commit. */
  readonly usedAt: number;
}

export const timeInUse = ({ inUseMs, usedAt }: TimeInUse, now: number): number =>
  inUseMs + Math.min(Math.max(now - usedAt, 0), IDLE_MS);

/** The first write of a unit that must be applied only once. Alone in a unit, it only looks up the receipt. */
export interface OnceWrite {
  readonly op: "once";
  /**
   * The scope of the key: a session, a space, or (neither given) the whole store.
   * If the unit renames the space or session, this is the new name.
   */
  readonly space?: SpaceRef;
  readonly session?: string;
  readonly key: string;
  /** The hash of the request. An empty hash matches any request. */
  readonly hash: string;
}

export interface OnceDone {
  readonly op: "once";
  /** The notes of the first time. If present, nothing was written and the unit's other writes have no result. */
  readonly first?: readonly Note[];
}

/** The part of a `Done` that a receipt keeps: enough to read the rest again. */
export type Note =
  | { readonly op: "add"; readonly ids: readonly string[]; readonly sequences: readonly number[] }
  | { readonly op: "update"; readonly id: string; readonly version: number }
  | { readonly op: "put_block"; readonly id: string; readonly version: number }
  /** The id is the point's `pointName`. */
  | { readonly op: "put_point"; readonly id: string }
  | {
      readonly op: "put_fact";
      readonly id: string;
      readonly outcome: PutFactDone["outcome"];
      readonly ended: readonly string[];
    }
  | { readonly op: "end_fact"; readonly id: string }
  | { readonly op: "register" | "amend"; readonly kind: RegisterWrite["entry"]["kind"]; readonly id: string }
  | { readonly op: "promote"; readonly ids: readonly string[] }
  | { readonly op: "put_key"; readonly id: string }
  | { readonly op: "ledger"; readonly before: readonly LedgerChange[] };

/** Any write except `once`. */
export type PlainWrite = Exclude<Write, OnceWrite>;

/** A store's receipts, accessed within transactions of type `T`. */
export interface ReceiptBook<T> {
  /** Throws `conflict` if the key was used for a different request. */
  find(once: OnceWrite, transaction: T): readonly Note[] | undefined;
  keep(once: OnceWrite, notes: readonly Note[], transaction: T): void;
}

/** Applies all writes of a unit, or none of them if a receipt shows that the unit was applied before. */
export function applyUnit<T>(
  unit: Unit,
  transaction: T,
  book: ReceiptBook<T>,
  apply: (write: PlainWrite, transaction: T) => Done,
): readonly Done[] {
  const [once] = unit;
  const writes = unit.filter((write) => write.op !== "once");
  const applyAll = () => writes.map((write) => apply(write, transaction));
  if (once?.op !== "once") return applyAll();
  const first = book.find(once, transaction);
  if (first) return [{ op: "once", first }];
  const done = applyAll();
  const isWritten = done.some((one) => one.op !== "ledger" || !one.isStale);
  const notes = writes.map((write, at) => noteOf(write, done[at] as Done));
  if (isWritten) book.keep(once, notes, transaction);
  return [{ op: "once" }, ...done];
}

function noteOf(write: PlainWrite, done: Done): Note {
  switch (done.op) {
    case "add":
      return { op: "add", ids: done.ids, sequences: done.sequences };
    case "update":
      return { op: "update", id: write.op === "update" ? write.id : "", version: done.version };
    case "put_block":
      return { op: "put_block", id: done.block.id, version: done.block.version };
    case "put_point":
      return { op: "put_point", id: write.op === "put_point" ? pointName(write.collection, write.id) : "" };
    case "put_fact":
      return { op: "put_fact", id: done.fact.id, outcome: done.outcome, ended: done.ended };
    case "end_fact":
      return { op: "end_fact", id: done.fact.id };
    case "register":
    case "amend":
      return { op: done.op, kind: "kind" in done.entry ? done.entry.kind : "session", id: done.entry.id };
    case "promote":
      return { op: "promote", ids: done.ids };
    case "put_key":
      return { op: "put_key", id: done.key.id };
    case "ledger":
      return { op: "ledger", before: done.before ?? [] };
    default:
      throw new HoldfastError("unsupported", `a write of kind ${done.op} cannot be written once`, {
        hint: "leave the idempotency key out: it can be repeated without one",
      });
  }
}

/** The ids of the items, facts, blocks and points that a receipt names. */
export function namedIn(notes: readonly Note[]): readonly string[] {
  const ids = notes.flatMap((note): readonly string[] => {
    if (note.op === "add" || note.op === "promote") return note.ids;
    if (note.op === "put_fact") return [note.id, ...note.ended];
    const isOne = note.op === "update" || note.op === "put_block" || note.op === "put_point" || note.op === "end_fact";
    return isOne ? [note.id] : [];
  });
  return [...new Set(ids)];
}

/** The notes after the thing with this id was forgotten. A fact's id is derived from its text, so it is removed. */
export function notesWithout(id: string, notes: readonly Note[]): readonly Note[] {
  if (!isFactId(id)) return notes;
  const others = (ids: readonly string[]): readonly string[] => ids.filter((other) => other !== id);
  return notes.map((note) => {
    if (note.op === "put_fact") return { ...note, id: note.id === id ? "" : note.id, ended: others(note.ended) };
    if (note.op === "end_fact") return { ...note, id: note.id === id ? "" : note.id };
    return note.op === "promote" ? { ...note, ids: others(note.ids) } : note;
  });
}

/** Throws `conflict` if the key was used for a different request. An empty hash matches any request. */
export function refuseOtherRequest({ key, hash }: OnceWrite, kept: string): void {
  if (kept === "" || hash === "" || kept === hash) return;
  throw new HoldfastError("conflict", "this idempotency key was used for another request", {
    hint: "use a new key for a new call; a retry must repeat the call unchanged",
    details: { idempotencyKey: key },
  });
}

/** The error for a retry whose first result cannot be returned any more. */
export const forgottenSince = (): HoldfastError =>
  new HoldfastError("not_found", "what this call wrote has since been forgotten", {
    hint: "a retry does not write it again; use a new idempotency key to do so",
  });
