/**
 * Lanes: queues of jobs waiting to be written. Jobs within a lane keep their order; lanes take turns. A batch of ten
 * thousand messages in one session therefore delays a single message in another session by one group only.
 */
import type { OnceWrite } from "../stores/receipts.js";
import type { Unit } from "../stores/store.js";

/** A call waiting for its commit. Its units are written in order; a `stepwise` job writes at most one per group. */
export interface Job {
  readonly lane: string;
  readonly units: readonly SizedUnit[];
  readonly stepwise: boolean;
  /** Number of units taken so far. */
  taken: number;
}

export interface SizedUnit {
  readonly unit: Unit;
  /** With a key, the unit is idempotent. */
  readonly once?: OnceWrite | undefined;
  readonly messages: number;
  readonly bytes: number;
}

export interface Taken<J extends Job> {
  readonly job: J;
  readonly sized: SizedUnit;
  readonly index: number;
}

export interface GroupLimits {
  readonly messages: number;
  readonly bytes: number;
}

export class Lanes<J extends Job> {
  readonly #lanes = new Map<string, J[]>();

  get isEmpty(): boolean {
    return this.#lanes.size === 0;
  }

  push(job: J): void {
    const lane = this.#lanes.get(job.lane);
    if (lane) lane.push(job);
    else this.#lanes.set(job.lane, [job]);
  }

  /** Takes the next group: one unit from each lane in turn until the limits are reached, and at least one unit. */
  takeGroup(limits: GroupLimits): Taken<J>[] {
    const group: Taken<J>[] = [];
    const stepped = new Set<string>();
    let messages = 0;
    let bytes = 0;
    for (;;) {
      const next = this.#nextLane(stepped);
      const job = next?.[1][0];
      const sized = job?.units[job.taken];
      if (!next || !job || !sized) return group;
      const fits = messages + sized.messages <= limits.messages && bytes + sized.bytes <= limits.bytes;
      if (group.length > 0 && !fits) return group;
      messages += sized.messages;
      bytes += sized.bytes;
      group.push({ job, sized, index: job.taken });
      job.taken++;
      this.#rotate(next[0], next[1], job);
      if (job.stepwise) stepped.add(job.lane);
    }
  }

  /** Removes a job before its last unit, because one of its units failed. */
  abandon(job: J): void {
    const lane = this.#lanes.get(job.lane);
    if (lane?.[0] === job) this.#rotate(job.lane, lane, { ...job, taken: job.units.length });
  }

  /** Removes and returns all jobs. */
  drain(): J[] {
    const jobs = [...this.#lanes.values()].flat();
    this.#lanes.clear();
    return jobs;
  }

  #nextLane(stepped: ReadonlySet<string>): [string, J[]] | undefined {
    for (const entry of this.#lanes) if (!stepped.has(entry[0])) return entry;
    return undefined;
  }

  /** Moves the lane to the end of the queue, and removes its first job if that is done. */
  #rotate(name: string, lane: J[], job: Job): void {
    this.#lanes.delete(name);
    if (job.taken >= job.units.length) lane.shift();
    if (lane.length > 0) this.#lanes.set(name, lane);
  }
}
