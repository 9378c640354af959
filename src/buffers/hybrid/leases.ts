/**
 * Leases: which lanes this process embeds, so that no two embed the same.
 *
 * They save work; they do not keep the promise. What keeps it is the fence: whoever lost a lease, by being stopped or
 * cut off, can write nothing under it. No wall clock is read: an owner is silent when its beat has not changed for
 * `leaseMs` on the observer's own clock, which only grows.
 */
import type { Clock } from "../../clock.js";
import { HoldfastError } from "../../errors.js";
import type { Holder, Lane, Owner } from "../../stores/indexing.js";
import { laneName } from "../lane-name.js";
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
    return this.#held.get(laneName(lane))?.fence;
  }

  /** The lease has ended, by release or by loss. */
  forget(lane: Lane): void {
    this.#held.delete(laneName(lane));
  }

  /** Takes leases; answers with the lanes that are this process's now. Those of silent or dead owners are taken over. */
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

  /** One round of claims; answers with the holders in the way that are gone or silent. */
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
      if ("fence" in claim) this.#held.set(laneName(lane), { lane, fence: claim.fence });
      else if ("holder" in claim && this.isSilent(claim.holder)) silent.set(claim.holder.id, claim.holder);
    }
    this.#keepBeating();
    return [...silent.values()];
  }

  /** Whether the holder's process is gone, or has shown no beat for as long as a lease lasts. */
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
      // The store is busy or failing: the next beat tries again, and the fence keeps what is written right.
      if (!(error instanceof HoldfastError)) throw error;
      if (error.code === "closed") return;
    }
    this.#keepBeating();
  }

  /** Ends the leases of lanes with which nothing is done any more. */
  async releaseIdle(isBusy: (lane: Lane) => boolean): Promise<void> {
    const lanes = [...this.#held.values()].flatMap(({ lane }) => (isBusy(lane) ? [] : [lane]));
    if (lanes.length === 0) return;
    for (const lane of lanes) this.forget(lane);
    await this.#options.commits.one<"release">({ op: "release", owner: this.#options.owner.id, lanes });
  }

  /** Ends all leases of this process, that of the outbox included. */
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
