/** The schema version of the file, and the migrations from older versions. */
import { HoldfastError } from "../../../errors.js";
import { pragma } from "./connection.js";
import { COUNT_TABLES, ENTRY_COUNTS } from "./count-tables.js";
import type { Database } from "./driver.js";
import { POINT_TABLES } from "./point-tables.js";
import { TABLES } from "./tables.js";

/** Marks a file as Holdfast's ("Hold" in ASCII). */
export const APPLICATION_ID = 0x486f6c64;

/** A step from one version to the next, run in a transaction: SQL, or work that SQL cannot do. */
export type Migration = string | ((database: Database) => void);

/** Each entry migrates a file from the previous version to its own. A released entry is never edited. */
export const MIGRATIONS: readonly Migration[] = [TABLES, POINT_TABLES, COUNT_TABLES, ENTRY_COUNTS];

export const SCHEMA_VERSION = MIGRATIONS.length;

/**
 * Migrates the file to the version of these migrations, in one transaction. Requires a file that is ours, and a caller
 * that retries on BUSY.
 */
export function migrate(database: Database, migrations: readonly Migration[] = MIGRATIONS): void {
  if (pragma(database, "user_version") === migrations.length) return;
  database.exec("BEGIN IMMEDIATE");
  try {
    const from = Number(pragma(database, "user_version")); // another process may have been faster
    for (const step of migrations.slice(from)) {
      if (typeof step === "string") database.exec(step);
      else step(database);
    }
    database.exec(`
      UPDATE head SET schema = ${migrations.length};
      PRAGMA user_version = ${migrations.length};
      PRAGMA application_id = ${APPLICATION_ID};
      COMMIT;
    `);
  } catch (error) {
    if (database.isTransaction) database.exec("ROLLBACK"); // on a full disk SQLite has done so itself
    throw error;
  }
}

/** Throws for a database of another program or of a newer version of this one, and leaves it unchanged. */
export function refuseForeign(database: Database, path: string): void {
  // One snapshot, because another process may be creating the tables at this moment.
  database.exec("BEGIN");
  const version = Number(pragma(database, "user_version"));
  const application = Number(pragma(database, "application_id"));
  const tables = Number(database.prepare("SELECT count(*) AS n FROM sqlite_schema").get()?.["n"]);
  database.exec("COMMIT");
  if (tables > 0 && application !== APPLICATION_ID) {
    throw new HoldfastError("invalid_input", `${path} is a database of another program`, {
      hint: "choose another path; nothing was changed",
    });
  }
  if (version > SCHEMA_VERSION) throw newerFile(path, version);
}

export function newerFile(path: string, version: number): HoldfastError {
  return new HoldfastError(
    "store_newer",
    `${path} was written by a newer Holdfast (schema ${version}, this one knows ${SCHEMA_VERSION})`,
    { hint: "upgrade this program; nothing was changed" },
  );
}
