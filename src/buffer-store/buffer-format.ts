/**
 * The tables of a buffer's file, and which files are refused.
 *
 * Invariants:
 * - `entry.key` is the rowid: AUTOINCREMENT never gives one twice.
 * - Holds stand in a table of their own, so that a lease does not write a payload of megabytes again. An entry that was
 *   never leased has none; after a release `until` is null, and `attempts` stays.
 * - `injected.seq` has no gaps within a scope, since ids leave from its lower end only: it counts them.
 * - Scope is the session, or "" (which no session is called) for a store that is bound to none.
 */
import { HoldfastError } from "../errors.js";
import { pragma } from "../stores/sqlite/connection.js";
import { type Database, isNotOurs, openDatabase } from "../stores/sqlite/driver.js";

/** Marks a file as a buffer of Holdfast's ("HBuf" in ASCII), and how a file of its memory is marked ("Hold"). */
const APPLICATION_ID = 0x48427566;
const MEMORY_APPLICATION_ID = 0x486f6c64;

export const FORMAT_VERSION = 1;

const TABLES = `
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

/** Throws for a file that is not a buffer. Reads only: what is refused is not changed, not even its journal mode. */
export function refuseForeignFile(path: string): void {
  const database = openDatabase(path, true);
  try {
    refuseForeign(database, path);
  } catch (error) {
    if (!isNotOurs(error)) throw error;
    throw new HoldfastError("store_failed", `${path} is damaged or is not a database`, {
      cause: error,
      hint: "restore the file from a backup, or choose another path; nothing was changed",
    });
  } finally {
    database.close();
  }
}

/** Makes the tables if they are not there, in one transaction. Requires that the caller repeats it on BUSY. */
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

/** In one statement, so of one moment: another process may be making the tables. */
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
      hint: "choose another path: a buffer has a file of its own; nothing was changed",
    });
  }
}

export function refuseNewer(version: number, path: string): void {
  if (version <= FORMAT_VERSION) return;
  throw new HoldfastError(
    "store_newer",
    `${path} was written by a newer Holdfast (buffer format ${version}, this one knows ${FORMAT_VERSION})`,
    { hint: "upgrade this program; nothing was changed" },
  );
}
