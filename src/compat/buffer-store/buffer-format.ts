/**
 * The tables of a buffer's file, and the check for foreign files.
 *
 * Invariants:
 * - `file` and `log` come first, as in a memory (stores/sqlite/file/main-file.ts).
 * - `entry.key` is the rowid; AUTOINCREMENT never reuses one.
 * - Leases are in their own table, so that a lease does not rewrite a payload of megabytes. An entry that was never leased has
 *   no row; after a release `until` is null, and `attempts` is kept.
 * - `injected.seq` has no gaps within a scope, because ids are removed only at its lower end. So it also counts them.
 * - The scope is the session, or "" (not a valid session name) for an unbound store.
 */
import { HoldfastError } from "../../errors.js";
import { pragma } from "../../stores/sqlite/file/connection.js";
import { type Database, openDatabase } from "../../stores/sqlite/file/driver.js";
import { refuseForeignLog } from "../../stores/sqlite/file/lost-log.js";
import { MARK_TABLES } from "../../stores/sqlite/file/main-file.js";

/** Application ids of a buffer ("HBuf" in ASCII) and of a memory ("Hold"). */
const APPLICATION_ID = 0x48427566;
const MEMORY_APPLICATION_ID = 0x486f6c64;

export const FORMAT_VERSION = 1;

const TABLES = `
${MARK_TABLES}
CREATE TABLE entry (
  key INTEGER PRIMARY KEY AUTOINCREMENT,
  session TEXT NOT NULL,
  session_key TEXT NOT NULL,
  at INTEGER NOT NULL,
  payload TEXT NOT NULL
);
CREATE INDEX entry_session ON entry (session, key);

CREATE TABLE hold (
  entry INTEGER PRIMARY KEY,
  attempts INTEGER NOT NULL,
  until INTEGER,
  ms INTEGER NOT NULL
);
CREATE TRIGGER entry_gone AFTER DELETE ON entry BEGIN DELETE FROM hold WHERE entry = old.key; END;

CREATE TABLE injected (
  scope TEXT NOT NULL,
  seq INTEGER NOT NULL,
  id TEXT NOT NULL,
  PRIMARY KEY (scope, seq)
) WITHOUT ROWID;
CREATE UNIQUE INDEX injected_id ON injected (scope, id);
`;

/** Throws for a file that is not a buffer. Only reads: a refused file is unchanged, including its journal mode. */
export function refuseForeignFile(path: string): void {
  const database = openDatabase(path, true);
  try {
    refuseForeign(database, path);
    refuseForeignLog(database, path);
  } finally {
    database.close();
  }
}

/** Creates missing tables in one transaction. The caller must repeat it on BUSY. */
export function makeTables(database: Database, path: string): void {
  if (isMade(database)) return;
  database.exec("BEGIN IMMEDIATE");
  try {
    refuseForeign(database, path); // another process may have been faster
    if (!isMade(database)) {
      database.exec(`
        ${TABLES}
        PRAGMA user_version = ${FORMAT_VERSION};
        PRAGMA application_id = ${APPLICATION_ID};
      `);
    }
    database.exec("COMMIT");
  } catch (error) {
    if (database.isTransaction) database.exec("ROLLBACK");
    throw error;
  }
}

const isMade = (database: Database): boolean => pragma(database, "user_version") === FORMAT_VERSION;

/** One statement, hence one snapshot: another process may be creating the tables. */
const HEAD = `
  SELECT (SELECT application_id FROM pragma_application_id) AS application,
         (SELECT user_version FROM pragma_user_version) AS version,
         (SELECT count(*) FROM sqlite_schema) AS tables
`;

function refuseForeign(database: Database, path: string): void {
  const head = database.prepare(HEAD).get();
  const application = Number(head?.["application"]);
  const version = Number(head?.["version"]);
  const isNew = application === 0 && version === 0 && head?.["tables"] === 0;
  if (application === APPLICATION_ID) refuseNewer(version, path);
  else if (!isNew) {
    const what = application === MEMORY_APPLICATION_ID ? "a memory of Holdfast, not a buffer" : "of another program";
    throw new HoldfastError("store_failed", `${path} is ${what}`, {
      hint: "choose another path: a buffer needs its own file; nothing was changed",
    });
  }
}

export function refuseNewer(version: number, path: string): void {
  if (version <= FORMAT_VERSION) return;
  throw new HoldfastError(
    "store_newer",
    `${path} was written by a newer Holdfast (buffer format ${version}, this one supports ${FORMAT_VERSION})`,
    { hint: "upgrade this program; nothing was changed" },
  );
}
