/** Repairs vectors: invalid rows are deleted, and their items become pending again. */
import { VectorTables } from "../stores/sqlite/embedding/vector-table.js";
import { COUNTED, findVectorFaults, nameVectors, ORPHANS } from "./checks/vectors.js";
import { count } from "./diagnosis.js";
import type { Mending } from "./mend.js";
import { number } from "./reading.js";

/** Runs in one transaction: it reads all vectors once and deletes few. */
export function mendVectors({ database, deep, transact }: Mending): Promise<string | undefined> {
  return transact((transaction) => {
    // During a switch to another model's vectors, items do not show whether they should have any.
    if (number(database, "SELECT settling FROM head") > 0) return undefined;
    const { missing, wrong, orphans } = findVectorFaults(database, deep);
    const keys = JSON.stringify([...missing, ...wrong]);
    const listed = "(SELECT value FROM json_each(?))";
    const spaces = database.prepare(`SELECT DISTINCT space FROM item WHERE key IN ${listed}`).all(keys);
    database.prepare(`UPDATE item SET indexed = 0 WHERE key IN ${listed}`).run(keys);
    // Their borrow rows stay until they are embedded: vectors for a next model may contain the borrowed text, too.
    const table = new VectorTables(database).current();
    if (table) {
      nameVectors(database, table);
      // Vectors of items that have just become pending count as orphans.
      database.exec(`DELETE FROM ${table.name} WHERE place IN (${ORPHANS})`);
      database.exec(`UPDATE head SET embedded = ${COUNTED.embedded}, chunks = ${COUNTED.chunks}`);
    }
    for (const { space } of spaces) transaction.touch(Number(space));
    transaction.kept();
    const waiting = missing.length + wrong.length;
    return `${count(waiting, "item")} will be embedded again; dropped ${count(orphans, "orphaned row")} of vectors`;
  });
}
