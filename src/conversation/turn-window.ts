/** The newest turns, at most so many. To record one costs the same however many there are. */
import type { TurnRecord } from "./turn-record.js";

/** Room of turns that have left is given back when there are so many of them, and more than those that are left. */
const GAP_MIN = 32;

export class TurnWindow {
  readonly #max: number;
  #turns: TurnRecord[] = [];
  /** Where the oldest turn stands; what is before it has left and holds nothing. */
  #first = 0;

  constructor(max: number) {
    this.#max = max;
  }

  get length(): number {
    return this.#turns.length - this.#first;
  }

  push(turn: TurnRecord): void {
    this.#turns.push(turn);
    if (this.length <= this.#max) return;
    delete this.#turns[this.#first];
    this.#first++;
    if (this.#first < GAP_MIN || this.#first < this.length) return;
    this.#turns = this.#turns.slice(this.#first);
    this.#first = 0;
  }

  clear(): void {
    this.#turns = [];
    this.#first = 0;
  }

  /** Oldest first. */
  list(): readonly TurnRecord[] {
    return Object.freeze(this.#turns.slice(this.#first));
  }
}
