/** Mending vectors: what is wrong goes, and whoever lost its vectors waits to be embedded again. */
import { VectorTables } from "../stores/sqlite/vector-table.js";
import { COUNTED, findVectorFaults, LONE_CODES, nameVectors, ORPHANS } from "./checks/vectors.js";
import { count } from "./diagnosis.js";
import type { Mending } from "./mend.js";
import { number } from "./reading.js";

/** One transaction: it reads every row of vectors once, and deletes few. */
export function mendVectors({ database, deep, transact }: Mending): Promise<string | undefined> {
  return transact((transaction) => {
    // While another model's vectors are taken into use, no item tells whether it should have any.
    if (number(database, "SELECT settling FROM head") > 0) return undefined;
    const { missing, wrong, orphans } = findVectorFaults(database, deep);
    const keys = JSON.stringify([...missing, ...wrong]);
    const listed = "(SELECT value FROM json_each(?))";
    const spaces = database.prepare(`SELECT DISTINCT space FROM item WHERE key IN ${listed}`).all(keys);
    database.prepare(`UPDATE item SET indexed = 0 WHERE key IN ${listed}`).run(keys);
    // What they have borrowed stays noted until they are embedded: vectors for a next model may hold that text, too.
    const table = new VectorTables(database).current();
    if (table) {
      nameVectors(database, table);
      // Those that were just made pending are orphans by now.
      database.exec(`DELETE FROM ${table.name} WHERE place IN (${ORPHANS})`);
      database.exec(`DELETE FROM ${table.codes} WHERE place IN (${LONE_CODES})`);
      database.exec(`UPDATE head SET embedded = ${COUNTED.embedded}, chunks = ${COUNTED.chunks}`);
    }
    for (const { space } of spaces) transaction.touch(Number(space));
    transaction.kept();
    const waiting = missing.length + wrong.length;
    return `${count(waiting, "item")} will be embedded anew; ${count(orphans, "row")} of lost vectors dropped`;
  });
}
