/** Parking: sets aside items that could not be embedded and schedules their automatic retries. */
import { backOff } from "../../back-off.js";
import type { Clock } from "../../clock.js";
import { HoldfastError } from "../../errors.js";
import type { Untold } from "../../events/event.js";
import type { Events } from "../../events/events.js";
import type { ParkWrite, PendingItem } from "../../stores/indexing.js";
import type { RepeatableCommits } from "./commits.js";
import { nameOf } from "./in-flight.js";
import type { Leases } from "./leases.js";

const ATTEMPTS_MAX = 5;
const FIRST_MS = 30_000;

/**
 * The time of the next automatic retry. A text that the model refuses would be refused again, so it waits for `replay`
 * or an edit. Any other failure is retried after half a minute, with the delay doubling each time. After `ATTEMPTS_MAX`
 * attempts it waits for `replay` or an edit too.
 */
export function retryAfter(error: HoldfastError, attempts: number, now: number): number | undefined {
  if (error.code === "text_refused" || attempts >= ATTEMPTS_MAX) return undefined;
  return now + Math.round(backOff(attempts - 1, FIRST_MS, Infinity));
}

/** An item that could not be embedded, and why. */
export interface SetAside {
  readonly item: PendingItem;
  readonly error: HoldfastError;
}

export interface ParkingOptions {
  readonly commits: RepeatableCommits;
  readonly leases: Leases;
  readonly clock: Clock;
  readonly events?: Events | undefined;
}

export class Parking {
  readonly #options: ParkingOptions;
  readonly #attempts = new Map<string, number>();

  constructor(options: ParkingOptions) {
    this.#options = options;
  }

  /**
   * Parks the items whose lanes this process has leased, and publishes an event for each. Returns the number of items
   * parked.
   */
  async park(setAside: readonly SetAside[]): Promise<number> {
    const { commits, events } = this.#options;
    const parks = setAside.flatMap((one) => this.#write(one) ?? []);
    const results = await commits.commit(parks.map(({ write }) => write));
    let count = 0;
    for (const [at, { told }] of parks.entries()) {
      const done = results[at];
      if (done instanceof HoldfastError || done?.op !== "park" || done.parked === 0) continue;
      count++;
      events?.tell(told);
    }
    return count;
  }

  /** Resets the attempts of an item that was embedded. */
  forget(item: { readonly key: number; readonly version: number }): void {
    this.#attempts.delete(nameOf(item));
  }

  /** The event carries only the error code: the message may contain text from the embedder. */
  #write({ item, error }: SetAside): { readonly write: ParkWrite; readonly told: Untold } | undefined {
    const { leases, clock } = this.#options;
    const { key, id, version, lane } = item;
    const fence = leases.fenceOf(lane);
    if (fence === undefined) return undefined;
    const attempts = (this.#attempts.get(nameOf(item)) ?? 0) + 1;
    this.#attempts.set(nameOf(item), attempts);
    const retryAt = retryAfter(error, attempts, clock.now());
    const retry = retryAt === undefined ? {} : { retryAt };
    const items = [{ key, version, error: error.message, ...retry }];
    return {
      write: { op: "park", owner: leases.owner.id, lane, fence, items },
      told: { type: "parked", ...lane, id, code: error.code, ...retry },
    };
  }
}
