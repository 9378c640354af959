/**
 * Where vectors lie: one table per vector space, made when the space is adopted, by whichever process.
 *
 * A row holds all chunks of an item. Its place is the key of the item's space, then the key of the item, so that the
 * vectors of a space lie together and are read one after the other.
 *
 * Invariants: an item has a row exactly if it is embedded (`indexed = version`) and has chunks. The table of a vector
 * space never changes and is never dropped; but nobody may prepare a statement for it before the head names its space.
 */
import { endianness } from "node:os";
import { HoldfastError } from "../../errors.js";
import type { Span } from "../../graphemes.js";
import type { VectorSpace } from "../../types.js";
import type { Database, Row, Statement, Value } from "./driver.js";

/** Bits of a place that hold the item's key. */
export const KEY_BITS = 36;
const SPAN_BYTES = 8;

// Places are computed in SQL: they may exceed what a number of JavaScript holds exactly, and none is ever read.

/** The place of an item; its parameters are the keys of the space and of the item. */
export const PLACE = `((? << ${KEY_BITS}) | ?)`;
/** The place of a row of `item`. */
export const ITEM_PLACE = `((item.space << ${KEY_BITS}) | item.key)`;
/** Behind all places of a space; its parameter is the key of the space. */
export const SPACE_END = `((? + 1) << ${KEY_BITS})`;
/** The key of the space of a row. */
export const SPACE_OF_PLACE = `(place >> ${KEY_BITS})`;
/** How many chunks a row has, in SQL. */
export const PARTS = `(length(spans) / ${SPAN_BYTES})`;

/** The vector space that the file keeps, and the table of its vectors. */
export interface VectorTable {
  readonly key: number;
  readonly name: string;
  readonly space: VectorSpace;
}

/** Reads which one it is at this moment, inside whatever transaction is open. */
export class VectorTables {
  readonly #database: Database;
  readonly #current: Statement;

  constructor(database: Database) {
    this.#database = database;
    this.#current = database.prepare(
      "SELECT key, model, runtime, dimensions FROM vector_space WHERE key = (SELECT vector_space FROM head)",
    );
  }

  current(): VectorTable | undefined {
    const row = this.#current.get();
    if (!row) return undefined;
    const key = Number(row["key"]);
    return { key, name: tableName(key), space: readVectorSpace(row) };
  }

  /** Requires that the file has none. */
  create(space: VectorSpace, now: number): VectorTable {
    const { model, runtime, dimensions } = space;
    const { lastInsertRowid } = this.#database
      .prepare("INSERT INTO vector_space (model, runtime, dimensions, created_at) VALUES (?, ?, ?, ?)")
      .run(model, runtime, dimensions, now);
    const key = Number(lastInsertRowid);
    const name = tableName(key);
    this.#database.exec(`
      CREATE TABLE ${name} (
        place INTEGER PRIMARY KEY,
        item INTEGER NOT NULL,
        commit_no INTEGER NOT NULL,
        spans BLOB NOT NULL,
        vectors BLOB NOT NULL
      );
      CREATE INDEX ${name}_commit ON ${name} (commit_no);
      UPDATE head SET vector_space = ${key};
    `);
    return { key, name, space };
  }
}

const tableName = (key: number): string => `vector_${key}`;

const readVectorSpace = (row: Row): VectorSpace => ({
  model: String(row["model"]),
  runtime: String(row["runtime"]),
  dimensions: Number(row["dimensions"]),
});

export const isSameSpace = (a: VectorSpace, b: VectorSpace): boolean =>
  a.model === b.model && a.runtime === b.runtime && a.dimensions === b.dimensions;

export function anotherVectorSpace(kept: VectorSpace, given: VectorSpace): HoldfastError {
  const named = ({ model, runtime, dimensions }: VectorSpace) => `${model} (${runtime}, ${dimensions} dimensions)`;
  return new HoldfastError("vector_space", `the file keeps vectors of ${named(kept)}, not of ${named(given)}`, {
    hint: "open it with the embedder that it was made with; vectors of two models cannot be compared",
    details: { kept, given },
  });
}

// Bytes: numbers are little-endian, on every machine.

const swapped = endianness() === "BE";

export function packVectors(vectors: Float32Array): Uint8Array {
  const bytes = new Uint8Array(vectors.buffer, vectors.byteOffset, vectors.byteLength);
  return swapped ? Buffer.from(bytes).swap32() : bytes;
}

/** A view where the bytes lie well for it, else a copy. */
export function unpackVectors(value: Value | undefined): Float32Array {
  const bytes = value as Uint8Array;
  const aligned = bytes.byteOffset % 4 === 0 && !swapped ? bytes : bytes.slice();
  if (swapped) Buffer.from(aligned.buffer).swap32();
  return new Float32Array(aligned.buffer, aligned.byteOffset, aligned.byteLength / 4);
}

export function packSpans(spans: readonly Span[]): Uint8Array {
  const bytes = Buffer.alloc(spans.length * SPAN_BYTES);
  for (const [at, { start, end }] of spans.entries()) {
    bytes.writeUInt32LE(start, at * SPAN_BYTES);
    bytes.writeUInt32LE(end, at * SPAN_BYTES + 4);
  }
  return bytes;
}

export function unpackSpans(value: Value | undefined): Span[] {
  const bytes = value as Uint8Array;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return Array.from({ length: bytes.byteLength / SPAN_BYTES }, (_, at) => ({
    start: view.getUint32(at * SPAN_BYTES, true),
    end: view.getUint32(at * SPAN_BYTES + 4, true),
  }));
}
