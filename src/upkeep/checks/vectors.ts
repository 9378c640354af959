/** The vectors against the items: whoever counts as embedded has its vectors, of the right size; nobody else has any. */
import { Coder, HEAD_BYTES } from "../../retrieval/vectors/codes.js";
import type { Database, Row } from "../../stores/sqlite/driver.js";
import {
  ITEM_PLACE,
  KEY_BITS,
  KEY_OF_PLACE,
  PARTS,
  SPACE_OF_PLACE,
  unpackVectors,
  type VectorTable,
  VectorTables,
} from "../../stores/sqlite/vector-table.js";
import { count, error, type Finding, ok, REPAIR, repairable } from "../diagnosis.js";
import { number, row } from "../reading.js";
import type { Look } from "./look.js";

const ROWS_PER_READ = 512;
/** Vectors have length 1 but for rounding. */
const LENGTH_TOLERANCE = 0.01;

/** Rows of vectors that belong to nobody who counts as embedded. */
export const ORPHANS = `SELECT place FROM vectors LEFT JOIN item ON item.key = ${KEY_OF_PLACE}
  WHERE item.key IS NULL OR item.space <> ${SPACE_OF_PLACE} OR item.key <> vectors.item OR item.indexed <> item.version`;

/** Items whose rows of vectors or of codes have not the size that they must have, both for a number of dimensions. */
const MISSIZED = `SELECT ${KEY_OF_PLACE} AS key FROM vectors LEFT JOIN codes USING (place)
  WHERE length(spans) = 0 OR length(spans) % 8 <> 0 OR length(vectors) <> ${PARTS} * ?1 * 4
    OR coalesce(length(codes), 0) <> ${PARTS} * (?1 + ${HEAD_BYTES})`;

/** Rows of codes without vectors. */
export const LONE_CODES = "SELECT place FROM codes WHERE place NOT IN (SELECT place FROM vectors)";

export interface VectorFaults {
  /** Keys of items that count as embedded and have no vectors, or wrong ones. */
  readonly missing: readonly number[];
  readonly wrong: readonly number[];
  /** How many rows of vectors or codes belong to nobody. */
  readonly orphans: number;
  /** Whether the file's own count of vectors is wrong. */
  readonly miscounted: boolean;
}

export function checkVectors({ database, deep }: Look): Finding {
  if (number(database, "SELECT settling FROM head") > 0) return ok("vectors of another model are being taken into use");
  const { missing, wrong, orphans, miscounted } = findVectorFaults(database, deep);
  const found = [
    missing.length > 0 && `${count(missing.length, "item")} without the vectors they should have`,
    wrong.length > 0 && `${count(wrong.length, "item")} with vectors that cannot be right`,
    orphans > 0 && `${count(orphans, "row")} of vectors that belong to no item`,
    miscounted && "the number of vectors is wrong",
  ].filter(Boolean);
  if (found.length > 0) return repairable(error(found.join("; "), REPAIR));
  const { embedded, chunks } = row(database, "SELECT embedded, chunks FROM head");
  return ok(`${count(Number(embedded), "item")} with ${count(Number(chunks), "vector")}`);
}

/** `deep`: the numbers themselves are looked at. Requires a snapshot. */
export function findVectorFaults(database: Database, deep: boolean): VectorFaults {
  const table = new VectorTables(database).current();
  if (!table) {
    const missing = database.prepare("SELECT key FROM item WHERE indexed = version").all().map(keyOf);
    return { missing, wrong: [], orphans: 0, miscounted: false };
  }
  nameVectors(database, table);
  const missized = database.prepare(MISSIZED).all(table.space.dimensions).map(keyOf);
  return {
    missing: missingIn(database),
    wrong: deep ? [...new Set([...missized, ...crookedIn(database, table)])] : missized,
    orphans: number(database, `SELECT (SELECT count(*) FROM (${ORPHANS})) + (SELECT count(*) FROM (${LONE_CODES}))`),
    miscounted: number(database, `SELECT ${MISCOUNTED} FROM head`) > 0,
  };
}

/** The tables of vectors and codes in use get names that do not change. */
export function nameVectors(database: Database, { name, codes }: VectorTable): void {
  database.exec(`
    DROP VIEW IF EXISTS temp.vectors; CREATE TEMP VIEW vectors AS SELECT * FROM main.${name};
    DROP VIEW IF EXISTS temp.codes; CREATE TEMP VIEW codes AS SELECT * FROM main.${codes};
  `);
}

export const COUNTED = {
  embedded: "(SELECT count(*) FROM vectors)",
  chunks: `(SELECT coalesce(sum(${PARTS}), 0) FROM vectors)`,
};
const MISCOUNTED = `(embedded <> ${COUNTED.embedded} OR chunks <> ${COUNTED.chunks})`;

/** What is nothing but white space has no vectors. */
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

/** Items of which a vector is not of length 1, or whose codes are not those of their vectors. */
function crookedIn(database: Database, { space: { dimensions } }: VectorTable): number[] {
  const page = database.prepare(
    `SELECT ${SPACE_OF_PLACE} AS space, ${KEY_OF_PLACE} AS key, vectors, codes, ${PARTS} AS parts
     FROM vectors LEFT JOIN codes USING (place) WHERE place > ((? << ${KEY_BITS}) | ?) ORDER BY place LIMIT ${ROWS_PER_READ}`,
  );
  const crooked: number[] = [];
  const coder = new Coder();
  for (
    let rows = page.all(0, 0);
    rows.length > 0;
    rows = page.all(Number(rows.at(-1)?.["space"]), keyOf(rows.at(-1)))
  ) {
    for (const row of rows) if (!isStraight(row, dimensions, coder)) crooked.push(keyOf(row));
  }
  return crooked;
}

function isStraight({ vectors, codes, parts }: Row, dimensions: number, coder: Coder): boolean {
  if (!(vectors instanceof Uint8Array && codes instanceof Uint8Array)) return false;
  if (vectors.byteLength === 0 || vectors.byteLength !== Number(parts) * dimensions * 4) return false;
  const numbers = unpackVectors(vectors);
  for (let from = 0; from < numbers.length; from += dimensions) {
    const length = Math.hypot(...numbers.subarray(from, from + dimensions));
    if (!(Math.abs(length - 1) <= LENGTH_TOLERANCE)) return false;
  }
  return Buffer.compare(coder.encode(numbers, dimensions), codes) === 0;
}

const keyOf = (row: Row | undefined): number => Number(row?.["key"]);
