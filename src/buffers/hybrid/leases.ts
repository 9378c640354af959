/**
 * Leases: the lanes that this process embeds, so that no two processes embed the same lane.
 *
 * Leases only save work. Correctness comes from the fencing number: a process that lost a lease, because it was paused
 * or disconnected, can write nothing under it. No wall clock is involved: an owner counts as silent when its heartbeat
 * has not changed for `leaseMs` on the observer's own monotonic clock.
 */
import type { Clock } from "../../clock.js";
import { HoldfastError } from "../../errors.js";
import { laneKey } from "../../space-key.js";
import type { Holder, Lane, Owner } from "../../stores/indexing.js";
import type { RepeatableCommits } from "./commits.js";
import { isGone } from "./owner.js";

export interface LeasesOptions {
  readonly commits: RepeatableCommits;
  readonly clock: Clock;
  readonly owner: Owner;
  readonly leaseMs: number;
}

export class Leases {
  readonly #options: LeasesOptions;
  readonly #held = new Map<string, { readonly lane: Lane; readonly fence: number }>();
  readonly #seen = new Map<string, { beat: number; since: number }>();
  #cancelBeat: (() => void) | undefined;

  constructor(options: LeasesOptions) {
    this.#options = options;
  }

  get owner(): Owner {
    return this.#options.owner;
  }

  get count(): number {
    return this.#held.size;
  }

  fenceOf(lane: Lane): number | undefined {
    return this.#held.get(laneKey(lane))?.fence;
  }

  /** Removes a lease that was released or lost. */
  forget(lane: Lane): void {
    this.#held.delete(laneKey(lane));
  }

  /**
   * Acquires leases and returns the lanes that this process now holds. Leases of silent or dead owners are taken over.
   */
  async claim(lanes: readonly Lane[]): Promise<readonly Lane[]> {
    const wanted = lanes.filter((lane) => this.fenceOf(lane) === undefined);
    if (wanted.length > 0) {
      const silent = await this.#claim(wanted, []);
      if (silent.length > 0) {
        await this.#claim(
          wanted.filter((lane) => this.fenceOf(lane) === undefined),
          silent,
        );
      }
    }
    return lanes.filter((lane) => this.fenceOf(lane) !== undefined);
  }

  /** One attempt to claim. Returns the conflicting holders that are dead or silent. */
  async #claim(lanes: readonly Lane[], evict: readonly Holder[]): Promise<readonly Holder[]> {
    const { commits, owner } = this.#options;
    const silent = new Map<string, Holder>();
    const { claims } = await commits.one<"claim">({
      op: "claim",
      owner,
      lanes,
      evict: evict.map(({ id, beat }) => ({ owner: id, beat })),
    });
    for (const [at, claim] of claims.entries()) {
      const lane = lanes[at];
      if (!lane) continue;
      if ("fence" in claim) this.#held.set(laneKey(lane), { lane, fence: claim.fence });
      else if ("holder" in claim && this.isSilent(claim.holder)) silent.set(claim.holder.id, claim.holder);
    }
    this.#keepBeating();
    return [...silent.values()];
  }

  /** Whether the holder's process is dead, or its heartbeat has not changed for the duration of a lease. */
  isSilent({ id, process, beat }: Holder): boolean {
    const { clock, leaseMs } = this.#options;
    if (isGone(process)) return true;
    const seen = this.#seen.get(id);
    if (seen?.beat === beat) return clock.passed() - seen.since >= leaseMs;
    this.#seen.set(id, { beat, since: clock.passed() });
    return false;
  }

  #keepBeating(): void {
    if (this.#cancelBeat || this.#held.size === 0) return;
    const { clock, leaseMs } = this.#options;
    this.#cancelBeat = clock.after(leaseMs / 3, () => {
      this.#cancelBeat = undefined;
      void this.#beat();
    });
  }

  async #beat(): Promise<void> {
    if (this.#held.size === 0) return;
    const { commits, owner } = this.#options;
    try {
      const { alive } = await commits.one<"beat">({ op: "beat", owner });
      if (!alive) this.#held.clear();
    } catch (error) {
      // The store is busy or failing. The next heartbeat tries again, and the fencing number keeps writes correct.
      if (!(error instanceof HoldfastError)) throw error;
      if (error.code === "closed") return;
    }
    this.#keepBeating();
  }

  /** Releases the leases of idle lanes. */
  async releaseIdle(isBusy: (lane: Lane) => boolean): Promise<void> {
    const lanes = [...this.#held.values()].flatMap(({ lane }) => (isBusy(lane) ? [] : [lane]));
    if (lanes.length === 0) return;
    for (const lane of lanes) this.forget(lane);
    await this.#options.commits.one<"release">({ op: "release", owner: this.#options.owner.id, lanes });
  }

  /** Releases all leases of this process, including the outbox lease. */
  async releaseAll(): Promise<void> {
    this.stop();
    this.#held.clear();
    await this.#options.commits.one<"release">({ op: "release", owner: this.#options.owner.id });
  }

  stop(): void {
    this.#cancelBeat?.();
    this.#cancelBeat = undefined;
  }
}
