/**
 * RowPages: rows of equal length on pages of the pool. A page holds as many whole rows as fit. Rows are contiguous, or
 * interleaved in groups (kernel.ts).
 */
import { PAGE_BYTES, PART_BYTES } from "./kernel/kernel.js";
import type { PagePool } from "./page-pool.js";

export class RowPages {
  /** Number of rows per page; 0 if not even one fits. */
  readonly perPage: number;
  readonly stride: number;
  /** Distance in bytes between two parts of a row. */
  readonly step: number;
  readonly #group: number;
  readonly #pool: PagePool;
  readonly #pages: number[] = [];

  /** `beside`: extra bytes per row on its page; `group`: number of rows in a group. */
  constructor(pool: PagePool, stride: number, beside: number, group: number) {
    this.#pool = pool;
    this.stride = stride;
    this.step = group * PART_BYTES;
    this.#group = group;
    this.perPage = rowsPerPage(stride, beside, group);
  }

  get count(): number {
    return this.#pages.length;
  }

  /** Allocates pages for this many rows in total. Returns false if the pool is full. */
  fit(rows: number): boolean {
    if (this.perPage === 0) return rows === 0;
    while (this.#pages.length * this.perPage < rows) {
      const page = this.#pool.takePage();
      if (page === undefined) return false;
      this.#pages.push(page);
    }
    return true;
  }

  /** Returns the pages that this many rows do not need. */
  trim(rows: number): void {
    const needed = this.perPage === 0 ? 0 : Math.ceil(rows / this.perPage);
    for (const page of this.#pages.splice(needed)) this.#pool.givePage(page);
  }

  /** The address of a row's page. */
  pageOf(row: number): number {
    return this.#pages[Math.floor(row / this.perPage)] as number;
  }

  /** The address of a row. */
  placeOf(row: number): number {
    const inGroup = row % this.#group;
    return this.pageOf(row) + ((row - inGroup) % this.perPage) * this.stride + inGroup * PART_BYTES;
  }

  /**
   * Visits the rows from `first` up to but excluding `end`, page by page in whole groups. `visit` gets the address, the
   * first row and the number of rows of each part. Parts may include rows before `first` and from `end` on.
   */
  eachPart(first: number, end: number, visit: (place: number, row: number, count: number) => void): void {
    for (let row = first - (first % this.#group); row < end; ) {
      const whole = Math.ceil((end - row) / this.#group) * this.#group;
      const count = Math.min(whole, this.perPage - (row % this.perPage));
      visit(this.placeOf(row), row, count);
      row += count;
    }
  }
}

/** Number of rows per page; only whole groups fit. */
export function rowsPerPage(stride: number, beside: number, group: number): number {
  return Math.floor(PAGE_BYTES / ((stride + beside) * group)) * group;
}
