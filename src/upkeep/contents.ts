/** Statistics of a file's contents. */
import { statSync } from "node:fs";
import { HoldfastError } from "../errors.js";
import { VectorTables } from "../stores/sqlite/embedding/vector-table.js";
import { pragma } from "../stores/sqlite/file/connection.js";
import { type Database, openDatabase } from "../stores/sqlite/file/driver.js";
import { SCHEMA_VERSION } from "../stores/sqlite/file/schema.js";
import { WAITS } from "../stores/sqlite/rows/lanes.js";
import type { VectorSpace } from "../types.js";
import { requireFile, requireOurs, row } from "./reading.js";

/** What a file contains, in numbers. */
export interface Contents {
  /** Size of the file. */
  readonly bytes: number;
  /** Size of the write-ahead log. */
  readonly logBytes: number;
  /** The version of its tables. */
  readonly schema: number;
  /** Number of users. */
  readonly users: number;
  /** Number of agents. */
  readonly agents: number;
  /** Number of teams. */
  readonly teams: number;
  /** Number of sessions. */
  readonly sessions: number;
  /** Number of items. */
  readonly items: number;
  /** Number of blocks. */
  readonly blocks: number;
  /** Number of facts in any state. */
  readonly facts: number;
  /** Number of items with vectors, and of their vectors. */
  readonly embedded: number;
  /** Number of vectors. */
  readonly chunks: number;
  /** Items that wait to be embedded, and items that could not be embedded. */
  readonly pending: number;
  /** Items that could not be embedded. */
  readonly parked: number;
  /** The kind of vectors in use; absent if nothing was embedded yet. */
  readonly vectorSpace?: VectorSpace;
  /** The vector space that a reindex is building. */
  readonly nextSpace?: VectorSpace;
}

/** Runs in an upkeep thread. The file need not be open. */
export async function contentsOf(path: string): Promise<Contents> {
  requireFile(path);
  const database = openDatabase(path, true);
  try {
    requireOurs(database, path);
    const version = Number(pragma(database, "user_version"));
    if (version === SCHEMA_VERSION) return readContents(database, path);
    throw new HoldfastError("store_failed", `${path} has an older version (schema ${version})`, {
      hint: "open the file once to upgrade it",
    });
  } finally {
    database.close();
  }
}

/** Requires a file of the current schema version. */
export function readContents(database: Database, path: string): Contents {
  const counts = row(
    database,
    `SELECT schema, embedded, chunks,
       (SELECT count(*) FROM space WHERE kind = 0) AS users, (SELECT count(*) FROM space WHERE kind = 1) AS agents,
       (SELECT count(*) FROM space WHERE kind = 2) AS teams, (SELECT count(*) FROM session) AS sessions,
       (SELECT count(*) FROM item) AS items, (SELECT count(*) FROM block) AS blocks,
       (SELECT count(*) FROM fact) AS facts, (SELECT count(*) FROM item WHERE ${WAITS}) AS pending,
       (SELECT count(*) FROM parked CROSS JOIN item ON item.key = parked.item WHERE item.parked = 1) AS parked
     FROM head`,
  );
  const tables = new VectorTables(database);
  const [vectorSpace, nextSpace] = [tables.current()?.space, tables.next()?.space];
  return {
    bytes: statSync(path).size,
    logBytes: logBytesOf(path),
    ...(Object.fromEntries(Object.entries(counts).map(([name, n]) => [name, Number(n)])) as Omit<
      Contents,
      "bytes" | "logBytes" | "vectorSpace" | "nextSpace"
    >),
    ...(vectorSpace && { vectorSpace }),
    ...(nextSpace && { nextSpace }),
  };
}

export const logBytesOf = (path: string): number => statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0;
