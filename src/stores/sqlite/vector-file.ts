/** The vectors of the file on one connection: read space by space in the order in which they lie, or item by item. */
import { setImmediate as otherCalls } from "node:timers/promises";
import { bestDot } from "../../retrieval/vectors/dot.js";
import type { VectorScored } from "../indexing.js";
import type { Database, Row } from "./driver.js";
import type { Condition } from "./filter.js";
import { References } from "./references.js";
import { Statements } from "./statements.js";
import { KEY_BITS, PLACE, SPACE_END, unpackVectors, type VectorTable } from "./vector-table.js";

/** Rows read at a time: a few milliseconds. */
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

/** The keys of a space and of one of its items. */
export type Place = readonly [space: number, key: number];

const atPlaces = (table: string): string =>
  `SELECT item, vectors FROM json_each(?) AS wanted CROSS JOIN ${table}
   ON place = ((wanted.value ->> 0) << ${KEY_BITS}) | (wanted.value ->> 1)`;

export class VectorFile {
  readonly #statements: Statements;
  readonly #references: References;

  constructor(database: Database) {
    this.#statements = new Statements(database);
    this.#references = new References(this.#statements);
  }

  /** The next items of a space after this key; fewer than a page if there are no more. */
  page(space: number, after: number, { name }: VectorTable): ItemVectors[] {
    const sql = `SELECT item, vectors FROM ${name} WHERE place > ${PLACE} AND place < ${SPACE_END} ORDER BY place LIMIT ${PAGE}`;
    return this.#statements.get(sql).all(space, after, space).map(readVectors);
  }

  /** Requires a snapshot when it is made and when it is used. */
  scorer(condition: Condition, { name }: VectorTable, vector: Float32Array): Scorer {
    const statement = this.#statements.get(atPlaces(name));
    return (keys) => {
      const found = this.#references.read(keys, condition);
      const seen = new Map(found.map((reference) => [reference.key, reference]));
      const places = found.map(({ spaceKey, key }): Place => [spaceKey, key]);
      return statement.all(JSON.stringify(places)).flatMap((row) => {
        const best = bestDot(unpackVectors(row["vectors"]), vector);
        const reference = seen.get(Number(row["item"]));
        return best && reference ? Object.assign(reference.scored(best.score), { part: best.part }) : [];
      });
    };
  }

  /** Those of a space's items that have vectors. Requires a snapshot. */
  present(space: number, keys: readonly number[], { name }: VectorTable): number[] {
    if (keys.length === 0) return [];
    const sql = `SELECT item FROM json_each(?) AS wanted CROSS JOIN ${name} ON place = (? << ${KEY_BITS}) | wanted.value`;
    return this.#statements
      .get(sql)
      .all(JSON.stringify(keys), space)
      .map((row) => Number(row["item"]));
  }

  /** Exact scores of the items at these places, [space, key], that have vectors. Requires a snapshot. */
  scores(places: readonly Place[], { name }: VectorTable, vector: Float32Array): { key: number; score: number }[] {
    if (places.length === 0) return [];
    return this.#statements
      .get(atPlaces(name))
      .all(JSON.stringify(places))
      .flatMap((row) => {
        const best = bestDot(unpackVectors(row["vectors"]), vector);
        return best ? { key: Number(row["item"]), score: best.score } : [];
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
