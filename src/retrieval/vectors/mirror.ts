/**
 * Mirror: the vectors of one space in memory. It finds the items that are nearest to a question.
 *
 * A row is one vector as int8 codes (codes.ts). A page holds the high bytes of all its rows, then their low bytes, then
 * the step, the error and the item of each row. The rows of an item are consecutive. A scan reads the high bytes only; they
 * give an upper bound of each row's score, and only rows that can be among the nearest are scored exactly. Removed rows are
 * zeroed at once and leave gaps. When a quarter of the rows are gaps, the mirror is compacted.
 *
 * Invariant: the bound of a row is never below its score.
 */
import { countIn, HEAD_BYTES, headOf } from "./codes.js";
import { ItemTable } from "./item-table.js";
import { GROUP, PART_BYTES } from "./kernel/kernel.js";
import type { Nearest } from "./nearest.js";
import { DIMENSIONS_MAX, type PagePool, SCRATCH } from "./page-pool.js";
import { type Question, ROUNDING, strideOf } from "./quantise.js";
import { RowPages, rowsPerPage } from "./row-pages.js";

/** A row's step, error and item, four bytes each. */
const NUMBERS_BYTES = 12;
/** Roughly the memory of a mirror in addition to its rows and items. */
const OWN_BYTES = 1_024;
/** The mirror is compacted when one row in this many is a gap. */
const GAPS_PART = 4;

const NO_ITEM = -1;

export class Mirror {
  readonly #pool: PagePool;
  readonly #dimensions: number;
  readonly #items: ItemTable;
  readonly #rows: RowPages;
  #size = 0;
  #gaps = 0;
  #isOpen: boolean;

  constructor(pool: PagePool, dimensions: number) {
    this.#pool = pool;
    this.#dimensions = dimensions;
    this.#items = new ItemTable(pool);
    this.#rows = new RowPages(pool, strideOf(dimensions), besideRow(dimensions), GROUP);
    this.#isOpen = pool.reserve(OWN_BYTES);
  }

  /** The number of items. */
  get items(): number {
    return this.#items.living;
  }

  /** The number of vectors. */
  get vectors(): number {
    return this.#size - this.#gaps;
  }

  /** Replaces an item's codes (codes.ts); false if there is no room. Then the mirror is unusable. */
  put(key: number, codes: Uint8Array): boolean {
    this.remove(key);
    const count = countIn(codes, this.#dimensions);
    if (count === 0) return true;
    if (!this.#isOpen || !this.#rows.fit(this.#size + count)) return false;
    const ordinal = this.#items.add(key, this.#size, count);
    if (ordinal === undefined) return false;
    this.#write(this.#size, count, ordinal, codes);
    this.#size += count;
    return true;
  }

  remove(key: number): boolean {
    const ordinal = this.#items.find(key);
    if (ordinal < 0) return false;
    const first = this.#items.firstRowOf(ordinal);
    const count = this.#items.rowsOf(ordinal);
    for (let row = first; row < first + count; row++) this.#erase(row);
    this.#items.remove(ordinal);
    this.#gaps += count;
    if (this.#gaps * GAPS_PART > this.#size) this.#pack();
    return true;
  }

  keys(): number[] {
    return this.#items.keys();
  }

  has(key: number): boolean {
    return this.#items.find(key) >= 0;
  }

  /** Releases all its memory. */
  clear(): void {
    this.#rows.trim(0);
    this.#items.clear();
    if (this.#isOpen) this.#pool.release(OWN_BYTES);
    this.#isOpen = false;
    this.#size = 0;
    this.#gaps = 0;
  }

  /** Marks the ordinals of those items that the mirror has. */
  select(keys: Iterable<number>): Uint8Array {
    const marks = new Uint8Array(this.#items.size);
    for (const key of keys) {
      const ordinal = this.#items.find(key);
      if (ordinal >= 0) marks[ordinal] = 1;
    }
    return marks;
  }

  /** The score of an item; undefined if the mirror does not have it. */
  score(key: number, question: Question): number | undefined {
    const ordinal = this.#items.find(key);
    if (ordinal < 0) return undefined;
    this.#writeQuestion(question);
    const first = this.#items.firstRowOf(ordinal);
    let best = this.#scoreOf(first, question);
    for (let part = 1; part < this.#items.rowsOf(ordinal); part++) {
      best = Math.max(best, this.#scoreOf(first + part, question));
    }
    return best;
  }

  /**
   * Offers all items, or only the selected ones, with their scores. Items whose bound is too low may be omitted.
   */
  scan(question: Question, selected: Uint8Array | undefined, nearest: Nearest): void {
    if (this.#size === 0) return; // there may be no memory yet
    this.#writeQuestion(question);
    const runs = selected ? this.#runsOf(selected) : [{ first: 0, end: this.#size }];
    for (const run of runs) this.#offer(question, run, nearest);
  }

  /** Copies the question to where the kernel reads it. */
  #writeQuestion({ numbers }: Question): void {
    const { int16 } = this.#pool.views;
    const place = SCRATCH.question >> 1;
    int16.fill(0, place, place + this.#rows.stride);
    int16.set(numbers, place);
  }

  /** Offers the items of these rows. Most rows, and most whole pages, are rejected by one comparison. */
  #offer(question: Question, { first, end }: Run, nearest: Nearest): void {
    const { perProduct, perError } = question;
    const { kernel, views } = this.#pool;
    const { int32, float32 } = views;
    const { stride, perPage } = this.#rows;
    const out = SCRATCH.out >> 2;
    let item = NO_ITEM;
    let best = 0;
    this.#rows.eachPart(first, end, (place, row, count) => {
      const beside = this.#besideOf(row);
      kernel.dots(place, count / GROUP, stride, SCRATCH.question, SCRATCH.out);
      const [steps, errors] = [beside * 4, (beside + perPage) * 4];
      const highest = kernel.bounds(SCRATCH.out, count, steps, errors, perProduct, perError);
      let { least } = nearest;
      if (highest + ROUNDING < least) return;
      const items = beside + 2 * perPage;
      const stop = Math.min(count, end - row);
      for (let part = Math.max(0, first - row); part < stop; part++) {
        if ((float32[out + part] as number) + ROUNDING < least) continue;
        const ordinal = int32[items + part] as number;
        if (ordinal === NO_ITEM) continue;
        if (ordinal !== item && item !== NO_ITEM) {
          nearest.offer(this.#items.keyAt(item), best);
          ({ least } = nearest);
        }
        const score = this.#scoreOf(row + part, question);
        best = ordinal === item ? Math.max(best, score) : score;
        item = ordinal;
      }
    });
    if (item !== NO_ITEM) nearest.offer(this.#items.keyAt(item), best);
  }

  /** Requires that `#writeQuestion` was called with this question. */
  #scoreOf(row: number, question: Question): number {
    const { kernel, views } = this.#pool;
    const { stride } = this.#rows;
    const inGroup = row % GROUP;
    const place = this.#rows.placeOf(row - inGroup);
    kernel.dots(place, 1, stride, SCRATCH.question, SCRATCH.group);
    kernel.dots(place + this.#toLow, 1, stride, SCRATCH.question, SCRATCH.group + GROUP * 4);
    const at = (SCRATCH.group >> 2) + inGroup;
    const step = views.float32[this.#besideOf(row)] as number;
    return question.score(step, views.int32[at] as number, views.int32[at + GROUP] as number);
  }

  /** The rows of the selected items. Adjacent rows are joined. */
  #runsOf(selected: Uint8Array): Run[] {
    const runs: { first: number; end: number }[] = [];
    for (let ordinal = 0; ordinal < selected.length; ordinal++) {
      if (selected[ordinal] === 0) continue;
      const first = this.#items.firstRowOf(ordinal);
      const end = first + this.#items.rowsOf(ordinal);
      const last = runs.at(-1);
      if (last?.end === first) last.end = end;
      else runs.push({ first, end });
    }
    return runs;
  }

  /** The distance from the high bytes of a row to its low bytes. */
  get #toLow(): number {
    return this.#rows.perPage * this.#rows.stride;
  }

  /** The index of a row's step in views of four-byte numbers. The errors and items of a page follow in the same order. */
  #besideOf(row: number): number {
    return ((this.#rows.pageOf(row) + 2 * this.#toLow) >> 2) + (row % this.#rows.perPage);
  }

  #write(first: number, count: number, ordinal: number, codes: Uint8Array): void {
    const start = count * HEAD_BYTES;
    const length = count * this.#dimensions;
    this.#writePlane(first, count, codes.subarray(start, start + length), 0);
    this.#writePlane(first, count, codes.subarray(start + length), this.#toLow);
    this.#writeBeside(first, count, ordinal, codes);
  }

  /**
   * Writes rows of bytes through the scratch page: as many at a time as fit there, or one by one if rows need padding.
   */
  #writePlane(first: number, count: number, bytes: Uint8Array, plane: number): void {
    const { uint8 } = this.#pool.views;
    const { perPage, stride } = this.#rows;
    const dimensions = this.#dimensions;
    const atOnce = stride === dimensions ? Math.floor((SCRATCH.zero - SCRATCH.rows) / stride) : 1;
    uint8.fill(0, SCRATCH.rows + dimensions, SCRATCH.rows + stride);
    for (let part = 0; part < count; ) {
      const row = first + part;
      const some = Math.min(atOnce, count - part, perPage - (row % perPage));
      uint8.set(bytes.subarray(part * dimensions, (part + some) * dimensions), SCRATCH.rows);
      this.#pool.kernel.lay(SCRATCH.rows, some, stride, this.#rows.pageOf(row) + plane, row % perPage);
      part += some;
    }
    uint8.fill(0, SCRATCH.rows, SCRATCH.rows + Math.min(count, atOnce) * stride); // the item may be forgotten next
  }

  #writeBeside(first: number, count: number, ordinal: number, codes: Uint8Array): void {
    const { int32, float32 } = this.#pool.views;
    const { perPage } = this.#rows;
    for (let part = 0; part < count; part++) {
      const at = this.#besideOf(first + part);
      const { step, error } = headOf(codes, part);
      float32[at] = step;
      float32[at + perPage] = error;
      int32[at + 2 * perPage] = ordinal;
    }
  }

  /** Copies both planes of a row. In the source, consecutive parts are `step` bytes apart. */
  #copyRow(source: number, sourceLow: number, step: number, row: number): void {
    const { kernel } = this.#pool;
    const parts = this.#rows.stride / PART_BYTES;
    const place = this.#rows.placeOf(row);
    kernel.copy(source, step, place, this.#rows.step, parts);
    kernel.copy(sourceLow, step, place + this.#toLow, this.#rows.step, parts);
  }

  #erase(row: number): void {
    const { int32, float32 } = this.#pool.views;
    this.#copyRow(SCRATCH.zero, SCRATCH.zero, 0, row);
    const at = this.#besideOf(row);
    float32[at] = 0;
    float32[at + this.#rows.perPage] = 0;
    int32[at + 2 * this.#rows.perPage] = NO_ITEM;
  }

  /** Compacts the rows, in the same order, and returns the pages that are no longer needed. */
  #pack(): void {
    let size = 0;
    this.#items.pack((ordinal, next) => {
      const first = this.#items.firstRowOf(ordinal);
      const start = size;
      for (let part = 0; part < this.#items.rowsOf(ordinal); part++) this.#move(first + part, size++, next);
      return start;
    });
    for (let row = size; row < this.#size; row++) this.#erase(row);
    this.#size = size;
    this.#gaps = 0;
    this.#rows.trim(size);
  }

  #move(from: number, to: number, ordinal: number): void {
    const { int32, float32 } = this.#pool.views;
    const place = this.#rows.placeOf(from);
    this.#copyRow(place, place + this.#toLow, this.#rows.step, to);
    const [source, target, step] = [this.#besideOf(from), this.#besideOf(to), this.#rows.perPage];
    float32[target] = float32[source] as number;
    float32[target + step] = float32[source + step] as number;
    int32[target + 2 * step] = ordinal;
  }
}

/** Rows from `first` to before `end`. */
interface Run {
  readonly first: number;
  readonly end: number;
}

/** The number of vectors of these dimensions per page; 0 if they cannot be mirrored. */
export const vectorsPerPage = (dimensions: number): number =>
  dimensions > DIMENSIONS_MAX ? 0 : rowsPerPage(strideOf(dimensions), besideRow(dimensions), GROUP);

/** The bytes of a row in addition to its high bytes: the low bytes and its numbers. */
const besideRow = (dimensions: number): number => strideOf(dimensions) + NUMBERS_BYTES;
