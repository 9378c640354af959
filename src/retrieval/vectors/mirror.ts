/**
 * The vectors of one space in memory, in few bits: it says of each item how high its score can be at most.
 *
 * A row is a vector of int8, with its scale, its error and its item beside it on the same page; the rows of an item follow
 * each other. What is removed is zeroed at once and leaves a gap; when a quarter of the rows are gaps, the
 * rest moves together. From `signsFrom` rows on, each row also has its signs, one bit per dimension: a search looks at
 * those first, and at the rows themselves only where they are among the nearest.
 *
 * Invariant: the bound of an item is never below its score, if it is looked at. Without signs every item is.
 */
import { codeLength, HEAD_BYTES, headsOf } from "./codes.js";
import { ItemTable } from "./item-table.js";
import { GROUP, PART_BYTES } from "./kernel/kernel.js";
import { Nearest, type Offered } from "./nearest.js";
import { DESK, DIMENSIONS_MAX, type Pool } from "./pool.js";
import { type Question, ROUNDING, signStrideOf, strideOf, writeSigns } from "./quantise.js";
import { RowPages, rowsPerPage } from "./row-pages.js";

/** Above so many rows signs come first. */
export const SIGNS_FROM = 250_000;
/** A row's scale, error and item, four bytes each. */
const BESIDE = 12;
/** What a mirror takes beside its rows and items, about. */
const OWN_BYTES = 1_024;
/** Rows move together when one in so many is a gap. */
const GAPS_PART = 4;
/** By their signs so many rows are found for each item wanted, and one in so many of all rows at least. */
const NEAR_PER_ITEM = 64;
const NEAR_PART = 32;

const NO_ITEM = -1;

export class Mirror {
  readonly #pool: Pool;
  readonly #dimensions: number;
  readonly #signsFrom: number;
  readonly #items: ItemTable;
  readonly #rows: RowPages;
  readonly #signs: RowPages;
  #size = 0;
  #gaps = 0;
  /** How many rows have signs: none, or all. */
  #signed = 0;
  #isOpen: boolean;
  /** The largest scale and the largest error that any of its rows had. */
  #scaleMax = 0;
  #errorMax = 0;

  constructor(pool: Pool, dimensions: number, signsFrom = SIGNS_FROM) {
    this.#pool = pool;
    this.#dimensions = dimensions;
    this.#signsFrom = signsFrom;
    this.#items = new ItemTable(pool);
    this.#rows = new RowPages(pool, strideOf(dimensions), BESIDE, GROUP);
    this.#signs = new RowPages(pool, signStrideOf(dimensions), 0, 1);
    this.#isOpen = pool.reserve(OWN_BYTES);
  }

  /** Items that are in it. */
  get items(): number {
    return this.#items.living;
  }

  /** Vectors that are in it. */
  get vectors(): number {
    return this.#size - this.#gaps;
  }

  /** Takes an item's codes (codes.ts) in place of those it had; false if there is no room. Then the mirror is of no use. */
  put(key: number, codes: Uint8Array): boolean {
    this.remove(key);
    const count = Math.floor(codes.length / codeLength(this.#dimensions));
    if (count === 0) return true;
    if (!this.#isOpen || !this.#fit(this.#size + count)) return false;
    const ordinal = this.#items.add(key, this.#size, count);
    if (ordinal === undefined) return false;
    this.#write(this.#size, count, ordinal, codes);
    this.#size += count;
    return this.#sign();
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

  /** Gives everything back. */
  clear(): void {
    this.#rows.trim(0);
    this.#signs.trim(0);
    this.#items.clear();
    if (this.#isOpen) this.#pool.release(OWN_BYTES);
    this.#isOpen = false;
    this.#size = 0;
    this.#gaps = 0;
    this.#signed = 0;
  }

  /** Which of these items it has, as marks at their ordinals. */
  select(keys: Iterable<number>): Uint8Array {
    const marks = new Uint8Array(this.#items.size);
    for (const key of keys) {
      const ordinal = this.#items.find(key);
      if (ordinal >= 0) marks[ordinal] = 1;
    }
    return marks;
  }

  /**
   * Offers the items, all or only the selected, by the highest score that each can have. `wanted`: how many of the best
   * are asked for, which matters only where signs decide who is looked at; with Infinity all are.
   * Gives back whether all were.
   */
  look(question: Question, selected: Uint8Array | undefined, wanted: number, nearest: Offered): boolean {
    if (this.#size === 0) return true; // there may be no memory yet
    const { uint8 } = this.#pool.views;
    this.#lay(question);
    const runs = selected ? this.#runsOf(selected) : [{ first: 0, end: this.#size }];
    const rows = runs.reduce((sum, { first, end }) => sum + end - first, 0);
    const near = Math.max(wanted * NEAR_PER_ITEM, Math.ceil(rows / NEAR_PART));
    const areFew = this.#signed === 0 || rows <= this.#signsFrom || near >= rows;
    if (!areFew) {
      uint8.fill(0, DESK.signs, DESK.signs + this.#signs.stride);
      writeSigns(question, uint8, DESK.signs);
      for (const run of this.#runsOf(this.#nearest(runs, rows, near))) this.#offer(question, run, nearest);
    } else for (const run of runs) this.#offer(question, run, nearest);
    return areFew;
  }

  /** By how much the highest score that an item can have may exceed its score. */
  slack({ perScale, perError }: Question): number {
    return 2 * (this.#scaleMax * perScale + this.#errorMax * perError + ROUNDING);
  }

  /** The highest score that each of these items can have; undefined for those that are not here. */
  boundsOf(question: Question, keys: readonly number[]): (number | undefined)[] {
    if (this.#size > 0) this.#lay(question);
    return keys.map((key) => {
      const ordinal = this.#items.find(key);
      if (ordinal < 0) return undefined;
      const first = this.#items.firstRowOf(ordinal);
      const best = new Nearest(1);
      this.#offer(question, { first, end: first + this.#items.rowsOf(ordinal) }, best);
      return best.least;
    });
  }

  /** Puts the question where the kernel finds it. */
  #lay({ numbers }: Question): void {
    const { int16 } = this.#pool.views;
    const place = DESK.question >> 1;
    int16.fill(0, place, place + this.#rows.stride);
    int16.set(numbers, place);
  }

  /** Offers the items of these rows. Most rows are not near enough: they cost one comparison, and most pages of them too. */
  #offer({ perProduct, perScale, perError }: Question, { first, end }: Run, nearest: Offered): void {
    const { kernel, views } = this.#pool;
    const { int32, float32 } = views;
    const { stride, perPage } = this.#rows;
    const out = DESK.out >> 2;
    let item = NO_ITEM;
    let best = 0;
    this.#rows.eachPart(first, end, (place, row, count) => {
      const beside = this.#besideOf(row);
      kernel.dots(place, count / GROUP, stride, DESK.question, DESK.out);
      const [scales, errors] = [beside * 4, (beside + perPage) * 4];
      const highest = kernel.bounds(DESK.out, count, scales, errors, perProduct, perScale, perError);
      let { least } = nearest;
      if (highest + ROUNDING < least) return;
      const items = beside + 2 * perPage;
      const stop = Math.min(count, end - row);
      for (let part = Math.max(0, first - row); part < stop; part++) {
        const bound = (float32[out + part] as number) + ROUNDING;
        if (bound < least) continue;
        const ordinal = int32[items + part] as number;
        if (ordinal === NO_ITEM) continue;
        if (ordinal !== item && item !== NO_ITEM) {
          nearest.offer(this.#items.keyAt(item), best);
          ({ least } = nearest);
        }
        best = ordinal === item ? Math.max(best, bound) : bound;
        item = ordinal;
      }
    });
    if (item !== NO_ITEM) nearest.offer(this.#items.keyAt(item), best);
  }

  /** Marks items of rows whose signs differ least from the question's: so many rows, and all that are equally near. */
  #nearest(runs: readonly Run[], rows: number, wanted: number): Uint8Array {
    const { kernel, views } = this.#pool;
    const { stride } = this.#signs;
    const distances = new Uint16Array(rows);
    const counts = new Uint32Array(this.#dimensions + 1);
    let at = 0;
    for (const { first, end } of runs) {
      this.#signs.eachPart(first, end, (place, _, count) => {
        kernel.distances(place, count, stride, DESK.signs, DESK.out);
        for (let out = DESK.out >> 2; out < (DESK.out >> 2) + count; out++) {
          const distance = views.int32[out] as number;
          distances[at++] = distance;
          counts[distance] = (counts[distance] as number) + 1;
        }
      });
    }
    let farthest = 0;
    for (let sum = counts[0] as number; sum < wanted && farthest < this.#dimensions; ) {
      sum += counts[++farthest] as number;
    }
    const marks = new Uint8Array(this.#items.size);
    at = 0;
    for (const { first, end } of runs) {
      for (let row = first; row < end; row++) if ((distances[at++] as number) <= farthest) this.#mark(row, marks);
    }
    return marks;
  }

  /** Marks the item of a row, unless the row is a gap. */
  #mark(row: number, marks: Uint8Array): void {
    const ordinal = this.#pool.views.int32[this.#besideOf(row) + 2 * this.#rows.perPage] as number;
    if (ordinal !== NO_ITEM) marks[ordinal] = 1;
  }

  /** The rows of the selected items, those that lie together as one. */
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

  #fit(rows: number): boolean {
    return this.#rows.fit(rows) && (this.#signed === 0 || this.#signs.fit(rows));
  }

  /** Where a row's scale stands, in steps of four bytes; its error and its item follow in the same order. */
  #besideOf(row: number): number {
    const { perPage, stride } = this.#rows;
    return ((this.#rows.pageOf(row) + perPage * stride) >> 2) + (row % perPage);
  }

  /** Lays down the rows of an item: by way of the desk, as many at a time as lie there, if nothing has to stand between. */
  #write(first: number, count: number, ordinal: number, codes: Uint8Array): void {
    const { uint8 } = this.#pool.views;
    const { perPage, stride } = this.#rows;
    const dimensions = this.#dimensions;
    const start = count * HEAD_BYTES;
    const atOnce = stride === dimensions ? Math.floor((DESK.zero - DESK.rows) / stride) : 1;
    uint8.fill(0, DESK.rows + dimensions, DESK.rows + stride);
    for (let part = 0; part < count; ) {
      const row = first + part;
      const some = Math.min(atOnce, count - part, perPage - (row % perPage));
      const from = start + part * dimensions;
      uint8.set(codes.subarray(from, from + some * dimensions), DESK.rows);
      this.#pool.kernel.lay(DESK.rows, some, stride, this.#rows.pageOf(row), row % perPage);
      part += some;
    }
    uint8.fill(0, DESK.rows, DESK.rows + Math.min(count, atOnce) * stride); // nothing stays that may be forgotten next
    this.#writeBeside(first, count, ordinal, headsOf(codes));
  }

  #writeBeside(first: number, count: number, ordinal: number, heads: DataView): void {
    const { int32, float32 } = this.#pool.views;
    const { perPage } = this.#rows;
    for (let part = 0; part < count; part++) {
      const at = this.#besideOf(first + part);
      const scale = heads.getFloat32(part * HEAD_BYTES, true);
      const error = heads.getFloat32(part * HEAD_BYTES + HEAD_BYTES / 2, true);
      this.#scaleMax = Math.max(this.#scaleMax, scale);
      this.#errorMax = Math.max(this.#errorMax, error);
      float32[at] = scale;
      float32[at + perPage] = error;
      int32[at + 2 * perPage] = ordinal;
    }
  }

  /** Copies a row to its place, from where its parts lie so many bytes apart. */
  #take(source: number, step: number, row: number): void {
    this.#pool.kernel.copy(source, step, this.#rows.placeOf(row), this.#rows.step, this.#rows.stride / PART_BYTES);
  }

  #erase(row: number): void {
    const { int8, int32, float32 } = this.#pool.views;
    this.#take(DESK.zero, 0, row);
    const at = this.#besideOf(row);
    float32[at] = 0;
    float32[at + this.#rows.perPage] = 0;
    int32[at + 2 * this.#rows.perPage] = NO_ITEM;
    if (row >= this.#signed) return;
    const signs = this.#signs.placeOf(row);
    int8.fill(0, signs, signs + this.#signs.stride);
  }

  /** Gives the rows that need them their signs; false if there is no room. */
  #sign(): boolean {
    if (this.#signed === 0 && this.#size <= this.#signsFrom) return true;
    if (!this.#signs.fit(this.#size)) return false;
    const { kernel } = this.#pool;
    const { stride, step } = this.#rows;
    for (; this.#signed < this.#size; this.#signed++) {
      kernel.copy(this.#rows.placeOf(this.#signed), step, DESK.rows, PART_BYTES, stride / PART_BYTES);
      kernel.signs(DESK.rows, stride, this.#signs.placeOf(this.#signed));
    }
    this.#pool.views.uint8.fill(0, DESK.rows, DESK.rows + stride);
    return true;
  }

  /** Moves the rows together, in the same order, and gives back the pages that are not needed any more. */
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
    this.#signed = Math.min(this.#signed, size);
    this.#rows.trim(size);
    this.#signs.trim(this.#signed);
  }

  #move(from: number, to: number, ordinal: number): void {
    const { int8, int32, float32 } = this.#pool.views;
    this.#take(this.#rows.placeOf(from), this.#rows.step, to);
    const [source, target, step] = [this.#besideOf(from), this.#besideOf(to), this.#rows.perPage];
    float32[target] = float32[source] as number;
    float32[target + step] = float32[source + step] as number;
    int32[target + 2 * step] = ordinal;
    if (from >= this.#signed) return;
    const signs = this.#signs.placeOf(from);
    int8.copyWithin(this.#signs.placeOf(to), signs, signs + this.#signs.stride);
  }
}

/** Rows from `first` to before `end`. */
interface Run {
  readonly first: number;
  readonly end: number;
}

/** How many vectors of so many dimensions a page has; 0: they cannot be mirrored. */
export const vectorsPerPage = (dimensions: number): number =>
  dimensions > DIMENSIONS_MAX ? 0 : rowsPerPage(strideOf(dimensions), BESIDE, GROUP);
