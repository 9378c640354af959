/**
 * Pool: a bounded amount of a resource (slots, bytes), shared by callers. A caller gets more only while it holds no more
 * than is free, so no caller can exhaust the pool: one greedy caller ends up with half, two with a third each, and an equal
 * share is left for the next one. This is the dynamic threshold by which switches share their buffers.
 */
export class Pool {
  readonly #max: number;
  /** By caller. Callers that hold nothing have no entry. */
  readonly #held = new Map<string, number>();
  #used = 0;

  constructor(max: number) {
    this.#max = max;
  }

  get used(): number {
    return this.#used;
  }

  /** The amount that the caller holds. */
  heldBy(who: string): number {
    return this.#held.get(who) ?? 0;
  }

  /** Why the caller may not take `amount` more. full: no caller may · share: others still may. */
  refusal(who: string, amount: number): "full" | "share" | undefined {
    const free = this.#max - this.#used;
    if (amount > free) return "full";
    return this.heldBy(who) > free ? "share" : undefined;
  }

  /** Takes `amount`; a negative amount is given back. */
  take(who: string, amount: number): void {
    this.#used += amount;
    const held = this.heldBy(who) + amount;
    if (held > 0) this.#held.set(who, held);
    else this.#held.delete(who);
  }
}
