/** Re-embedding for another model: fills the next vector space, and puts it in the place of the one that is served. */
import { HoldfastError } from "../../errors.js";
import type { VectorSpace } from "../../types.js";
import type { IndexingDone } from "../indexing.js";
import type {
  BeginReindexWrite,
  NextSpace,
  ReindexWrite,
  SwitchSpaceWrite,
  ToReindex,
  ToReindexRequest,
} from "../reindexing.js";
import { isSameSpace } from "../vector-space.js";
import type { Attempt } from "./attempt.js";
import { inVersion, requireLength } from "./embed.js";
import type { Marked } from "./marks.js";
import { Next } from "./next.js";
import { isVisible } from "./row.js";
import type { State } from "./state.js";
import { toPending } from "./waiting.js";

export function beginReindex({ vectorSpace }: BeginReindexWrite, state: State, attempt: Attempt): IndexingDone {
  const { next, vectorSpace: served } = state;
  if (next) {
    requireNext(state, vectorSpace);
    return { op: "begin_reindex", isServed: false };
  }
  if (served && isSameSpace(served, vectorSpace)) return { op: "begin_reindex", isServed: true };
  setNext(new Next({ ...vectorSpace }), state, attempt);
  return { op: "begin_reindex", isServed: false };
}

export function reindex({ vectorSpace, items, refused }: ReindexWrite, state: State, attempt: Attempt): IndexingDone {
  const next = requireNext(state, vectorSpace);
  for (const item of items) requireLength(item, vectorSpace);
  const { marks } = state;
  const written: number[] = [];
  for (const item of items) {
    if (next.embeddings.has(item.key) || !inVersion(item, marks, attempt.now)) continue;
    if (!item.borrowed.every((lender) => inVersion(lender, marks, attempt.now))) continue;
    next.put(item, attempt);
    written.push(item.key);
  }
  for (const { key, version, error, retryAt } of refused) {
    if (next.embeddings.has(key) || !inVersion({ key, version }, marks, attempt.now)) continue;
    next.refuse(key, { error, ...(retryAt !== undefined && { retryAt }) }, attempt);
  }
  attempt.changed = true;
  return { op: "reindex", written, next: progressOf(next, state) };
}

export function switchSpace(
  { vectorSpace, missingMax }: SwitchSpaceWrite,
  state: State,
  attempt: Attempt,
): IndexingDone {
  const { vectorSpace: served, marks, outbox } = state;
  const isDone = served && !state.next && isSameSpace(served, vectorSpace);
  if (isDone) return { op: "switch_space", switched: true };
  const next = requireNext(state, vectorSpace);
  const missing = missingIn(next, state).filter(({ row, mark }) => isVisible(row, mark.space, attempt.now));
  if (missing.length > missingMax) return { op: "switch_space", switched: false };
  if (served) outbox.leave(served, attempt);
  for (const { key, mark } of [...marks.all()]) {
    const { space, home, id, embedding: old } = mark;
    const deleted = old?.spans.length ?? 0;
    if (served && deleted > 0) outbox.queue({ space, key, id, deleted, former: served }, attempt);
    const embedding = next.embeddings.get(key);
    const refusal = next.refused.get(key);
    const parking = refusal && { parking: { ...refusal, parkedAt: attempt.now } };
    marks.put(key, { space, home, id, attempts: parking ? 1 : 0, ...(embedding ? { embedding } : parking) }, attempt);
  }
  if (outbox.attached) {
    attempt.assign(outbox, { attached: { ...outbox.attached, queuedTo: 0, isComplete: false } });
  }
  attempt.assign(state, { vectorSpace: next.vectorSpace });
  setNext(undefined, state, attempt);
  for (const space of state.registry.all()) attempt.touched.add(space);
  return { op: "switch_space", switched: true };
}

export function abandonReindex(state: State, attempt: Attempt): IndexingDone {
  const abandoned = state.next !== undefined;
  if (abandoned) setNext(undefined, state, attempt);
  return { op: "abandon_reindex", abandoned };
}

export function toReindex({ vectorSpace, limit, maxBytes, now }: ToReindexRequest, state: State): ToReindex {
  const range = { after: 0, upTo: 0 };
  const { next } = state;
  if (!next || !isSameSpace(next.vectorSpace, vectorSpace)) return { items: [], range };
  const missing = missingIn(next, state).filter(({ row, mark }) => isVisible(row, mark.space, now));
  const items = [];
  let bytes = 0;
  for (const found of missing.sort((a, b) => a.key - b.key)) {
    bytes += Buffer.byteLength(found.row.content);
    if (items.length === limit || (items.length > 0 && bytes > maxBytes)) break;
    items.push(toPending(found));
  }
  return { items, range };
}

/** How far the next space has come. */
export function progressOf(next: Next, state: State): NextSpace {
  return {
    vectorSpace: { ...next.vectorSpace },
    embedded: next.embeddings.size,
    remaining: missingIn(next, state).length,
    refused: next.refused.size,
  };
}

function missingIn(next: Next, { marks }: State): Marked[] {
  return [...marks.all()].filter(({ key }) => !next.embeddings.has(key) && !next.refused.has(key));
}

function setNext(next: Next | undefined, state: State, attempt: Attempt): void {
  attempt.assign(state, { next });
  attempt.changed = true;
}

function requireNext({ next }: State, given: VectorSpace): Next {
  if (next && isSameSpace(next.vectorSpace, given)) return next;
  throw new HoldfastError(
    "conflict",
    next
      ? "The store is half re-embedded with another model."
      : "Vectors of this space are no longer being made for this store.",
    {
      hint: next ? "Finish that with the same model, or abandon it first." : "It was abandoned meanwhile; begin again.",
      details: { given: { ...given }, ...(next && { next: { ...next.vectorSpace } }) },
    },
  );
}
