/** Codes (retrieval/vectors/codes.ts) beside the vectors of files that have none yet. */
import { Coder } from "../../retrieval/vectors/codes.js";
import type { Database, Row } from "./driver.js";
import { codesOf, KEY_OF_PLACE, PLACE, SPACE_OF_PLACE, unpackVectors, VectorTables } from "./vector-table.js";

/** Few: an item may have thousands of vectors. */
const ROWS_PER_READ = 16;

/** Requires a transaction. */
export function version8(database: Database): void {
  const coder = new Coder();
  for (const table of new VectorTables(database).all()) {
    database.exec(codesOf(table));
    const insert = database.prepare(`INSERT INTO ${table.codes} (place, codes) VALUES (${PLACE}, ?)`);
    const page = database.prepare(
      `SELECT ${SPACE_OF_PLACE} AS space, ${KEY_OF_PLACE} AS key, vectors FROM ${table.name}
       WHERE place > ${PLACE} ORDER BY place LIMIT ${ROWS_PER_READ}`,
    );
    const after = (row: Row | undefined): Row[] => page.all(Number(row?.["space"] ?? 0), Number(row?.["key"] ?? 0));
    for (let rows = after(undefined); rows.length > 0; rows = after(rows.at(-1))) {
      for (const { space, key, vectors } of rows) {
        const codes = coder.encode(unpackVectors(vectors), table.space.dimensions);
        if (codes.length > 0) insert.run(Number(space), Number(key), codes); // else it is damaged: a case for the doctor
      }
    }
  }
}
