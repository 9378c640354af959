/**
 * PagePool: the memory of all mirrors. It divides the memory of one kernel into pages and accounts for the mirrors' tables.
 *
 * All mirrors share one kernel memory, because each memory reserves much address space and cannot shrink: a returned page
 * is zeroed and reused. Invariant: pages and tables together never exceed the budget. A part of the budget is reserved for
 * tables, because pages cannot be returned to the system.
 */
import { createKernel } from "./kernel/create.js";
import { GROUP, type Kernel, PAGE_BYTES, PART_BYTES } from "./kernel/kernel.js";

/** The part of the budget that tables may use. */
const TABLES_PART = 1 / 8;
/** After the system refused memory, no more is requested for this long. */
const REFUSED_MS = 60_000;
/** Pages are allocated this many at a time, or an eighth of the current number: each allocation renews all views. */
const STEP = 16;
const STEP_PART = 8;

/** Vectors of more dimensions have no mirrors, because a group of four rows with both planes must fit on a page. */
export const DIMENSIONS_MAX = 8_176;
/**
 * The layout of the first page, which is scratch space: a question (int16), the products of one group of rows, then one
 * result per row of a page. Rows are staged in the same place before they are written. The last part is always zero.
 */
const QUESTION_BYTES = 2 * 8_192;
const GROUP_BYTES = 2 * GROUP * 4;
export const SCRATCH = {
  question: 0,
  group: QUESTION_BYTES,
  out: QUESTION_BYTES + GROUP_BYTES,
  rows: QUESTION_BYTES + GROUP_BYTES,
  zero: PAGE_BYTES - PART_BYTES,
} as const;
const SCRATCH_PAGES = 1;

export class PagePool {
  readonly kernel: Kernel;
  readonly budget: number;
  readonly #pagesMax: number;
  readonly #tablesMax: number;
  readonly #evict: () => boolean;
  readonly #passed: () => number;
  readonly #free: number[] = [];
  #refusedAt = Number.NEGATIVE_INFINITY;
  #pages = 0;
  #tables = 0;
  #views: Views;

  /** `evict` makes room if it can, and returns whether it did. */
  constructor(
    budget: number,
    evict: () => boolean,
    create: (pagesMax: number) => Kernel = createKernel,
    passed: () => number = () => performance.now(),
  ) {
    this.budget = budget;
    this.#evict = evict;
    this.#passed = passed;
    this.#tablesMax = Math.floor(budget * TABLES_PART);
    this.#pagesMax = Math.floor((budget - this.#tablesMax) / PAGE_BYTES);
    this.kernel = create(this.#pagesMax);
    this.#views = viewsOf(this.kernel);
  }

  /** The memory allocated from the system. */
  get bytes(): number {
    return this.#pages * PAGE_BYTES + this.#tables;
  }

  /** The number of pages available to mirrors. */
  get pagesMax(): number {
    return Math.max(0, (this.isRefused ? this.#pages : this.#pagesMax) - SCRATCH_PAGES);
  }

  /** Whether the system has refused memory a short time ago. */
  get isRefused(): boolean {
    return this.#passed() - this.#refusedAt < REFUSED_MS;
  }

  /** Views of the memory. Invalid after the next allocation. */
  get views(): Views {
    return this.#views;
  }

  /** The address of a zeroed page; undefined if there is none and no room can be made. */
  takePage(): number | undefined {
    while (this.#free.length === 0) if (!this.#grow() && !this.#evict()) return undefined;
    return this.#free.pop();
  }

  givePage(page: number): void {
    this.#views.int8.fill(0, page, page + PAGE_BYTES);
    this.#free.push(page);
  }

  /** Accounts for a table that is about to be allocated; false if there is no room for it and none can be made. */
  reserve(bytes: number): boolean {
    while (this.#tables + bytes > this.#tablesMax) if (!this.#evict()) return false;
    this.#tables += bytes;
    return true;
  }

  release(bytes: number): void {
    this.#tables -= bytes;
  }

  #grow(): boolean {
    const first = Math.max(this.#pages, SCRATCH_PAGES);
    const end = Math.min(first + Math.max(STEP, Math.floor(first / STEP_PART)), this.#pagesMax);
    if (end <= first || this.isRefused) return false;
    try {
      this.kernel.memory.grow(end - this.#pages);
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      this.#refusedAt = this.#passed();
      return false;
    }
    this.#pages = end;
    this.#views = viewsOf(this.kernel);
    for (let page = end - 1; page >= first; page--) this.#free.push(page * PAGE_BYTES);
    return true;
  }
}

export interface Views {
  readonly int8: Int8Array;
  readonly uint8: Uint8Array;
  readonly int16: Int16Array;
  readonly int32: Int32Array;
  readonly float32: Float32Array;
}

function viewsOf({ memory: { buffer } }: Kernel): Views {
  return {
    int8: new Int8Array(buffer),
    uint8: new Uint8Array(buffer),
    int16: new Int16Array(buffer),
    int32: new Int32Array(buffer),
    float32: new Float32Array(buffer),
  };
}
