/** What a file holds, in numbers. */
import { statSync } from "node:fs";
import { HoldfastError } from "../errors.js";
import { pragma } from "../stores/sqlite/connection.js";
import { type Database, openDatabase } from "../stores/sqlite/driver.js";
import { WAITS } from "../stores/sqlite/lanes.js";
import { SCHEMA_VERSION } from "../stores/sqlite/schema.js";
import { VectorTables } from "../stores/sqlite/vector-table.js";
import type { VectorSpace } from "../types.js";
import { requireFile, requireOurs, row } from "./reading.js";

export interface Contents {
  readonly bytes: number;
  /** Of the write-ahead log beside it. */
  readonly logBytes: number;
  readonly schema: number;
  readonly users: number;
  readonly agents: number;
  readonly teams: number;
  readonly sessions: number;
  readonly items: number;
  readonly blocks: number;
  readonly facts: number;
  /** Items with vectors, and how many vectors they have. */
  readonly embedded: number;
  readonly chunks: number;
  /** Items that wait to be embedded, and those that could not be. */
  readonly pending: number;
  readonly parked: number;
  readonly vectorSpace?: VectorSpace;
  /** Of the vectors that are being made to take their place. */
  readonly nextSpace?: VectorSpace;
}

/** In an upkeep thread: of a file that nobody has to have open. */
export async function contentsOf(path: string): Promise<Contents> {
  requireFile(path);
  const database = openDatabase(path, true);
  try {
    requireOurs(database, path);
    const version = Number(pragma(database, "user_version"));
    if (version === SCHEMA_VERSION) return readContents(database, path);
    throw new HoldfastError("store_failed", `${path} is of an older version (schema ${version})`, {
      hint: "open it once: it is upgraded then",
    });
  } finally {
    database.close();
  }
}

/** Requires a file of this version. */
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
