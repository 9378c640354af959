/**
 * Finds bytes of forgotten text that SQLite may leave in the file.
 *
 * `secure_delete` zeroes freed content, with one exception: when a b-tree page is split or merged, copies of moved
 * cells stay in the page's unallocated gap (measured: about 2 of 11,000 deleted texts). So after a forget, a purge
 * searches the gaps of all pages for pieces of the forgotten text. If it finds one, it rewrites the file (VACUUM).
 */
import { openSync, readSync, statSync } from "node:fs";
import type { Row } from "../file/driver.js";
import { unpackWords } from "./codec.js";

/** The length of a piece of forgotten text. Any residue of at least 2 × PIECE − 1 bytes contains a whole piece. */
const PIECE = 12;
/** Shorter words and word endings are too common to identify forgotten text. */
const WORD_END = 6;
/** One piece per this many bytes of a vector is enough: residue is a whole row, or most of one. */
const VECTOR_STRIDE = 96;
/** The minimum number of nonzero bytes that make a piece of a vector distinctive. */
const TELLING_BYTES = 6;
/**
 * The number of leading bytes of each text that are searched for, which is SQLite's maximum page size. Only the
 * beginning of a row moves between b-tree pages. The rest of a long row is in overflow pages, which are zeroed when
 * they are freed.
 */
const TEXT_BYTES_MAX = 65_536;
/** Searching for more pieces than this would cost more than rewriting the file. */
const PIECES_MAX = 200_000;
const PAGES_PER_READ = 256;

/**
 * What to search for: pieces of text and vectors, and tokens of the word index ("space:term") that may be gone from it.
 */
export interface Traces {
  readonly pieces: readonly string[];
  readonly tokens: readonly string[];
}

/** The traces of everything forgotten since the last purge. */
export class Residue {
  #pieces = new Set<string>();
  #tokens = new Set<string>();
  #overflowed = false;

  /** Records the texts of a row and its words. */
  remember({ words, space, ...texts }: Row): void {
    if (this.#overflowed) return;
    for (const value of Object.values(texts)) if (typeof value === "string") addPieces(value, this.#pieces);
    if (typeof words === "string") {
      for (const term of unpackWords(words).keys()) this.#tokens.add(`${Number(space).toString(36)}:${term}`);
    }
    this.#bound();
  }

  rememberVectors(bytes: Uint8Array): void {
    if (this.#overflowed) return;
    addVectorPieces(bytes, this.#pieces);
    this.#bound();
  }

  #bound(): void {
    if (this.#pieces.size + this.#tokens.size <= PIECES_MAX) return;
    this.take();
    this.#overflowed = true;
  }

  /** Returns the traces and resets them. Undefined if there were too many to search for. */
  take(): Traces | undefined {
    const traces = this.#overflowed ? undefined : { pieces: [...this.#pieces], tokens: [...this.#tokens] };
    this.#pieces = new Set();
    this.#tokens = new Set();
    this.#overflowed = false;
    return traces;
  }
}

function addPieces(text: string, pieces: Set<string>): void {
  const bytes = Buffer.from(text.slice(0, TEXT_BYTES_MAX), "utf8").toString("latin1", 0, TEXT_BYTES_MAX);
  if (bytes.length >= WORD_END && bytes.length < PIECE) pieces.add(bytes);
  for (let at = 0; at + PIECE <= bytes.length; at += PIECE) pieces.add(bytes.slice(at, at + PIECE));
}

/** Adds the first distinctive piece of each stride, if it has one. */
function addVectorPieces(vectors: Uint8Array, pieces: Set<string>): void {
  const bytes = Buffer.from(vectors.buffer, vectors.byteOffset, vectors.byteLength).toString("latin1");
  for (let stretch = 0; stretch < bytes.length; stretch += VECTOR_STRIDE) {
    const end = Math.min(stretch + VECTOR_STRIDE, bytes.length);
    for (let at = stretch; at + PIECE <= end; at++) {
      const piece = bytes.slice(at, at + PIECE);
      if (piece[0] === "\0" || piece.replaceAll("\0", "").length < TELLING_BYTES) continue;
      pieces.add(piece);
      break;
    }
  }
}

/**
 * Adds the pieces of a word that no item contains any more. The index stores a word without the prefix that it shares
 * with the word before it.
 */
export function addWordPieces(term: string, pieces: Set<string>): void {
  addPieces(term, pieces);
  const bytes = Buffer.from(term, "utf8").toString("latin1");
  if (bytes.length > WORD_END) pieces.add(bytes.slice(-WORD_END));
}

const descriptors = new Map<string, number>();

/**
 * A descriptor for reading the file's bytes, opened once per file and never closed: closing any descriptor of a file
 * drops all POSIX locks that the process holds on it, including SQLite's. Main thread only, because all stores share
 * it.
 */
export function descriptorOf(path: string): number {
  const { dev, ino } = statSync(path);
  const file = `${dev}:${ino}`;
  const descriptor = descriptors.get(file) ?? openSync(path, "r");
  descriptors.set(file, descriptor);
  return descriptor;
}

/** Whether the unallocated gap of any b-tree page of the file contains any of the pieces. */
export function findResidue(descriptor: number, wanted: ReadonlySet<string>): boolean {
  if (wanted.size === 0) return false;
  const lengths = [...new Set([...wanted].map(({ length }) => length))];
  const head = Buffer.alloc(100);
  readSync(descriptor, head, 0, 100, 0);
  const stated = head.readUInt16BE(16);
  const pageSize = stated === 1 ? 65_536 : stated;
  const pages = Buffer.alloc(pageSize * PAGES_PER_READ);
  for (let position = 0; ; position += pages.length) {
    const read = readSync(descriptor, pages, 0, pages.length, position);
    for (let start = 0; start + pageSize <= read; start += pageSize) {
      const header = position + start === 0 ? 100 : 0;
      const gap = unallocatedGap(pages.subarray(start, start + pageSize), header);
      if (gap && containsAny(gap, wanted, lengths)) return true;
    }
    if (read < pages.length) return false;
  }
}

/** The bytes between a b-tree page's cell pointers and its cells. Undefined for other pages. */
function unallocatedGap(page: Buffer, header: number): Buffer | undefined {
  const type = page[header];
  const interior = type === 2 || type === 5;
  if (!interior && type !== 10 && type !== 13) return undefined;
  const pointersEnd = header + (interior ? 12 : 8) + 2 * page.readUInt16BE(header + 3);
  const cellsStart = page.readUInt16BE(header + 5) || 65_536;
  return cellsStart > pointersEnd && cellsStart <= page.length ? page.subarray(pointersEnd, cellsStart) : undefined;
}

function containsAny(gap: Buffer, wanted: ReadonlySet<string>, lengths: readonly number[]): boolean {
  const text = gap.toString("latin1");
  for (let at = 0; at < text.length; at++) {
    if (text.charCodeAt(at) === 0) continue;
    for (const length of lengths)
      if (at + length <= text.length && wanted.has(text.slice(at, at + length))) return true;
  }
  return false;
}
