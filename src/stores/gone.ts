/** What a slice of a forget has removed, and what remains. Spaces and facts are given by the store's own numbers. */
export class Gone {
  items = 0;
  facts = 0;
  points = 0;
  /** Whether a receipt still names something that was removed. */
  keysLeft = false;
  /** Facts that lost a source and remain, by number. */
  readonly #left = new Map<number, string>();
  /** Copies of removed items in other spaces. */
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
