/**
 * Vector tables: one per vector space, created by whichever process adopts the space.
 *
 * A row holds all chunks of an item, with their vectors as codes (retrieval/vectors/codes.ts). Its place combines the
 * key of the space and the key of the item, so that the vectors of a space are stored together and read sequentially.
 *
 * Invariants: an embedded item (`indexed = version`) with chunks has a row in the served table. Other items have none,
 * except for a moment after a switch (reindex-switch.ts). The schema of a table never changes. A table is dropped when
 * it is empty and no longer in use, so a statement may only be prepared for a table that was looked up on the same
 * snapshot.
 */
import { HoldfastError } from "../../../errors.js";
import type { Span } from "../../../graphemes.js";
import type { VectorSpace } from "../../../types.js";
import { nameOfSpace } from "../../vector-space.js";
import type { Database, Row, Statement, Value } from "../file/driver.js";

/** The bits of a place that hold the item's key. */
export const KEY_BITS = 36;
const SPAN_BYTES = 8;

// Places are computed in SQL: they may exceed JavaScript's safe integers, and no code reads one.

/** The place of an item. Parameters: the keys of the space and of the item. */
export const PLACE = `((? << ${KEY_BITS}) | ?)`;
/** The place of a row of `item`. */
export const ITEM_PLACE = `((item.space << ${KEY_BITS}) | item.key)`;
/** The upper bound (exclusive) of the places of a space. Parameter: the key of the space. */
export const SPACE_END = `((? + 1) << ${KEY_BITS})`;
/** The item key of a row. */
export const KEY_OF_PLACE = `(place & ((1 << ${KEY_BITS}) - 1))`;
/** The space key of a row. */
export const SPACE_OF_PLACE = `(place >> ${KEY_BITS})`;
/** The number of chunks in a row, in SQL. */
export const PARTS = `(length(spans) / ${SPAN_BYTES})`;

/** A vector space of the file, and the table of its vectors. */
export interface VectorTable {
  readonly key: number;
  readonly name: string;
  readonly space: VectorSpace;
}

/**
 * served: its vectors are searched · next: being filled, to be served later · former: was served · abandoned: was being
 * filled. The last two are being emptied.
 */
export type VectorTableRole = "served" | "next" | "former" | "abandoned";

/** Codes of `vector_space.state`. */
export const FORMER = 1;
export const ABANDONED = 2;
/** Its table was removed, or it is that of points, which are in the table `point`. */
export const TABLELESS = 3;

/** Looks up the vector tables that currently exist, within the open transaction, if any. */
export class VectorTables {
  readonly #database: Database;
  readonly #current: Statement;
  readonly #serving: Statement;
  readonly #next: Statement;
  readonly #all: Statement;

  constructor(database: Database) {
    this.#database = database;
    const select = "SELECT key, model, runtime, dimensions";
    this.#current = database.prepare(`${select} FROM vector_space WHERE key = (SELECT vector_space FROM head)`);
    this.#serving = database.prepare(
      `${select} FROM vector_space
       WHERE key = (SELECT vector_space FROM head) AND model = ? AND runtime = ? AND dimensions = ?`,
    );
    this.#next = database.prepare(`${select} FROM vector_space WHERE key = (SELECT next_space FROM head)`);
    this.#all = database.prepare(
      `${select}, CASE WHEN state = ${FORMER} THEN 'former' WHEN state = ${ABANDONED} THEN 'abandoned'
         WHEN key = head.next_space THEN 'next' ELSE 'served' END AS role
       FROM vector_space CROSS JOIN head WHERE state <> ${TABLELESS}`,
    );
  }

  /** The served table. */
  current(): VectorTable | undefined {
    return readTable(this.#current.get());
  }

  /** The served table, if its vectors are comparable with those of this space. */
  serving({ model, runtime, dimensions }: VectorSpace): VectorTable | undefined {
    return readTable(this.#serving.get(model, runtime, dimensions));
  }

  /** The table being filled. */
  next(): VectorTable | undefined {
    return readTable(this.#next.get());
  }

  all(): readonly (VectorTable & { readonly role: VectorTableRole })[] {
    return this.#all.all().map((row) => ({ ...toTable(row), role: row["role"] as VectorTableRole }));
  }

  /** Creates a table. The caller records it in `head`. */
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
    `);
    return table;
  }
}

const tableOf = (key: number, space: VectorSpace): VectorTable => ({
  key,
  name: `vector_${key}`,
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
