/** Flights: work under way, by name. Who wants the same joins it; what fails fails for all of them, and is not kept. */
export class Flights<T> {
  readonly #underWay = new Map<string, Promise<T>>();

  find(name: string): Promise<T> | undefined {
    return this.#underWay.get(name);
  }

  /** The flight is over before anyone who waits for it goes on. */
  start(name: string, work: () => Promise<T>): Promise<T> {
    const flight: Promise<T> = work().finally(() => {
      if (this.#underWay.get(name) === flight) this.#underWay.delete(name);
    });
    this.#underWay.set(name, flight);
    return flight;
  }

  /** Nobody joins what is under way any more. */
  clear(): void {
    this.#underWay.clear();
  }
}
