/**
 * Waiter: waits until a set of sessions has been transferred. Only batches taken after the waiter was created count,
 * because they contain everything committed before. Later adds do not prolong the wait.
 */
export class Waiter {
  readonly ended: Promise<void>;
  readonly #lanes: Set<string>;
  readonly #end: () => void;

  /** `lanes`: the lane keys. */
  constructor(lanes: readonly string[]) {
    let end = (): void => {};
    this.ended = new Promise<void>((resolve) => {
      end = resolve;
    });
    this.#end = end;
    this.#lanes = new Set(lanes);
    if (this.#lanes.size === 0) end();
  }

  transferred(lane: string): void {
    this.#lanes.delete(lane);
    if (this.#lanes.size === 0) this.#end();
  }

  /** Ends the wait, because no transfer is running. */
  giveUp(): void {
    this.#end();
  }
}
