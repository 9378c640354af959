/**
 * The vectors of the file, and their codes, on one connection: read space by space in the order in which they lie, or item
 * by item.
 */
import type { Scoring } from "../../retrieval/vectors/cosines.js";
import type { Best } from "../../retrieval/vectors/dot.js";
import type { VectorScored } from "../indexing.js";
import { type Database, isTooBig, type Row } from "./driver.js";
import type { Condition } from "./filter.js";
import { REFERENCE_ROW, type ReferenceRow, References } from "./references.js";
import { Statements } from "./statements.js";
import {
  ITEM_PLACE,
  KEY_BITS,
  KEY_OF_PLACE,
  PLACE,
  SPACE_END,
  unpackVectors,
  type VectorTable,
} from "./vector-table.js";

/** Items read at a time: so many that they take a few milliseconds, and not too many bytes for one value. */
const ITEMS_MAX = 512;
/** So few are read together however long they may be: if that is too much, it turns out. */
const FEW = 64;
const CODED_MAX = 1_024;
const BYTES_MAX = 16 * 1024 * 1024;

export interface ItemCodes {
  readonly key: number;
  readonly codes: Uint8Array;
}

/** Exact scores of those of the items that may be seen and have vectors, in no order. */
export type Scorer<T = VectorScored> = (keys: readonly number[]) => T[];

/** An item with its score, and the part of it that is nearest. */
export interface ItemScore {
  readonly key: number;
  readonly score: number;
  readonly part: number;
}

/** The rows of a space behind a key; parameters are both, the space again, and how many. */
const NEXT = `WHERE place > ${PLACE} AND place < ${SPACE_END} ORDER BY place LIMIT ?`;
/** Of the rows of a table of vectors: all of them one after the other, and the length of each. */
const VECTORS = "CAST(group_concat(vectors, '') AS BLOB) AS vectors, json_group_array(length(vectors)) AS lengths";

export class VectorFile {
  readonly #statements: Statements;
  readonly #references: References;
  readonly #cosines: Scoring;

  constructor(database: Database, cosines: Scoring) {
    this.#cosines = cosines;
    this.#statements = new Statements(database);
    this.#references = new References(this.#statements);
  }

  /** The codes of the next items of a space after this key; none if there are no more. */
  codesPage(space: number, after: number, table: VectorTable): ItemCodes[] {
    const page = `SELECT ${KEY_OF_PLACE} AS item, codes FROM ${table.codes} ${NEXT}`;
    const row = this.#readPage(
      `SELECT json_group_array(item) AS items, CAST(group_concat(codes, '') AS BLOB) AS codes,
         json_group_array(length(codes)) AS lengths FROM (${page})`,
      space,
      after,
      this.#atOnce(table, CODED_MAX),
    );
    const codes = (row?.["codes"] ?? new Uint8Array()) as Uint8Array;
    const lengths = listOf<number>(row, "lengths");
    let end = 0;
    return listOf<number>(row, "items").map((key, at) => {
      const start = end;
      end += lengths[at] as number;
      return { key, codes: codes.subarray(start, end) };
    });
  }

  /** The scores of the next items, likewise. */
  scoredPage(space: number, after: number, table: VectorTable, vector: Float32Array): ItemScore[] {
    const page = `SELECT item, vectors FROM ${table.name} ${NEXT}`;
    const sql = `SELECT json_group_array(item) AS items, ${VECTORS} FROM (${page})`;
    return this.#scored(this.#readPage(sql, space, after, this.#atOnce(table)), vector);
  }

  #readPage(sql: string, space: number, after: number, atOnce: number): Row | undefined {
    const statement = this.#statements.get(sql);
    for (let limit = atOnce; ; limit = Math.floor(limit / 2)) {
      try {
        return statement.get(space, after, space, limit);
      } catch (error) {
        if (!isTooBig(error) || limit === 1) throw error;
      }
    }
  }

  /** Requires a snapshot when it is made and when it is used. */
  scorer(condition: Condition, table: VectorTable, vector: Float32Array): Scorer {
    const { name } = table;
    const statement = this.#statements.get(
      `SELECT json_group_array(${REFERENCE_ROW}) AS items, ${VECTORS}
       FROM json_each(?) AS wanted CROSS JOIN item ON item.key = wanted.value
         CROSS JOIN ${name} ON place = ${ITEM_PLACE} WHERE ${condition.sql}`,
    );
    const read = (keys: readonly number[]): VectorScored[] => {
      const row = statement.get(JSON.stringify(keys), ...condition.values);
      const references = this.#references.from(listOf<ReferenceRow>(row, "items"));
      return this.#best(row, vector).flatMap((best, at) => {
        const reference = references[at];
        return best && reference ? Object.assign(reference.scored(best.score), { part: best.part }) : [];
      });
    };
    return (keys) => inParts(keys, this.#atOnce(table), read);
  }

  /** Those of a space's items that have vectors. Requires a snapshot. */
  present(space: number, keys: readonly number[], { name }: VectorTable): number[] {
    if (keys.length === 0) return [];
    const statement = this.#statements.get(`SELECT json_group_array(item) AS items ${atKeys(name)}`);
    return listOf(statement.get(JSON.stringify(keys), space), "items");
  }

  /** Exact scores of those of a space's items that have vectors, and not longer ones than this. Requires a snapshot. */
  scores(
    space: number,
    keys: readonly number[],
    table: VectorTable,
    vector: Float32Array,
    bytesMax?: number,
  ): ItemScore[] {
    const short = bytesMax === undefined ? "" : `WHERE length(vectors) <= ${bytesMax}`;
    const statement = this.#statements.get(
      `SELECT json_group_array(item) AS items, ${VECTORS} ${atKeys(table.name)} ${short}`,
    );
    const read = (some: readonly number[]): ItemScore[] =>
      this.#scored(statement.get(JSON.stringify(some), space), vector).filter(hasVectors);
    return inParts(keys, keys.length <= FEW ? FEW : this.#atOnce(table), read);
  }

  /** Items without vectors, which there should be none of, are as far as can be. */
  #scored(row: Row | undefined, vector: Float32Array): ItemScore[] {
    const best = this.#best(row, vector);
    return listOf<number>(row, "items").map((key, at) => ({
      key,
      score: best[at]?.score ?? NO_VECTORS,
      part: best[at]?.part ?? 0,
    }));
  }

  /** How many items to read together, if they are as long as they are on average. */
  #atOnce({ space: { dimensions } }: VectorTable, itemsMax = ITEMS_MAX): number {
    const bytes = this.vectorsPerItem() * dimensions * BYTES_PER_NUMBER;
    return Math.max(1, Math.min(itemsMax, Math.floor(BYTES_MAX / Math.max(1, bytes))));
  }

  /** On average over the file. */
  vectorsPerItem(): number {
    const head = this.#statements.get("SELECT embedded, chunks FROM head").get() as Row;
    return Number(head["chunks"]) / Math.max(1, Number(head["embedded"]));
  }

  /** The nearest vector of each item that was read. */
  #best(row: Row | undefined, vector: Float32Array): readonly (Best | undefined)[] {
    const { all, lengths } = vectorsOf(row);
    return this.#cosines.best(all, lengths, vector);
  }
}

/** The rows of a space's items; parameters are the keys as JSON and the key of the space. */
const atKeys = (table: string): string =>
  `FROM json_each(?) AS wanted CROSS JOIN ${table} ON place = (? << ${KEY_BITS}) | wanted.value`;

const listOf = <T>(row: Row | undefined, column: string): T[] => JSON.parse(String(row?.[column])) as T[];

const NO_VECTORS = Number.NEGATIVE_INFINITY;
const hasVectors = ({ score }: ItemScore): boolean => score !== NO_VECTORS;

/** Reads so many items together; fewer, if these would be too long for one value. */
function inParts<T>(keys: readonly number[], atOnce: number, read: (keys: readonly number[]) => T[]): T[] {
  const found: T[] = [];
  for (let at = 0; at < keys.length; ) {
    try {
      found.push(...read(keys.slice(at, at + atOnce)));
      at += atOnce;
    } catch (error) {
      if (!isTooBig(error) || atOnce === 1) throw error;
      atOnce = Math.floor(atOnce / 2);
    }
  }
  return found;
}

/** The vectors of all items one after the other, and how many numbers each has: handed over sooner than as rows. */
function vectorsOf(row: Row | undefined): { readonly all: Float32Array; readonly lengths: readonly number[] } {
  const bytes = (row?.["vectors"] ?? new Uint8Array()) as Uint8Array;
  const sizes = listOf<number>(row, "lengths");
  const lengths = sizes.map((size) => Math.floor(size / BYTES_PER_NUMBER));
  const isDamaged = sizes.some((size) => size % BYTES_PER_NUMBER !== 0);
  return { all: unpackVectors(isDamaged ? withoutRests(bytes, sizes) : bytes), lengths };
}

/** Without the bytes behind an item's last whole number: all that follows would be misread. */
function withoutRests(bytes: Uint8Array, sizes: readonly number[]): Uint8Array {
  let end = 0;
  const whole = sizes.map((size) => {
    const start = end;
    end += size;
    return bytes.subarray(start, end - (size % BYTES_PER_NUMBER));
  });
  return new Uint8Array(Buffer.concat(whole));
}

const BYTES_PER_NUMBER = 4;
