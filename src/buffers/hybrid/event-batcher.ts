/**
 * EventBatcher: publishes the HybridBuffer's `transferred` and `flushed` events, per lane. A `transferred` event is
 * published at the end of the batch, or before the first `flushed` event for the same lane, whichever comes first. No
 * item is therefore reported as written before it is reported as embedded.
 */
import type { FlushReason, TransferReason } from "../../events/event.js";
import type { Events } from "../../events/events.js";
import { laneKey } from "../../space-key.js";
import type { Lane } from "../../stores/indexing.js";
import type { DueLane } from "../round-buffer.js";
import type { CachedItem } from "./vector-cache.js";

interface Batch {
  readonly lane: Lane;
  readonly reason: TransferReason;
  ids: string[];
}

export class EventBatcher {
  readonly #events: Events | undefined;
  readonly #batches = new Map<string, Batch>();

  constructor(events: Events | undefined) {
    this.#events = events;
  }

  begin(due: readonly DueLane[]): void {
    if (!this.#events?.isHeard) return;
    for (const { lane, reason } of due) this.#batches.set(laneKey(lane), { lane, reason, ids: [] });
  }

  accepted({ lane, id }: CachedItem): void {
    if (this.#batches.size > 0) this.#batches.get(laneKey(lane))?.ids.push(id);
  }

  end(): void {
    for (const batch of this.#batches.values()) this.#tell(batch);
    this.#batches.clear();
  }

  flushed(lane: Lane, reason: FlushReason, items: readonly CachedItem[], written: ReadonlySet<number>): void {
    if (written.size === 0 || !this.#events?.isHeard) return;
    const batch = this.#batches.get(laneKey(lane));
    if (batch) this.#tell(batch);
    const ids = items.flatMap(({ key, id }) => (written.has(key) ? id : []));
    this.#events.tell({ type: "flushed", ...lane, reason, ids });
  }

  #tell(batch: Batch): void {
    const { lane, reason, ids } = batch;
    if (ids.length === 0) return;
    batch.ids = [];
    this.#events?.tell({ type: "transferred", ...lane, reason, ids });
  }
}
