/** What a slice of a forget has removed, and what it left. Spaces and facts by the store's own numbers of them. */
export class Gone {
  items = 0;
  facts = 0;
  /** Facts that lost a source and stay, by number. */
  readonly #left = new Map<number, string>();
  /** Copies in other spaces of what has gone. */
  readonly #copies = new Set<string>();

  lostSource({ key, id }: { readonly key: number; readonly id: string }): void {
    this.#left.set(key, id);
  }

  removedFact(key: number): void {
    this.facts++;
    this.#left.delete(key);
  }

  leftCopy(id: string, space: number): void {
    this.#copies.add(`${space} ${id}`);
  }

  removedCopy(id: string, space: number): void {
    this.#copies.delete(`${space} ${id}`);
  }

  get factsLeft(): readonly string[] {
    return [...new Set(this.#left.values())];
  }

  get copiesLeft(): number {
    return this.#copies.size;
  }
}
