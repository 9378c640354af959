/**
 * A waiter: somebody who waits until some sessions have been transferred. Only batches count that were taken after he
 * came: they hold all that was committed before. What others add later keeps him waiting no longer.
 */
export class Waiter {
  readonly ended: Promise<void>;
  readonly #lanes: Set<string>;
  readonly #end: () => void;

  /** The lanes by name. */
  constructor(lanes: readonly string[]) {
    let end = (): void => {};
    this.ended = new Promise<void>((resolve) => {
      end = resolve;
    });
    this.#end = end;
    this.#lanes = new Set(lanes);
    if (this.#lanes.size === 0) end();
  }

  waitsFor(lane: string): boolean {
    return this.#lanes.has(lane);
  }

  transferred(lane: string): void {
    this.#lanes.delete(lane);
    if (this.#lanes.size === 0) this.#end();
  }

  /** There is nothing more to wait for: nobody transfers at the moment. */
  giveUp(): void {
    this.#end();
  }
}
