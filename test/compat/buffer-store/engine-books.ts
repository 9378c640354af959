/** What has become of every turn and item, from the reports of the processes; and what is wrong with it. */
import { type Arrival, type EngineReport, textOf } from "./engine-protocol.js";

export class EngineBooks {
  readonly #added = new Set<number>();
  /** By number, in the order of the first arrivals. */
  readonly #arrived = new Map<number, Arrival>();
  /** Delivered by the process that runs, which has not said that it knows. */
  #underWay: number[] = [];
  /** Must not be in the buffer any more. */
  readonly #gone = new Set<number>();
  readonly #injected = new Set<number>();
  #adding: number | undefined;
  #repeated = 0;

  get summary(): string {
    const { size: added } = this.#added;
    const { size: injected } = this.#injected;
    return `${added} turns added, ${this.#arrived.size} arrived, ${this.#repeated} of them twice; ${injected} items injected`;
  }

  get counts() {
    return {
      added: this.#added.size,
      arrived: this.#arrived.size,
      repeated: this.#repeated,
      injected: this.#injected.size,
    };
  }

  /** Returns what is wrong. */
  take(report: EngineReport): string[] {
    switch (report.say) {
      case "adding":
        this.#adding = report.number;
        return [];
      case "added":
        this.#added.add(report.number);
        return [];
      case "ingested":
        return report.episodes.flatMap((arrival) => this.#arrive(arrival));
      case "delivered":
        for (const number of this.#underWay) this.#gone.add(number);
        return [];
      case "injected":
        return report.items.flatMap((item) => {
          const isKnown = this.#injected.has(item);
          this.#injected.add(item);
          return isKnown ? [`injected twice: ${item}`] : [];
        });
      case "open":
        return this.#audit(report.numbers);
      case "finished":
        return this.#lost([]);
    }
  }

  #arrive(arrival: Arrival): string[] {
    const { id, number, text } = arrival;
    const problems: string[] = [];
    const known = this.#arrived.get(number);
    const newest = [...this.#arrived.keys()].at(-1) ?? 0;
    if (known) this.#repeated++;
    if (known && known.id !== id) problems.push(`arrived under two ids: ${number}`);
    if (!known && number < newest) problems.push(`arrived after ${newest}: ${number}`);
    if (text !== textOf(number)) problems.push(`torn: ${number}`);
    if (this.#gone.has(number)) problems.push(`came back: ${number}`);
    this.#arrived.set(number, arrival);
    this.#underWay.push(number);
    return problems;
  }

  /** Of the buffer after a kill. The turn that was being added may be there. */
  #audit(numbers: readonly number[]): string[] {
    if (this.#adding !== undefined && numbers.includes(this.#adding)) this.#added.add(this.#adding);
    this.#adding = undefined;
    this.#underWay = [];
    const unknown = numbers.filter((number) => !this.#added.has(number));
    const back = numbers.filter((number) => this.#gone.has(number));
    const isSorted = numbers.every((number, at) => at === 0 || number > (numbers[at - 1] ?? 0));
    return [
      ...this.#lost(numbers),
      ...unknown.map((number) => `was never added: ${number}`),
      ...back.map((number) => `came back: ${number}`),
      ...(isSorted ? [] : [`not in order: ${numbers}`]),
    ];
  }

  /** Neither in the buffer nor with the backend. */
  #lost(buffered: readonly number[]): string[] {
    const lost = [...this.#added].filter((number) => !this.#arrived.has(number) && !buffered.includes(number));
    return lost.map((number) => `lost: ${number}`);
  }
}
