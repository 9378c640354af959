/** The calls of the books on a buffer: one at a time, each reported before it is made and when it has returned. */
import type { LeasedEntry, SqliteBufferStore } from "holdfast/buffer-store";
import { report } from "../../support/child.js";
import type { Random } from "../../support/random.js";
import { type Call, type Found, payloadOf, type Report } from "./protocol.js";

export type Payload = ReturnType<typeof payloadOf>;

export const say = (what: Report): void => report(what);

export class BufferCalls {
  readonly #store: SqliteBufferStore<Payload>;
  /** What was leased last, by number. */
  readonly #held = new Map<number, LeasedEntry<Payload>>();

  constructor(store: SqliteBufferStore<Payload>) {
    this.#store = store;
  }

  get held(): readonly number[] {
    return [...this.#held.keys()];
  }

  make(call: Call, leaseMs: number): void {
    say({ say: "begin", call });
    say({ say: "done", numbers: this.#answer(call, leaseMs) });
  }

  /** The numbers of the entries that the call affected, as far as it did what it should. */
  #answer(call: Call, leaseMs: number): readonly number[] {
    switch (call.kind) {
      case "push":
        this.#store.push(payloadOf(call.number), `session ${call.number % 3}`, "key");
        return [call.number];
      case "inject":
        this.#store.addInjectedId(`id-${call.number}`);
        return [call.number];
      case "lease": {
        const leased = this.#store.lease({ limit: 4, leaseMs });
        for (const entry of leased) this.#held.set(entry.payload.number, entry);
        return leased.map(({ payload }) => payload.number);
      }
      case "acknowledge":
      case "release": {
        const leases = call.numbers.flatMap((number) => this.#held.get(number) ?? []);
        for (const number of call.numbers) this.#held.delete(number);
        const ended = this.#store[call.kind](leases);
        return ended === call.numbers.length ? call.numbers : [];
      }
    }
  }

  choose(random: Random, number: number): Call {
    const kind = random.weighted<Call["kind"]>({ push: 5, inject: 2, lease: 2, acknowledge: 2, release: 1 });
    if (kind === "push" || kind === "inject") return { kind, number };
    if (kind === "lease" || this.#held.size === 0) return { kind: "lease" };
    return { kind, numbers: this.held.filter(() => random.chance(0.6)) };
  }
}

/** All entries, and which of the requested ids exist. */
export function look(store: SqliteBufferStore<Payload>, ids: readonly number[]): Found {
  const entries = store.getAll().map(({ rowid, payload, attempts }) => {
    const isWhole = payload.text === payloadOf(payload.number).text;
    return { rowid, number: payload.number, attempts, isWhole };
  });
  return { entries, injected: ids.filter((number) => store.hasInjectedId(`id-${number}`)) };
}
