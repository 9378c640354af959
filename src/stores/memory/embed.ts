/** Writes vectors, item by item: only where nothing has changed since they were made. */
import { HoldfastError } from "../../errors.js";
import type { VectorSpace } from "../../types.js";
import type { AdoptWrite, EmbeddedItem, IndexingDone, IndexWrite } from "../indexing.js";
import { isSameSpace } from "../vector-space.js";
import type { Attempt } from "./attempt.js";
import { findHome } from "./lanes.js";
import type { Home, Marked, Marks } from "./marks.js";
import { isVisible } from "./row.js";
import type { State } from "./state.js";

export function adopt({ vectorSpace }: AdoptWrite, state: State, attempt: Attempt): IndexingDone {
  requireSpace(vectorSpace, state);
  if (!state.vectorSpace) {
    attempt.assign(state, { vectorSpace: { ...vectorSpace } });
    attempt.changed = true;
  }
  return { op: "adopt" };
}

/** The first vectors that are written decide whose vectors the store keeps, if nobody has said so before. */
export function index(write: IndexWrite, state: State, attempt: Attempt): IndexingDone {
  const { owner, fence, vectorSpace, items, release } = write;
  requireSpace(vectorSpace, state);
  for (const item of items) requireLength(item, vectorSpace);
  const home = findHome(write.lane, state.registry);
  if (!home || !state.leases.holds(home, owner, fence)) {
    return { op: "index", written: [], fenced: true, released: false };
  }
  adopt({ op: "adopt", vectorSpace }, state, attempt);
  const written: number[] = [];
  for (const item of items) if (writeVectors(item, home, state, attempt)) written.push(item.key);
  const released = release && !isWaiting(home, state.marks, attempt.now);
  if (released) state.leases.end(home, attempt);
  return { op: "index", written, fenced: false, released };
}

function writeVectors(item: EmbeddedItem, home: Home, state: State, attempt: Attempt): boolean {
  const { marks } = state;
  const found = inVersion(item, marks, attempt.now);
  if (found?.mark.home !== home) return false;
  if (!item.borrowed.every((lender) => inVersion(lender, marks, attempt.now))) return false;
  state.dropVectors(item.key, attempt);
  const { space, id } = found.mark;
  const embedding = {
    spans: item.spans.map(({ start, end }) => ({ start, end })),
    vectors: item.vectors.slice(),
    borrowed: item.borrowed.map(({ key }) => key).filter((key) => key !== item.key),
  };
  marks.put(item.key, { space, home, id, embedding, attempts: 0 }, attempt);
  if (item.spans.length > 0) state.outbox.queue({ space, key: item.key, id }, attempt);
  attempt.touched.add(space);
  return true;
}

/** The item, if it is still there in the version that was read. */
export function inVersion(
  { key, version }: { readonly key: number; readonly version: number },
  marks: Marks,
  now: number,
): Marked | undefined {
  const found = marks.find(key);
  return found && found.row.version === version && isVisible(found.row, found.mark.space, now) ? found : undefined;
}

function isWaiting(home: Home, marks: Marks, now: number): boolean {
  return marks.waiting(home).some(({ row, mark }) => isVisible(row, mark.space, now));
}

export function requireLength({ key, spans, vectors }: EmbeddedItem, { dimensions }: VectorSpace): void {
  if (vectors.length === spans.length * dimensions) return;
  throw new HoldfastError("vector_space", `The vectors of an item are not of ${dimensions} dimensions each.`, {
    hint: "Check that the embedder gives as many numbers as it says it does.",
    details: { key, chunks: spans.length, dimensions, numbers: vectors.length },
  });
}

function requireSpace(given: VectorSpace, { vectorSpace: kept }: State): void {
  if (!kept || isSameSpace(kept, given)) return;
  throw new HoldfastError("vector_space", "The vectors are of another space than those of the store.", {
    hint: "Use the embedder with which the store was filled, or a new store.",
    details: { kept: { ...kept }, given: { ...given } },
  });
}
