/**
 * The inner loops of vector search: WebAssembly with SIMD (kernel.wat) if the machine supports it, otherwise plain
 * JavaScript. Both produce the same numbers, bit for bit.
 *
 * Each kernel has one memory, which only grows. Addresses are byte offsets into it.
 */

/** The unit of memory allocation, in bytes. */
export const PAGE_BYTES = 65_536;
/** The maximum number of pages per kernel. */
export const PAGES_MAX = 65_536;
/** Rows are split into parts of this many bytes. */
export const PART_BYTES = 16;
/** Int8 rows are interleaved part by part in groups of this many, so that memory is read sequentially. */
export const GROUP = 4;

export interface KernelMemory {
  readonly buffer: ArrayBuffer;
  /** Grows by this many pages. Views of the old buffer become invalid. Throws if memory is exhausted. */
  grow(pages: number): void;
}

/**
 * Rows have `stride` bytes each, a multiple of 16; unused bytes are zero. Rows are contiguous unless stated otherwise.
 */
export interface Loops {
  /** Dot products of interleaved int8 rows with an int16 query. Writes one int32 per row, starting at `out`. */
  dots(rows: number, groups: number, stride: number, query: number, out: number): void;
  /** Interleaves contiguous rows into groups. The first becomes row `first`. */
  lay(source: number, count: number, stride: number, groups: number, first: number): void;
  /** Copies `parts` parts. In source and target, consecutive parts are `sourceStep` and `targetStep` bytes apart. */
  copy(source: number, sourceStep: number, target: number, targetStep: number, parts: number): void;
  /**
   * Converts products to the upper bounds of the rows' scores, in place: each int32 from `out` on becomes the float32
   * step · product · perProduct + error · perError. Processes `count` rows, rounded up to a multiple of 4. Returns the
   * highest bound, or NaN if any bound is NaN.
   */
  bounds(out: number, count: number, steps: number, errors: number, perProduct: number, perError: number): number;
}

export interface Kernel extends Loops {
  readonly memory: KernelMemory;
}
