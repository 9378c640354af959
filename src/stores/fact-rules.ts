/**
 * The rules for writes of facts, shared by all stores: state, spans, and which writes are rejected.
 *
 * Invariants: spans are sorted, non-empty and do not overlap. The last one is open if and only if the fact holds.
 */
import { HoldfastError } from "../errors.js";
import type { FactSpan, FactState, PutFactWrite, RestoreFactWrite } from "./facts.js";

/** A span as stores keep it. `by` is the store's number of the superseding fact, which is never reused. */
export interface HeldSpan {
  readonly from: number;
  readonly to?: number;
  readonly by?: number;
}

/** The part of a fact that writes change. */
export interface Standing {
  readonly confidence: number;
  readonly pinned: boolean;
  readonly state: FactState;
  readonly spans: readonly HeldSpan[];
}

export const firstStanding = ({ confidence, pinned = false, from }: PutFactWrite): Standing => ({
  confidence,
  pinned,
  state: "holds",
  spans: [{ from }],
});

/** The standing after a repeated put. Returns the same object if nothing changes. */
export function putAgain(known: Standing, { confidence, pinned = known.pinned, from }: PutFactWrite): Standing {
  const spans = known.state === "holds" ? startedBy(known.spans, from) : reopened(known.spans, from);
  const isSame = spans === known.spans && confidence === known.confidence && pinned === known.pinned;
  return isSame ? known : { confidence, pinned, state: "holds", spans };
}

/** Moves the start of the open span back to `from`, but not before the end of the previous span. */
function startedBy(spans: readonly HeldSpan[], from: number): readonly HeldSpan[] {
  const start = Math.max(from, spans.at(-2)?.to ?? -Infinity);
  return start < startOf(spans) ? [...spans.slice(0, -1), { from: start }] : spans;
}

function reopened(spans: readonly HeldSpan[], from: number): readonly HeldSpan[] {
  return [...spans, { from: Math.max(from, spans.at(-1)?.to ?? -Infinity) }];
}

/** The standing after the fact ends or is retracted. `by` is the fact that supersedes it. */
export function closed(known: Standing, as: "ended" | "retracted", at: number, by?: number): Standing {
  const last = known.spans.at(-1);
  if (known.state !== "holds" || !last) return { ...known, state: as };
  const before = known.spans.slice(0, -1);
  const span = { from: last.from, to: at, ...(by !== undefined && { by }) };
  return { ...known, state: as, spans: at > last.from ? [...before, span] : before };
}

/** Spans restored from elsewhere. A span is linked to its superseding fact if that fact is known here. */
export const restoredSpans = (spans: readonly FactSpan[], keyOf: (id: string) => number | undefined): HeldSpan[] =>
  spans.map(({ from, to, supersededBy }) => {
    const by = supersededBy === undefined ? undefined : keyOf(supersededBy);
    return { from, ...(to !== undefined && { to }), ...(by !== undefined && { by }) };
  });

/** Adds missing links to superseding facts. Returns `known` itself if there are none to add. */
export function linkedSpans(known: readonly HeldSpan[], restored: readonly HeldSpan[]): readonly HeldSpan[] {
  const linked = known.map((span, at) => (span.by === undefined ? { ...span, ...restored[at] } : span));
  return linked.some(({ by }, at) => by !== known[at]?.by) ? linked : known;
}

/** Throws if the fact to restore exists already in a different state. */
export function refuseIfOtherwise(
  known: Standing & Pick<RestoreFactWrite, "category" | "content">,
  write: RestoreFactWrite,
): void {
  if (tellingOf(known) === tellingOf(write)) return;
  throw new HoldfastError("conflict", "this fact already exists in another state", {
    hint: "end, retract or forget the existing one, or leave it as it is",
    details: { id: write.id },
  });
}

const tellingOf = (fact: Pick<RestoreFactWrite, "category" | "content"> & Standing): string =>
  JSON.stringify([
    ...[fact.category, fact.content, fact.confidence, fact.pinned, fact.state],
    fact.spans.map(({ from, to }) => [from, to]),
  ]);

/** The start of the last span. Requires that there is one. */
export const startOf = (spans: readonly HeldSpan[]): number => spans.at(-1)?.from ?? Number.NaN;

export function refuseSelfSuperseding({ id, supersedes }: PutFactWrite): void {
  if (!supersedes.includes(id)) return;
  throw new HoldfastError("invalid_input", "a fact cannot supersede itself", {
    hint: "name the facts that it replaces, or none",
    details: { id },
  });
}

export const noSuchFact = (id: string): HoldfastError =>
  new HoldfastError("not_found", "there is no such fact in this space", {
    hint: "check the id and the scope; it may have been forgotten or have expired",
    details: { id },
  });

export const noSuchSource = (id: string): HoldfastError =>
  new HoldfastError("not_found", "the source message of the fact is not in this space", {
    hint: "add the message first, in the same unit or an earlier one; it may have been forgotten or have expired",
    details: { id },
  });

export const circularSource = (id: string): HoldfastError =>
  new HoldfastError("invalid_input", "a fact cannot depend on itself, directly or through other facts", {
    hint: "name the message in which it was said",
    details: { id },
  });

export const noSuchSession = (): HoldfastError =>
  new HoldfastError("not_found", "there is no such session in this space", { hint: "check the name; names are exact" });

/** Throws if facts were extracted from the session since the caller read it. */
export function refuseIfExtracted(extracted: number, after: number | undefined): void {
  if (after === undefined || after === extracted) return;
  throw new HoldfastError("conflict", "facts were extracted from this session in the meantime", {
    hint: "read what is new since then",
    details: { extracted },
  });
}

/** The error for a fact whose id belongs to an item that is not a fact. */
export const takenByItem = (id: string): HoldfastError =>
  new HoldfastError("conflict", "an item that is not a recorded fact has this id", {
    hint: "forget that item first, or give the fact another id",
    details: { id },
  });

/** The error for an item whose id belongs to a fact, which may no longer hold. */
export const takenByFact = (id: string): HoldfastError =>
  new HoldfastError("conflict", "a fact has this id", {
    hint: "put facts with put_fact (or `facts`), give another id, or forget the fact first",
    details: { id },
  });

export const notEditable = (id: string): HoldfastError =>
  new HoldfastError("invalid_input", "the content, name and metadata of a fact cannot be edited as those of an item", {
    hint: "use put_fact (or `facts`): a fact that says something else is another fact, which may supersede it",
    details: { id },
  });
