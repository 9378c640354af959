/** The newest turns, up to a maximal number. Recording a turn takes constant time. */
import type { TurnRecord } from "./turn-record.js";

/** Evicted slots are compacted when there are this many of them, and more than turns. */
const GAP_MIN = 32;

export class TurnWindow {
  readonly #max: number;
  #turns: TurnRecord[] = [];
  /** The index of the oldest turn. Earlier slots are empty. */
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
