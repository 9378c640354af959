/**
 * Rows of one length on pages of the pool: each row lies on one page, and its page has as many as fit. They lie one after
 * the other, or in groups, part by part in turn (kernel.ts).
 */
import { PAGE_BYTES, PART_BYTES } from "./kernel/kernel.js";
import type { Pool } from "./pool.js";

export class RowPages {
  /** How many rows a page has; 0 if not even one fits. */
  readonly perPage: number;
  readonly stride: number;
  /** How many bytes lie between the beginnings of two parts of a row. */
  readonly step: number;
  readonly #group: number;
  readonly #pool: Pool;
  readonly #pages: number[] = [];

  /** `beside`: bytes that each row needs on its page beside its own; `group`: how many rows lie in a group. */
  constructor(pool: Pool, stride: number, beside: number, group: number) {
    this.#pool = pool;
    this.stride = stride;
    this.step = group * PART_BYTES;
    this.#group = group;
    this.perPage = rowsPerPage(stride, beside, group);
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
    const inGroup = row % this.#group;
    return this.pageOf(row) + ((row - inGroup) % this.perPage) * this.stride + inGroup * PART_BYTES;
  }

  /**
   * Tells of the rows from `first` to before `end` page by page, in whole groups: where they begin, which row that is, how
   * many they are. So rows before the first and behind the last may be among them.
   */
  eachPart(first: number, end: number, tell: (place: number, row: number, count: number) => void): void {
    for (let row = first - (first % this.#group); row < end; ) {
      const whole = Math.ceil((end - row) / this.#group) * this.#group;
      const count = Math.min(whole, this.perPage - (row % this.perPage));
      tell(this.placeOf(row), row, count);
      row += count;
    }
  }
}

/** How many rows a page has; only whole groups fit. */
export function rowsPerPage(stride: number, beside: number, group: number): number {
  return Math.floor(PAGE_BYTES / ((stride + beside) * group)) * group;
}
