/**
 * The database file without its log: the state that a copy of the file alone would have.
 *
 * Two small tables, the first in the file, are read this way. `file.id` identifies the file. `log` records whether the
 * file is complete without its log. Invariants, where "file" is the file alone and "view" is the file with its log:
 * - Both numbers only increase, and the view's numbers are never behind the file's.
 * - `begun` = n is committed only after `announced` ≥ n is on disk in the file.
 * - So a file with announced ≠ begun lacks commits that are in a log, and a complete checkpoint by any process makes
 *   both equal. A log whose `begun` is above the file's `announced` belongs to another file or to a later state of this
 *   one.
 *
 * The numbers start at random values, so that two files are not mistaken for each other.
 */
import { pathToFileURL } from "node:url";
import { type Database, isSqliteError, openPartial, type Row, type Statement } from "./driver.js";

const NEW_ID = "lower(hex(randomblob(16)))";
const NEW_NUMBER = "abs(random() / 65536)";

export const MARK_TABLES = `
CREATE TABLE file (one INTEGER PRIMARY KEY CHECK (one = 1), id TEXT NOT NULL);
INSERT INTO file VALUES (1, ${NEW_ID});
CREATE TABLE log (one INTEGER PRIMARY KEY CHECK (one = 1), announced INTEGER NOT NULL, begun INTEGER NOT NULL);
INSERT INTO log SELECT 1, number, number FROM (SELECT ${NEW_NUMBER} AS number);
`;

/** Turns a copy into a file of its own, complete without a log. */
export const RENEW_MARK = `
UPDATE file SET id = ${NEW_ID};
UPDATE log SET (announced, begun) = (SELECT number, number FROM (SELECT ${NEW_NUMBER} AS number));
`;

export interface Mark {
  readonly id: string;
  readonly announced: number;
  readonly begun: number;
}

export const SELECT_MARK = "SELECT file.id, log.announced, log.begun FROM file, log";

export const readMark = (row: Row): Mark => ({
  id: String(row["id"]),
  announced: Number(row["announced"]),
  begun: Number(row["begun"]),
});

/** Whether the file lacks commits that are in its log. */
export const needsLog = ({ announced, begun }: Mark): boolean => announced !== begun;

/**
 * Whether a file and the log next to it can belong together. The view must be read once before the mark and once after
 * it, because other processes may announce and begin logs in between.
 */
export const belongTogether = (before: Mark, mark: Mark, after: Mark): boolean =>
  mark.id === before.id && mark.id === after.id && mark.announced >= before.begun && mark.announced <= after.announced;

/**
 * A connection that SQLite opens as `immutable`: it takes no locks and ignores the log. A plain file descriptor would
 * not do, because closing it would drop every POSIX lock that this process holds on the file.
 */
export class MainFile {
  readonly path: string;
  readonly #uri: string;
  #open: { readonly database: Database; readonly select: Statement } | undefined;

  constructor(path: string) {
    this.path = path;
    this.#uri = `${pathToFileURL(path).href}?immutable=1`;
  }

  /**
   * The current mark. Undefined if it cannot be read: the file has no such tables yet, is not a database, or contains
   * pages of several commits after an incomplete checkpoint. SQLite copies only the last version of a page, so a file
   * that was vacuumed or got new tables can be unreadable without its log until the whole log is copied.
   */
  read(): Mark | undefined {
    const isNew = this.#open === undefined;
    try {
      if (this.#open)
        this.#open.database.exec("PRAGMA shrink_memory"); // drops the cached pages
      else this.#open = connectTo(this.#uri);
      const row = this.#open.select.get();
      return row && readMark(row);
    } catch (error) {
      if (!isSqliteError(error)) throw error;
      this.close(); // a connection caches the schema; a new one reads it again
      return isNew ? undefined : this.read();
    }
  }

  /** The application id in the header, which needs no table. Undefined if it cannot be read. */
  readApplication(): number | undefined {
    try {
      const database = openPartial(this.#uri);
      try {
        return Number(database.prepare("PRAGMA application_id").get()?.["application_id"]);
      } finally {
        database.close();
      }
    } catch (error) {
      if (!isSqliteError(error)) throw error;
      return undefined;
    }
  }

  close(): void {
    this.#open?.database.close();
    this.#open = undefined;
  }
}

function connectTo(uri: string): { readonly database: Database; readonly select: Statement } {
  const database = openPartial(uri);
  try {
    return { database, select: database.prepare(SELECT_MARK) };
  } catch (error) {
    database.close();
    throw error;
  }
}
