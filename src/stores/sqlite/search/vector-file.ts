/** The stored vectors as codes, on one connection: read space by space in storage order, or by item. */
import { codeLength } from "../../../retrieval/vectors/codes.js";
import { ITEM_PLACE, PLACE, SPACE_END, type VectorTable } from "../embedding/vector-table.js";
import { Statements } from "../file/connection.js";
import { type Database, isTooBig, type Row } from "../file/driver.js";

/** The most items per read. Such a read takes a few milliseconds and yields a value of acceptable size. */
const ITEMS_MAX = 1_024;
/** Up to this many items are read at once whatever their size. If the result is too big, the read is split. */
const FEW = 64;
const BYTES_MAX = 16 * 1024 * 1024;

export interface ItemCodes {
  readonly key: number;
  readonly codes: Uint8Array;
}

/** Concatenates the codes of several rows, with the length of each. One value transfers faster than many rows. */
const CODES = "CAST(group_concat(vectors, '') AS BLOB) AS codes, json_group_array(length(vectors)) AS lengths";

export class VectorFile {
  readonly #statements: Statements;

  constructor(database: Database) {
    this.#statements = new Statements(database);
  }

  /** The codes of the next items of a space after this key. Empty if there are no more. */
  page(space: number, after: number, table: VectorTable): ItemCodes[] {
    const statement = this.#statements.get(
      `SELECT json_group_array(item) AS items, ${CODES} FROM (
         SELECT item, vectors FROM ${table.name} WHERE place > ${PLACE} AND place < ${SPACE_END} ORDER BY place LIMIT ?)`,
    );
    for (let limit = this.#atOnce(table); ; limit = Math.floor(limit / 2)) {
      try {
        return codesIn(statement.get(space, after, space, limit));
      } catch (error) {
        if (!isTooBig(error) || limit === 1) throw error;
      }
    }
  }

  /** The codes of those items that have vectors, in no particular order. */
  items(keys: readonly number[], table: VectorTable): ItemCodes[] {
    const statement = this.#statements.get(
      `SELECT json_group_array(item.key) AS items, ${CODES} FROM json_each(?) AS wanted
         CROSS JOIN item ON item.key = wanted.value CROSS JOIN ${table.name} ON place = ${ITEM_PLACE}`,
    );
    const found: ItemCodes[] = [];
    let atOnce = keys.length <= FEW ? FEW : this.#atOnce(table);
    for (let at = 0; at < keys.length; ) {
      try {
        found.push(...codesIn(statement.get(JSON.stringify(keys.slice(at, at + atOnce)))));
        at += atOnce;
      } catch (error) {
        if (!isTooBig(error) || atOnce === 1) throw error;
        atOnce = Math.floor(atOnce / 2);
      }
    }
    return found;
  }

  /** How many items to read at once, assuming average size. */
  #atOnce({ space: { dimensions } }: VectorTable): number {
    const bytes = this.vectorsPerItem() * codeLength(dimensions);
    return Math.max(1, Math.min(ITEMS_MAX, Math.floor(BYTES_MAX / Math.max(1, bytes))));
  }

  /** The average over the whole file. */
  vectorsPerItem(): number {
    const head = this.#statements.get("SELECT embedded, chunks FROM head").get() as Row;
    return Number(head["chunks"]) / Math.max(1, Number(head["embedded"]));
  }
}

function codesIn(row: Row | undefined): ItemCodes[] {
  const all = (row?.["codes"] ?? new Uint8Array()) as Uint8Array;
  const lengths = JSON.parse(String(row?.["lengths"])) as number[];
  let end = 0;
  return (JSON.parse(String(row?.["items"])) as number[]).map((key, at) => {
    const start = end;
    end += lengths[at] as number;
    return { key, codes: all.subarray(start, end) };
  });
}
