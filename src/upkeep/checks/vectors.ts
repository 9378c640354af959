/** Checks vectors against items: embedded items have vectors of the right size, and no others do. */
import { codeLength, decode, encode } from "../../retrieval/vectors/codes.js";
import {
  ITEM_PLACE,
  KEY_BITS,
  KEY_OF_PLACE,
  PARTS,
  SPACE_OF_PLACE,
  type VectorTable,
  VectorTables,
} from "../../stores/sqlite/embedding/vector-table.js";
import type { Database, Row } from "../../stores/sqlite/file/driver.js";
import { count, error, type Finding, ok, REPAIR, repairable } from "../diagnosis.js";
import { number, row } from "../reading.js";
import type { Look } from "./look.js";

const ROWS_PER_READ = 512;
/** Vectors have length 1 up to rounding. */
const LENGTH_TOLERANCE = 0.01;

/** Rows of vectors that belong to no embedded item. */
export const ORPHANS = `SELECT place FROM vectors LEFT JOIN item ON item.key = ${KEY_OF_PLACE}
  WHERE item.key IS NULL OR item.space <> ${SPACE_OF_PLACE} OR item.key <> vectors.item OR item.indexed <> item.version`;

/** Items whose vectors have the wrong size; the parameter is the size of one vector. */
const MISSIZED = `SELECT ${KEY_OF_PLACE} AS key FROM vectors
  WHERE length(spans) = 0 OR length(spans) % 8 <> 0 OR length(vectors) <> ${PARTS} * ?`;

export interface VectorFaults {
  /** Keys of embedded items that have no vectors, or wrong ones. */
  readonly missing: readonly number[];
  readonly wrong: readonly number[];
  /** Rows of vectors that belong to no item. */
  readonly orphans: number;
  /** Whether the stored count of vectors is wrong. */
  readonly miscounted: boolean;
}

export function checkVectors({ database, deep }: Look): Finding {
  if (number(database, "SELECT settling FROM head") > 0) return ok("switching to the vectors of another model");
  const { missing, wrong, orphans, miscounted } = findVectorFaults(database, deep);
  const found = [
    missing.length > 0 && `${count(missing.length, "item")} without vectors`,
    wrong.length > 0 && `${count(wrong.length, "item")} with invalid vectors`,
    orphans > 0 && `${count(orphans, "row")} of vectors without an item`,
    miscounted && "the stored count of vectors is wrong",
  ].filter(Boolean);
  if (found.length > 0) return repairable(error(found.join("; "), REPAIR));
  const { embedded, chunks } = row(database, "SELECT embedded, chunks FROM head");
  return ok(`${count(Number(embedded), "item")} with ${count(Number(chunks), "vector")}`);
}

/** `deep` also checks the numbers themselves. Requires a snapshot. */
export function findVectorFaults(database: Database, deep: boolean): VectorFaults {
  const table = new VectorTables(database).current();
  if (!table) {
    const missing = database.prepare("SELECT key FROM item WHERE indexed = version").all().map(keyOf);
    return { missing, wrong: [], orphans: 0, miscounted: false };
  }
  nameVectors(database, table);
  const missized = database.prepare(MISSIZED).all(codeLength(table.space.dimensions)).map(keyOf);
  return {
    missing: missingIn(database),
    wrong: deep ? [...new Set([...missized, ...crookedIn(database, table)])] : missized,
    orphans: number(database, `SELECT count(*) FROM (${ORPHANS})`),
    miscounted: number(database, `SELECT ${MISCOUNTED} FROM head`) > 0,
  };
}

/** Creates a view with a fixed name for the current table of vectors. */
export function nameVectors(database: Database, { name }: VectorTable): void {
  database.exec(`DROP VIEW IF EXISTS temp.vectors; CREATE TEMP VIEW vectors AS SELECT * FROM main.${name}`);
}

export const COUNTED = {
  embedded: "(SELECT count(*) FROM vectors)",
  chunks: `(SELECT coalesce(sum(${PARTS}), 0) FROM vectors)`,
};
const MISCOUNTED = `(embedded <> ${COUNTED.embedded} OR chunks <> ${COUNTED.chunks})`;

/** Items of white space only have no vectors. */
function missingIn(database: Database): number[] {
  const page = database.prepare(
    `SELECT key, content FROM item WHERE indexed = version AND key > ?
       AND NOT EXISTS (SELECT 1 FROM vectors WHERE place = ${ITEM_PLACE}) ORDER BY key LIMIT ${ROWS_PER_READ}`,
  );
  const missing: number[] = [];
  for (let rows = page.all(0); rows.length > 0; rows = page.all(keyOf(rows.at(-1)))) {
    for (const row of rows) if (String(row["content"]).trim() !== "") missing.push(keyOf(row));
  }
  return missing;
}

/** Items with a vector whose length is not 1, or that is not encoded canonically. */
function crookedIn(database: Database, { space: { dimensions } }: VectorTable): number[] {
  const page = database.prepare(
    `SELECT ${SPACE_OF_PLACE} AS space, ${KEY_OF_PLACE} AS key, vectors, ${PARTS} AS parts
     FROM vectors WHERE place > ((? << ${KEY_BITS}) | ?) ORDER BY place LIMIT ${ROWS_PER_READ}`,
  );
  const crooked: number[] = [];
  for (
    let rows = page.all(0, 0);
    rows.length > 0;
    rows = page.all(Number(rows.at(-1)?.["space"]), keyOf(rows.at(-1)))
  ) {
    for (const row of rows) if (!isStraight(row, dimensions)) crooked.push(keyOf(row));
  }
  return crooked;
}

function isStraight({ vectors, parts }: Row, dimensions: number): boolean {
  if (!(vectors instanceof Uint8Array)) return false;
  if (vectors.byteLength === 0 || vectors.byteLength !== Number(parts) * codeLength(dimensions)) return false;
  const numbers = decode(vectors, dimensions);
  for (let from = 0; from < numbers.length; from += dimensions) {
    const length = Math.hypot(...numbers.subarray(from, from + dimensions));
    if (!(Math.abs(length - 1) <= LENGTH_TOLERANCE)) return false;
  }
  return Buffer.compare(encode(numbers, dimensions), vectors) === 0; // else an error may be too low, and hide an item
}

const keyOf = (row: Row | undefined): number => Number(row?.["key"]);
