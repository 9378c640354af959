/** Attaches an external index, and takes note of what it has received. */
import { type AcknowledgeWrite, type AttachWrite, type IndexingDone, OUTBOX } from "../indexing.js";
import type { Attempt } from "./attempt.js";
import { anotherIndex } from "./outbox.js";
import type { State } from "./state.js";

/** What was embedded before the index was attached is queued by key, a slice at a time. */
export function attach({ index }: AttachWrite, state: State, attempt: Attempt, itemsMax: number): IndexingDone {
  const { outbox, marks } = state;
  const { attached } = outbox;
  if (index === null) {
    outbox.clear(attempt);
    if (attached) setAttached(undefined, state, attempt);
    return { op: "attach", remaining: false };
  }
  if (attached && attached.index !== index) throw anotherIndex(attached.index);
  if (attached?.isComplete) return { op: "attach", remaining: false };
  const queuedTo = attached?.queuedTo ?? 0;
  const rest = [...marks.all()]
    .filter(({ key, mark }) => key > queuedTo && mark.embedding && mark.embedding.spans.length > 0)
    .sort((a, b) => a.key - b.key);
  const slice = rest.slice(0, itemsMax);
  const remaining = rest.length > slice.length;
  setAttached({ index, queuedTo: slice.at(-1)?.key ?? queuedTo, isComplete: !remaining }, state, attempt);
  for (const { key, mark } of slice) outbox.queue({ space: mark.space, key, id: mark.id }, attempt);
  return { op: "attach", remaining };
}

export function acknowledge(
  { owner, fence, sent, failed }: AcknowledgeWrite,
  { leases, outbox }: State,
  attempt: Attempt,
): IndexingDone {
  if (!leases.holds(OUTBOX, owner, fence)) return { op: "acknowledge", fenced: true };
  for (const sequence of sent) outbox.acknowledge(sequence, attempt);
  for (const { sequence, retryAt } of failed) outbox.delay(sequence, retryAt, attempt);
  return { op: "acknowledge", fenced: false };
}

function setAttached(attached: State["outbox"]["attached"], { outbox }: State, attempt: Attempt): void {
  attempt.assign(outbox, { attached });
  attempt.changed = true;
}
