/** How often speakers' names contain a question's terms. */
import { analyse } from "../../retrieval/words/analyse.js";

export class NameCounts {
  readonly #terms: readonly string[];
  readonly #names = new Map<string, readonly number[] | undefined>();

  constructor(terms: readonly string[]) {
    this.#terms = terms;
  }

  /** Undefined if it contains none. */
  of(name: string | null): readonly number[] | undefined {
    if (name === null) return undefined;
    if (!this.#names.has(name)) this.#names.set(name, this.#count(name));
    return this.#names.get(name);
  }

  #count(name: string): readonly number[] | undefined {
    const words = analyse(name);
    const counts = this.#terms.map((term) => words.get(term) ?? 0);
    return counts.some((count) => count > 0) ? counts : undefined;
  }
}
