/**
 * Bytes of forgotten text that SQLite may leave behind, and how they are found.
 *
 * `secure_delete` zeroes what is freed, with one exception: when a page of a b-tree is split or merged, copies of cells
 * that moved away stay in the page's unallocated gap (measured: about 2 of 11,000 deleted texts). So after a forget the
 * gaps of all pages are searched for pieces of the forgotten text; if one is found, the file is rewritten (VACUUM).
 */
import { openSync, readSync, statSync } from "node:fs";
import { unpackWords } from "./codec.js";
import type { Row } from "./driver.js";

/** A piece of forgotten text: any residue of 2 × PIECE − 1 bytes or more contains one. */
const PIECE = 12;
/** Shorter words and ends of words are too common to tell anything. */
const WORD_END = 6;
/** Of vectors one piece in so many bytes is enough: a copy that is left behind is a row, or most of one. */
const VECTOR_STRIDE = 96;
/** A piece of a vector needs so many bytes other than zero to tell it from others. */
const TELLING_BYTES = 6;
/** Beyond this many pieces the search would cost more than the rewrite. */
const PIECES_MAX = 200_000;
const PAGES_PER_READ = 256;

/** What to look for: pieces of text and of vectors, and tokens of the words index ("space:term") that may be gone from it. */
export interface Traces {
  readonly pieces: readonly string[];
  readonly tokens: readonly string[];
}

/** The traces of what was forgotten since the last purge. */
export class Residue {
  #pieces = new Set<string>();
  #tokens = new Set<string>();
  #overflowed = false;

  /** Texts of a row, and its words. */
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

  /** The traces; undefined when they are too many to search for. Starts anew. */
  take(): Traces | undefined {
    const traces = this.#overflowed ? undefined : { pieces: [...this.#pieces], tokens: [...this.#tokens] };
    this.#pieces = new Set();
    this.#tokens = new Set();
    this.#overflowed = false;
    return traces;
  }
}

function addPieces(text: string, pieces: Set<string>): void {
  const bytes = Buffer.from(text, "utf8").toString("latin1");
  if (bytes.length >= WORD_END && bytes.length < PIECE) pieces.add(bytes);
  for (let at = 0; at + PIECE <= bytes.length; at += PIECE) pieces.add(bytes.slice(at, at + PIECE));
}

/** From each stretch the first piece that tells something; none from a stretch of zeros. */
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

/** The pieces of a word that no item has any more. The index stores words without what they share with the one before. */
export function addWordPieces(term: string, pieces: Set<string>): void {
  addPieces(term, pieces);
  const bytes = Buffer.from(term, "utf8").toString("latin1");
  if (bytes.length > WORD_END) pieces.add(bytes.slice(-WORD_END));
}

const descriptors = new Map<string, number>();

/**
 * A descriptor to read the file's bytes with, opened once per file and never closed: closing any descriptor of a file
 * drops all POSIX locks that this process has on it, SQLite's among them. Main thread only, which all stores share.
 */
export function descriptorOf(path: string): number {
  const { dev, ino } = statSync(path);
  const file = `${dev}:${ino}`;
  const descriptor = descriptors.get(file) ?? openSync(path, "r");
  descriptors.set(file, descriptor);
  return descriptor;
}

/** Whether any of the pieces stands in the unallocated gap of any b-tree page of the file. */
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

/** The bytes between a b-tree page's cell pointers and its cells; undefined for pages of another kind. */
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
