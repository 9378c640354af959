/**
 * What a store should do for retrieval by meaning, written for readability like plain-store.ts: arrays and loops.
 *
 * The store assigns keys and fences: the model learns them from its answers, and then requires them.
 */
import type { Claim, IndexWrite, Lane, OUTBOX, ParkWrite, ReplayWrite } from "../../stores/indexing.js";
import type { SpaceRef } from "../../types.js";
import type { PlainItem, PlainSession, PlainSpace, PlainState } from "./plain-state.js";
import { refOf, waitAgain } from "./plain-state.js";
import type { PlainDone } from "./plain-store.js";

/** What this half needs from the other. */
export interface PlainBase {
  readonly state: () => PlainState;
  readonly isVisible: (item: PlainItem, now: number) => boolean;
  readonly space: (ref: SpaceRef) => PlainSpace | undefined;
  readonly session: (space: PlainSpace, name: string) => PlainSession | undefined;
  readonly touch: (space: number) => void;
}

/** The expected answer to a claim, as far as the model knows: only the store knows the fence of a new lease. */
export type PlainClaim = { readonly fence: number | "new" } | { readonly holder: string } | { readonly gone: true };

const OUTBOX_LANE = 0;

export class PlainIndexing {
  readonly #base: PlainBase;

  constructor(base: PlainBase) {
    this.#base = base;
  }

  get #state(): PlainState {
    return this.#base.state();
  }

  // Leases.

  expectClaim(lane: Lane | typeof OUTBOX, owner: string): PlainClaim {
    const key = this.#laneKey(lane);
    if (key === undefined) return { gone: true };
    const lease = this.#state.leases.find((one) => one.lane === key);
    if (!lease) return { fence: "new" };
    return lease.owner === owner ? { fence: lease.fence } : { holder: lease.owner };
  }

  claimed(lane: Lane | typeof OUTBOX, owner: string, claim: Claim): void {
    const key = this.#laneKey(lane);
    if (key === undefined || !("fence" in claim) || this.fence(lane, owner) !== undefined) return;
    this.#state.leases.push({ lane: key, owner, fence: claim.fence });
  }

  /** Ends all leases of an owner, or that of one lane if it is the owner's. */
  release(owner: string, lane?: Lane | typeof OUTBOX): void {
    const key = lane && this.#laneKey(lane);
    this.#state.leases = this.#state.leases.filter(
      (lease) => lease.owner !== owner || (lane !== undefined && lease.lane !== key),
    );
  }

  /** The fence of the owner's lease, if it has one. */
  fence(lane: Lane | typeof OUTBOX, owner: string): number | undefined {
    const key = this.#laneKey(lane);
    return this.#state.leases.find((lease) => lease.lane === key && lease.owner === owner)?.fence;
  }

  #laneKey(lane: Lane | typeof OUTBOX): number | undefined {
    if (typeof lane === "string") return OUTBOX_LANE;
    const space = this.#base.space(lane.space);
    if (!space || lane.session === undefined) return space?.key;
    return this.#base.session(space, lane.session)?.key;
  }

  // Writes.

  index({ owner, lane, fence, items, release }: IndexWrite, now: number): PlainDone {
    if (this.fence(lane, owner) !== fence) return { op: "index", written: [], fenced: true, released: false };
    const written: number[] = [];
    for (const { key, version, spans, vectors, borrowed } of items) {
      const item = this.#ofKey(key);
      if (!item || this.#laneOf(item) !== this.#laneKey(lane)) continue;
      const isCurrent = [{ key, version }, ...borrowed].every((one) => {
        const other = this.#ofKey(one.key);
        return other?.version === one.version && this.#base.isVisible(other, now);
      });
      if (!isCurrent) continue;
      waitAgain(item);
      const parts = spans.map((_, part) => [...vectors.subarray(part * 4, (part + 1) * 4)]);
      item.embedding = { vectors: parts, borrowed: borrowed.map((one) => one.key) };
      this.#base.touch(item.space);
      written.push(key);
    }
    const released = release && !this.waiting(lane, now);
    if (released) this.release(owner, lane);
    return { op: "index", written, fenced: false, released };
  }

  park({ owner, lane, fence, items }: ParkWrite, now: number): PlainDone {
    if (this.fence(lane, owner) !== fence) return { op: "park", parked: 0, fenced: true };
    let parked = 0;
    for (const { key, version, error, retryAt } of items) {
      const item = this.#ofKey(key);
      if (item?.version !== version || item.embedding || this.#laneOf(item) !== this.#laneKey(lane)) continue;
      item.parking = { error, at: now, retryAt };
      item.attempts++;
      parked++;
    }
    return { op: "park", parked, fenced: false };
  }

  replay({ which }: ReplayWrite, now: number): PlainDone {
    const space = "space" in which ? this.#base.space(which.space)?.key : undefined;
    const chosen = this.#state.items.filter(({ parking, space: of, row }) => {
      if (!parking) return false;
      if ("space" in which) return of === space && (which.ids?.includes(row.id) ?? true);
      return parking.retryAt !== undefined && (parking.retryAt <= now || parking.at > now);
    });
    for (const item of chosen) {
      item.parking = undefined;
      if ("space" in which) item.attempts = 0;
      this.#base.touch(item.space);
    }
    return { op: "replay", replayed: chosen.length, remaining: false };
  }

  /** Attaches the index, if that is allowed; returns whether it is. */
  attach(index: string | null): boolean {
    if (index !== null && this.#state.index !== undefined && this.#state.index !== index) return false;
    this.#state.index = index ?? undefined;
    return true;
  }

  get attached(): string | undefined {
    return this.#state.index;
  }

  // Expected results of reads.

  /** The pending items of a lane, or of all lanes; oldest first. */
  pending(now: number, lane?: Lane): readonly PlainItem[] {
    const key = lane && this.#laneKey(lane);
    return this.#state.items.filter(
      (item) =>
        !item.embedding &&
        !item.parking &&
        this.#base.isVisible(item, now) &&
        (lane === undefined || this.#laneOf(item) === key),
    );
  }

  waiting(lane: Lane, now: number): boolean {
    return this.pending(now, lane).length > 0;
  }

  /** The lanes that have items, in the order of their first items. */
  lanes(): readonly Lane[] {
    const lanes = new Map(this.#state.items.map((item) => [this.#laneOf(item), item]));
    return [...lanes.values()].map((item) => this.lane(item));
  }

  /** Visible items of a lane whose keys are known, embedded or not. */
  known(lane: Lane, now: number): readonly (PlainItem & { readonly key: number })[] {
    const key = this.#laneKey(lane);
    return this.#state.items.flatMap((item) =>
      this.#laneOf(item) === key && item.key !== undefined && this.#base.isVisible(item, now)
        ? { ...item, key: item.key }
        : [],
    );
  }

  /** Everything stored, expired or not, in order of arrival. */
  get items(): readonly PlainItem[] {
    return this.#state.items;
  }

  parked(now: number): readonly object[] {
    return this.#state.items.flatMap((item) => {
      if (!item.parking || !this.#base.isVisible(item, now)) return [];
      const { error, at, retryAt } = item.parking;
      const { version, attempts } = item;
      const parked = { id: item.row.id, version, attempts, error, parkedAt: at };
      return { ...this.lane(item), ...parked, ...(retryAt !== undefined && { retryAt }) };
    });
  }

  lane(item: PlainItem): Lane {
    const space = this.#state.spaces.find((one) => one.key === item.space);
    const session = this.#state.sessions.find((one) => one.key === item.session);
    return { space: refOf(space), ...(session && { session: session.name }) };
  }

  isVisible(item: PlainItem, now: number): boolean {
    return this.#base.isVisible(item, now);
  }

  #ofKey(key: number): PlainItem | undefined {
    return this.#state.items.find((item) => item.key === key);
  }

  #laneOf(item: PlainItem): number {
    return item.session ?? item.space;
  }
}
