/**
 * The inner loops of a search by vectors, in WebAssembly with SIMD (kernel.wat) where the machine has it, else in plain
 * JavaScript. Both give the same numbers, bit for bit.
 *
 * A kernel comes with the one memory that it works on: places are bytes from its beginning. A memory only grows.
 */

/** Memory is counted and grows in pages of this many bytes. */
export const PAGE_BYTES = 65_536;
/** What a kernel can address at most. */
export const PAGES_MAX = 65_536;
/** Rows are cut into parts of this many bytes. */
export const PART_BYTES = 16;
/** Rows of int8 lie in groups of this many, part by part in turn: memory is then read from end to end, a line at a time. */
export const GROUP = 4;

export interface Memory {
  readonly buffer: ArrayBuffer;
  /** By this many pages. Views of the old buffer are void then. Throws if there is no more. */
  grow(pages: number): void;
}

/**
 * Rows have `stride` bytes each, a multiple of 16; what they do not use is zero. Where nothing else is said they lie one
 * after the other.
 */
export interface Loops {
  /** Products of rows of int8, in groups, with a query of int16: one int32 per row, from `out` on. */
  dots(rows: number, groups: number, stride: number, query: number, out: number): void;
  /** Puts rows that lie one after the other at their places in groups, of which the first row is the `first`. */
  lay(source: number, count: number, stride: number, groups: number, first: number): void;
  /** Copies so many parts; on either side each begins `step` bytes after the one before. */
  copy(source: number, sourceStep: number, target: number, targetStep: number, parts: number): void;
  /**
   * Turns products into the highest scores that rows can have: the int32 from `out` on become float32,
   * scale · (product · perProduct + perScale) + error · perError. As many as `count`, rounded up to a multiple of 4.
   * Gives back the highest of them; NaN if one is that.
   */
  bounds(
    out: number,
    count: number,
    scales: number,
    errors: number,
    perProduct: number,
    perScale: number,
    perError: number,
  ): number;
  /** In how many bits rows differ from the query: one int32 per row, from `out` on. */
  distances(rows: number, count: number, stride: number, query: number, out: number): void;
  /**
   * Turns a row of `stride` float32 into one of int8. Writes the scale, then the sum of the squares of what is lost, as
   * two float32 from `out` on. A row of next to nothing becomes zeros.
   */
  quantise(source: number, stride: number, target: number, out: number): void;
  /** The signs of a row of int8, one bit each, set for what is negative: `stride` / 8 bytes at `target`. */
  signs(source: number, stride: number, target: number): void;
  /**
   * Products of rows of `dimensions` float32, without padding, with a query of as many float64: one float64 per row, from
   * `out` on. The same as `dot` gives (dot.ts).
   */
  products(rows: number, count: number, dimensions: number, query: number, out: number): void;
}

export interface Kernel extends Loops {
  readonly memory: Memory;
}
