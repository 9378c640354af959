/** The expected contents of a file, from the reports of its workers, and the faults of its actual contents. */
import type { Call, Found } from "./protocol.js";

export class Books {
  /** Existing entries, oldest first: how often each was leased. */
  readonly #kept = new Map<number, number>();
  readonly #acknowledged = new Set<number>();
  readonly #injected = new Set<number>();
  readonly #rowids = new Map<number, number>();
  /** The call that was started and has not returned. */
  #underWay: Call | undefined;
  #done = 0;

  get done(): number {
    return this.#done;
  }

  get kept(): readonly number[] {
    return [...this.#kept.keys()];
  }

  get isLeasing(): boolean {
    return this.#underWay?.kind === "lease";
  }

  /** Ids that were added, or may have been. */
  get ids(): readonly number[] {
    return [...this.#injected, ...(this.#underWay?.kind === "inject" ? [this.#underWay.number] : [])];
  }

  begin(call: Call): void {
    this.#underWay = call;
  }

  /** The pending call has returned; returns what is wrong with its answer. */
  end(numbers: readonly number[]): string[] {
    const call = this.#underWay;
    this.#underWay = undefined;
    this.#done++;
    if (call?.kind === "push") this.#kept.set(call.number, 0);
    if (call?.kind === "inject") this.#injected.add(call.number);
    if (call?.kind === "lease") return this.#lease(numbers);
    if (call?.kind !== "acknowledge" && call?.kind !== "release") return [];
    if (call.kind === "acknowledge") this.#remove(numbers);
    return numbers.length === call.numbers.length ? [] : [`a lease was lost: ${call.numbers}`];
  }

  #lease(numbers: readonly number[]): string[] {
    const gone = numbers.filter((number) => !this.#kept.has(number));
    for (const number of numbers) this.#kept.set(number, (this.#kept.get(number) ?? 0) + 1);
    return gone.map((number) => `leased although it is gone: ${number}`);
  }

  #remove(numbers: readonly number[]): void {
    for (const number of numbers) {
      this.#kept.delete(number);
      this.#acknowledged.add(number);
    }
  }

  /**
   * Compares with the file after a kill. The file decides whether the pending call happened; it must be all or nothing.
   */
  audit({ entries, injected }: Found): string[] {
    const numbers = entries.map(({ number }) => number);
    const leasing = this.isLeasing ? 1 : 0;
    const problems = this.#settle(new Set(numbers), new Set(injected));
    for (const { number, rowid, attempts, isWhole } of entries) {
      if (this.#acknowledged.has(number)) problems.push(`came back: ${number}`);
      if (!isWhole) problems.push(`torn: ${number}`);
      const before = this.#rowids.get(number);
      const newest = Math.max(0, ...this.#rowids.values());
      if (before === undefined ? rowid <= newest : rowid !== before) problems.push(`rowid of ${number}: ${rowid}`);
      this.#rowids.set(number, rowid);
      const leases = this.#kept.get(number) ?? 0;
      if (attempts < leases || attempts > leases + leasing) problems.push(`attempts of ${number}: ${attempts}`);
      if (this.#kept.has(number)) this.#kept.set(number, attempts);
    }
    if (numbers.join() !== this.kept.join()) problems.push(`kept ${this.kept} but found ${numbers}`);
    const missing = [...this.#injected].filter((number) => !injected.includes(number));
    return [...problems, ...missing.map((number) => `injected id lost: ${number}`)];
  }

  #settle(found: ReadonlySet<number>, injected: ReadonlySet<number>): string[] {
    const call = this.#underWay;
    this.#underWay = undefined;
    if (call?.kind === "push" && found.has(call.number)) this.#kept.set(call.number, 0);
    if (call?.kind === "inject" && injected.has(call.number)) this.#injected.add(call.number);
    if (call?.kind !== "acknowledge") return [];
    const gone = call.numbers.filter((number) => !found.has(number));
    if (gone.length === call.numbers.length) this.#remove(gone);
    return gone.length === 0 || gone.length === call.numbers.length ? [] : [`acknowledged by half: ${gone}`];
  }
}
