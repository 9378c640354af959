/**
 * Where vectors lie: one table per vector space, made when the space is adopted, by whichever process.
 *
 * A row holds all chunks of an item. Its place is the key of the item's space, then the key of the item, so that the
 * vectors of a space lie together and are read one after the other. Beside each such table stands one of codes
 * (retrieval/vectors/codes.ts) at the same places, of which mirrors are loaded.
 *
 * Invariants: an item that is embedded (`indexed = version`) and has chunks has a row in the served table; one that is not
 * has none, but for a moment after a switch (reindex-switch.ts). Where there is a row of vectors there is one of codes,
 * and the other way round: a trigger takes codes away with their vectors. A table never changes. It is dropped when it is no longer
 * in use and empty; so nobody may prepare a statement for one that was not named on the same snapshot.
 */
import { endianness } from "node:os";
import { HoldfastError } from "../../errors.js";
import type { Span } from "../../graphemes.js";
import type { VectorSpace } from "../../types.js";
import { nameOfSpace } from "../vector-space.js";
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
/** The key of the item of a row. */
export const KEY_OF_PLACE = `(place & ((1 << ${KEY_BITS}) - 1))`;
/** The key of the space of a row. */
export const SPACE_OF_PLACE = `(place >> ${KEY_BITS})`;
/** How many chunks a row has, in SQL. */
export const PARTS = `(length(spans) / ${SPAN_BYTES})`;

/** The vector space that the file keeps, and the table of its vectors. */
export interface VectorTable {
  readonly key: number;
  readonly name: string;
  /** The name of the table of its codes. */
  readonly codes: string;
  readonly space: VectorSpace;
}

/**
 * served: its vectors are searched · next: it is being filled to be served · former: it was served, abandoned: it was to
 * be; both are being emptied.
 */
export type VectorTableRole = "served" | "next" | "former" | "abandoned";

/** Codes of `vector_space.state`. */
export const FORMER = 1;
export const ABANDONED = 2;
export const REMOVED = 3;

/** Reads which ones there are at this moment, inside whatever transaction is open. */
export class VectorTables {
  readonly #database: Database;
  readonly #current: Statement;
  readonly #next: Statement;
  readonly #all: Statement;

  constructor(database: Database) {
    this.#database = database;
    const select = "SELECT key, model, runtime, dimensions";
    this.#current = database.prepare(`${select} FROM vector_space WHERE key = (SELECT vector_space FROM head)`);
    this.#next = database.prepare(`${select} FROM vector_space WHERE key = (SELECT next_space FROM head)`);
    this.#all = database.prepare(
      `${select}, CASE WHEN state = ${FORMER} THEN 'former' WHEN state = ${ABANDONED} THEN 'abandoned'
         WHEN key = head.next_space THEN 'next' ELSE 'served' END AS role
       FROM vector_space CROSS JOIN head WHERE state <> ${REMOVED}`,
    );
  }

  /** The one that is served. */
  current(): VectorTable | undefined {
    return readTable(this.#current.get());
  }

  /** The one that is being filled. */
  next(): VectorTable | undefined {
    return readTable(this.#next.get());
  }

  all(): readonly (VectorTable & { readonly role: VectorTableRole })[] {
    return this.#all.all().map((row) => ({ ...toTable(row), role: row["role"] as VectorTableRole }));
  }

  /** The caller takes note of it in the head. */
  create(space: VectorSpace, now: number): VectorTable {
    const { model, runtime, dimensions } = space;
    const { lastInsertRowid } = this.#database
      .prepare("INSERT INTO vector_space (model, runtime, dimensions, created_at) VALUES (?, ?, ?, ?)")
      .run(model, runtime, dimensions, now);
    const key = Number(lastInsertRowid);
    const table = tableOf(key, space);
    const { name } = table;
    this.#database.exec(`
      CREATE TABLE ${name} (
        place INTEGER PRIMARY KEY,
        item INTEGER NOT NULL,
        commit_no INTEGER NOT NULL,
        spans BLOB NOT NULL,
        vectors BLOB NOT NULL
      );
      CREATE INDEX ${name}_commit ON ${name} (commit_no);
      ${codesOf(table)}
    `);
    return table;
  }
}

/** The table of codes beside one of vectors, as SQL. */
export const codesOf = ({ name, codes }: Pick<VectorTable, "name" | "codes">): string => `
  CREATE TABLE ${codes} (place INTEGER PRIMARY KEY, codes BLOB NOT NULL);
  CREATE TRIGGER ${name}_gone AFTER DELETE ON ${name} BEGIN DELETE FROM ${codes} WHERE place = old.place; END;
`;

const tableOf = (key: number, space: VectorSpace): VectorTable => ({
  key,
  name: `vector_${key}`,
  codes: `code_${key}`,
  space,
});

const toTable = (row: Row): VectorTable => tableOf(Number(row["key"]), readVectorSpace(row));

const readTable = (row: Row | undefined): VectorTable | undefined => row && toTable(row);

export const readVectorSpace = (row: Row): VectorSpace => ({
  model: String(row["model"]),
  runtime: String(row["runtime"]),
  dimensions: Number(row["dimensions"]),
});

export function anotherVectorSpace(kept: VectorSpace, given: VectorSpace): HoldfastError {
  return new HoldfastError(
    "vector_space",
    `the file keeps vectors of ${nameOfSpace(kept)}, not of ${nameOfSpace(given)}`,
    {
      hint: "open it with the embedder that it was made with; vectors of two models cannot be compared",
      details: { kept, given },
    },
  );
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
