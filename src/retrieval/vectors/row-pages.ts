/** Rows of one length on pages of the pool: each row lies on one page, and its page has as many as fit. */
import { PAGE_BYTES } from "./kernel/kernel.js";
import type { Pool } from "./pool.js";

export class RowPages {
  /** How many rows a page has; 0 if not even one fits. */
  readonly perPage: number;
  readonly stride: number;
  readonly #pool: Pool;
  readonly #pages: number[] = [];

  /** `beside`: bytes that each row needs on its page beside its own. */
  constructor(pool: Pool, stride: number, beside: number) {
    this.#pool = pool;
    this.stride = stride;
    this.perPage = Math.floor(PAGE_BYTES / (stride + beside));
  }

  get count(): number {
    return this.#pages.length;
  }

  /** Makes room for so many rows in all; false if there is none. */
  fit(rows: number): boolean {
    if (this.perPage === 0) return rows === 0;
    while (this.#pages.length * this.perPage < rows) {
      const page = this.#pool.takePage();
      if (page === undefined) return false;
      this.#pages.push(page);
    }
    return true;
  }

  /** Gives back the pages that so many rows do not need. */
  trim(rows: number): void {
    const needed = this.perPage === 0 ? 0 : Math.ceil(rows / this.perPage);
    for (const page of this.#pages.splice(needed)) this.#pool.givePage(page);
  }

  /** Where the page of a row begins. */
  pageOf(row: number): number {
    return this.#pages[Math.floor(row / this.perPage)] as number;
  }

  /** Where a row begins. */
  placeOf(row: number): number {
    return this.pageOf(row) + (row % this.perPage) * this.stride;
  }

  /** Tells of the rows from `first` to before `end` page by page: where they begin, how many they are. */
  eachPart(first: number, end: number, tell: (place: number, row: number, count: number) => void): void {
    for (let row = first; row < end; ) {
      const count = Math.min(end - row, this.perPage - (row % this.perPage));
      tell(this.placeOf(row), row, count);
      row += count;
    }
  }
}
