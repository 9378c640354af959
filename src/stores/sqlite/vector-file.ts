/** The vectors of the file on one connection: read space by space in the order in which they lie, or item by item. */
import { setImmediate as otherCalls } from "node:timers/promises";
import { bestDot } from "../../retrieval/vectors/dot.js";
import type { VectorScored } from "../indexing.js";
import type { Database, Row } from "./driver.js";
import type { Condition } from "./filter.js";
import { REFERENCE_ROW, type ReferenceRow, References } from "./references.js";
import { Statements } from "./statements.js";
import { ITEM_PLACE, KEY_BITS, PLACE, SPACE_END, unpackVectors, type VectorTable } from "./vector-table.js";

/** Items read at a time: a few milliseconds. */
export const PAGE = 512;

export interface ItemVectors {
  readonly key: number;
  readonly vectors: Float32Array;
}

export const readVectors = (row: Row): ItemVectors => ({
  key: Number(row["item"]),
  vectors: unpackVectors(row["vectors"]),
});

/** Exact scores of those of the items that may be seen and have vectors, in no order. */
export type Scorer = (keys: readonly number[]) => VectorScored[];

/** Items with their scores, or with what their scores can be at most. */
export type Each = (tell: (key: number, bound: number) => void) => void;

/** Of the rows of a table of vectors: all of them one after the other, and the length of each. */
const VECTORS = "CAST(group_concat(vectors, '') AS BLOB) AS vectors, json_group_array(length(vectors)) AS lengths";

export class VectorFile {
  readonly #statements: Statements;
  readonly #references: References;

  constructor(database: Database) {
    this.#statements = new Statements(database);
    this.#references = new References(this.#statements);
  }

  /** The next items of a space after this key; fewer than a page if there are no more. */
  page(space: number, after: number, { name }: VectorTable): ItemVectors[] {
    const statement = this.#statements.get(
      `SELECT json_group_array(item) AS items, ${VECTORS} FROM (
         SELECT item, vectors FROM ${name} WHERE place > ${PLACE} AND place < ${SPACE_END} ORDER BY place LIMIT ${PAGE})`,
    );
    return itemsOf(statement.get(space, after, space));
  }

  /** Requires a snapshot when it is made and when it is used. */
  scorer(condition: Condition, { name }: VectorTable, vector: Float32Array): Scorer {
    const statement = this.#statements.get(
      `SELECT json_group_array(${REFERENCE_ROW}) AS items, ${VECTORS}
       FROM json_each(?) AS wanted CROSS JOIN item ON item.key = wanted.value
         CROSS JOIN ${name} ON place = ${ITEM_PLACE} WHERE ${condition.sql}`,
    );
    return (keys) => {
      const row = statement.get(JSON.stringify(keys), ...condition.values);
      const references = this.#references.from(listOf<ReferenceRow>(row, "items"));
      return vectorsOf(row).flatMap((vectors, at) => {
        const best = bestDot(vectors, vector);
        const reference = references[at];
        return best && reference ? Object.assign(reference.scored(best.score), { part: best.part }) : [];
      });
    };
  }

  /** Those of a space's items that have vectors. Requires a snapshot. */
  present(space: number, keys: readonly number[], { name }: VectorTable): number[] {
    if (keys.length === 0) return [];
    const statement = this.#statements.get(`SELECT json_group_array(item) AS items ${atKeys(name)}`);
    return listOf(statement.get(JSON.stringify(keys), space), "items");
  }

  /** Exact scores of those of a space's items that have vectors. Requires a snapshot. */
  scores(
    space: number,
    keys: readonly number[],
    { name }: VectorTable,
    vector: Float32Array,
  ): { readonly key: number; readonly score: number }[] {
    if (keys.length === 0) return [];
    const statement = this.#statements.get(`SELECT json_group_array(item) AS items, ${VECTORS} ${atKeys(name)}`);
    return itemsOf(statement.get(JSON.stringify(keys), space)).flatMap(({ key, vectors }) => {
      const best = bestDot(vectors, vector);
      return best ? { key, score: best.score } : [];
    });
  }

  /** Scores all items of a space by reading it from end to end, a page at a time; other calls take their turn between. */
  async scan(vector: Float32Array, page: (after: number) => Promise<readonly ItemVectors[]>): Promise<Each> {
    const keys: number[] = [];
    const scores: number[] = [];
    for (let rows = await page(0); ; rows = await page(Number(keys.at(-1)))) {
      for (const { key, vectors } of rows) {
        keys.push(key);
        scores.push(bestDot(vectors, vector)?.score ?? Number.NEGATIVE_INFINITY);
      }
      if (rows.length < PAGE) break;
      await otherCalls();
    }
    return (tell) => {
      for (const [at, key] of keys.entries()) tell(key, scores[at] as number);
    };
  }
}

/** The rows of a space's items; parameters are the keys as JSON and the key of the space. */
const atKeys = (table: string): string =>
  `FROM json_each(?) AS wanted CROSS JOIN ${table} ON place = (? << ${KEY_BITS}) | wanted.value`;

const listOf = <T>(row: Row | undefined, column: string): T[] => JSON.parse(String(row?.[column])) as T[];

function itemsOf(row: Row | undefined): ItemVectors[] {
  const keys = listOf<number>(row, "items");
  return vectorsOf(row).map((vectors, at) => ({ key: keys[at] as number, vectors }));
}

/** Taken apart again. As one value they are handed over in half the time that rows take. */
function vectorsOf(row: Row | undefined): Float32Array[] {
  const all = row?.["vectors"] ? unpackVectors(row["vectors"]) : new Float32Array();
  let end = 0;
  return listOf<number>(row, "lengths").map((bytes) => {
    const start = end;
    end += bytes / 4;
    return all.subarray(start, end);
  });
}
