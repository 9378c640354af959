/**
 * Who may embed what: leases of lanes, and the owners that have them. No clock: a lease ends when it is released, or
 * when its owner is evicted by someone who saw the owner's last beat.
 *
 * Fences and beats count over all lanes and owners and only grow, also over units that were undone; so an owner that
 * comes back cannot be taken for what it was before.
 */
import type { Holder, OUTBOX, Owner } from "../indexing.js";
import type { Attempt } from "./attempt.js";
import type { Home } from "./marks.js";

export type Leasable = Home | typeof OUTBOX;

interface Lease {
  readonly owner: string;
  readonly fence: number;
}

export class Leases {
  readonly #leases = new Map<Leasable, Lease>();
  readonly #owners = new Map<string, Holder>();
  #fences = 0;
  #beats = 0;

  /** The fence of the owner's lease, which is new or was there; or who else has the lane. */
  claim(lane: Leasable, owner: string, attempt: Attempt): { readonly fence: number } | { readonly holder: Holder } {
    const found = this.#leases.get(lane);
    if (found?.owner === owner) return { fence: found.fence };
    const holder = this.holder(lane, owner);
    if (holder) return { holder };
    const fence = ++this.#fences;
    attempt.set(this.#leases, lane, { owner, fence });
    attempt.changed = true;
    return { fence };
  }

  /** Whoever else has the lane. */
  holder(lane: Leasable, asking: string): Holder | undefined {
    const lease = this.#leases.get(lane);
    return lease && lease.owner !== asking ? this.#owners.get(lease.owner) : undefined;
  }

  holds(lane: Leasable | undefined, owner: string, fence: number): boolean {
    const lease = lane && this.#leases.get(lane);
    return lease?.owner === owner && lease.fence === fence;
  }

  knows(owner: string): boolean {
    return this.#owners.has(owner);
  }

  beat({ id, process }: Owner, attempt: Attempt): void {
    attempt.set(this.#owners, id, { id, process, beat: ++this.#beats });
    attempt.changed = true;
  }

  /** Ends all leases of an owner, unless it has shown another beat. */
  evict(owner: string, beat: number, attempt: Attempt): void {
    if (this.#owners.get(owner)?.beat === beat) this.releaseAll(owner, attempt);
  }

  release(lane: Leasable, owner: string, attempt: Attempt): void {
    if (this.#leases.get(lane)?.owner === owner) this.end(lane, attempt);
  }

  /** Ends all leases of an owner, and forgets the owner. */
  releaseAll(owner: string, attempt: Attempt): void {
    for (const lane of [...this.#leases.keys()]) this.release(lane, owner, attempt);
    if (!this.#owners.has(owner)) return;
    attempt.delete(this.#owners, owner);
    attempt.changed = true;
  }

  /** Ends the lease of a lane, whoever has it. */
  end(lane: Leasable, attempt: Attempt): void {
    if (!this.#leases.has(lane)) return;
    attempt.delete(this.#leases, lane);
    attempt.changed = true;
  }
}
