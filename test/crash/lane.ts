/** One session of the writer. Chooses at random what to do next, from what it knows to exist. */
import type { Random } from "../support/random.js";
import type { AddOperation, Answer, Operation } from "./operation.js";
import type { Mood } from "./protocol.js";

type Choice = "one" | "round" | "batch" | "burst" | "full" | "large" | "update" | "delete" | "forget";

const WEIGHTS: { readonly [mood in Mood]: { readonly [choice in Choice]: number } } = {
  mixed: { one: 50, round: 15, batch: 10, burst: 10, full: 0.3, large: 0.2, update: 15, delete: 1, forget: 0.3 },
  growing: { one: 50, round: 15, batch: 10, burst: 10, full: 0.3, large: 0.2, update: 15, delete: 0, forget: 0 },
  forgetting: { one: 30, round: 10, batch: 5, burst: 5, full: 0.3, large: 0, update: 10, delete: 10, forget: 5 },
};

/** The most messages that one add writes in one piece. */
const FULL = 256;
/** In the mood for forgetting a session of more messages goes sooner, so that the file does not grow for ever. */
const LIVE_MAX = 150;
const LIVE_MAX_FORGET = 0.3;

export class Lane {
  readonly #index: number;
  readonly #random: Random;
  readonly #takeOp: () => number;
  readonly #live = new Map<string, number>();

  constructor(index: number, random: Random, takeOp: () => number) {
    this.#index = index;
    this.#random = random;
    this.#takeOp = takeOp;
  }

  knows({ id, version }: { readonly id: string; readonly version: number }): void {
    this.#live.set(id, version);
  }

  /** The operations to do at once: several adds, or one of anything. */
  next(mood: Mood): Operation[] {
    const random = this.#random;
    const base = { op: this.#takeOp(), lane: this.#index };
    const full = mood === "forgetting" && this.#live.size > LIVE_MAX && random.chance(LIVE_MAX_FORGET);
    const choice = full ? "forget" : random.weighted(WEIGHTS[mood]);
    if (choice === "forget") return [{ ...base, kind: "forget" }];
    if (choice === "burst") {
      return [this.#add(base.op, [1]), this.#add(this.#takeOp(), [2]), this.#add(this.#takeOp(), [1])];
    }
    const ids = [...this.#live.keys()];
    if (choice === "update" && ids.length > 0) {
      const id = random.pick(ids);
      return [{ ...base, kind: "update", id, version: this.#live.get(id) ?? 0, size: this.#size() }];
    }
    if (choice === "delete" && ids.length > 0) {
      const wanted = new Set(Array.from({ length: random.between(1, 3) }, () => random.pick(ids)));
      return [{ ...base, kind: "delete", ids: [...wanted] }];
    }
    return [this.#add(base.op, this.#rounds(choice))];
  }

  #rounds(choice: Choice): readonly number[] {
    if (choice === "round") return [this.#random.between(2, 6)];
    if (choice === "batch") return Array.from({ length: this.#random.between(2, 5) }, () => this.#random.between(1, 4));
    if (choice === "full") return [FULL];
    if (choice === "large") return [FULL + this.#random.between(1, 50)];
    return [1];
  }

  #add(op: number, counts: readonly number[]): AddOperation {
    const retry = this.#random.weighted({ key: 2, ids: 1, none: 2 });
    const rounds = counts.map((count) => Array.from({ length: count }, () => (count > 10 ? 60 : this.#size())));
    return { kind: "add", op, lane: this.#index, rounds, retry };
  }

  /** Mostly short, sometimes longer than a page of the file. */
  #size(): number {
    return this.#random.chance(0.7) ? this.#random.between(20, 200) : this.#random.between(1_000, 6_000);
  }

  done(operation: Operation, answer: Answer): void {
    if (operation.kind === "forget") this.#live.clear();
    if (operation.kind === "delete") for (const id of operation.ids) this.#live.delete(id);
    if (operation.kind === "update") this.#live.set(operation.id, answer.version ?? 0);
    if (operation.kind === "add") for (const id of answer.ids ?? []) this.#live.set(id, 1);
  }
}
