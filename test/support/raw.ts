/** The database file as any other program sees it: through the bare driver, without Holdfast. */
import { createRequire } from "node:module";
import { join } from "node:path";
import { root } from "./root.js";

type Value = null | number | string | Uint8Array;
type Row = { readonly [column: string]: Value };

export interface RawDatabase {
  exec(sql: string): void;
  prepare(sql: string): { get(...values: Value[]): Row | undefined; all(...values: Value[]): Row[] };
  close(): void;
}

interface Driver {
  readonly DatabaseSync: new (path: string, options: { readonly timeout: number }) => RawDatabase;
}

// The very driver of the package: two copies of SQLite in one process release each other's locks.
const driver = (process.getBuiltinModule("node:sqlite" as never) ??
  createRequire(import.meta.url)(join(root, "dist/parts/sqlite/dist/index.cjs"))) as Driver;

/** Waits for locks inside SQLite: with the whole process for as long as a few seconds. */
export function openRaw(path: string): RawDatabase {
  return new driver.DatabaseSync(path, { timeout: 5_000 });
}

/** The store's own count of the file's commits: nothing was written while it stays the same. */
export function commitsOf(path: string): number {
  const database = openRaw(path);
  try {
    return Number(database.prepare("SELECT commit_no FROM head").get()?.["commit_no"]);
  } finally {
    database.close();
  }
}

/**
 * What is wrong with the file; empty when it is sound. SQLite's own check, the word index's own check, and the counts
 * that the store keeps beside its rows: they are written in the same transaction, so they never differ.
 *
 * It leaves traces: the last connection that closes empties the log; and the driver keeps the file open until its
 * statements are collected as garbage, so that in this process the file is not to be replaced by another afterwards.
 */
export function unsoundness(path: string): string[] {
  const database = openRaw(path);
  try {
    const problems = database
      .prepare("PRAGMA integrity_check")
      .all()
      .map((row) => String(row["integrity_check"]))
      .filter((line) => line !== "ok");
    try {
      database.exec("INSERT INTO words (words) VALUES ('integrity-check')");
    } catch (error) {
      problems.push(`words index: ${(error as Error).message}`);
    }
    database.exec("CREATE VIRTUAL TABLE temp.postings USING fts5vocab(main, words, instance)");
    for (const { name, sql } of INVARIANTS) {
      const broken = database.prepare(sql).all();
      if (broken.length > 0) problems.push(`${name}: ${JSON.stringify(broken.slice(0, 3))}`);
    }
    return problems;
  } finally {
    database.close();
  }
}

/** Each query finds rows that break an invariant. */
const INVARIANTS: readonly { readonly name: string; readonly sql: string }[] = [
  {
    name: "head.items is not the number of items",
    sql: "SELECT items, (SELECT count(*) FROM item) AS counted FROM head WHERE items <> counted",
  },
  {
    name: "head.blocks is not the number of blocks",
    sql: "SELECT blocks, (SELECT count(*) FROM block) AS counted FROM head WHERE blocks <> counted",
  },
  {
    name: "head.users, agents, teams or sessions are not the numbers of them",
    sql: `SELECT users, agents, teams, sessions FROM head WHERE (users, agents, teams, sessions) <>
          (SELECT count(*) FILTER (WHERE kind = 0), count(*) FILTER (WHERE kind = 1), count(*) FILTER (WHERE kind = 2),
             (SELECT count(*) FROM session) FROM space)`,
  },
  {
    name: "the count of a kind is not the number of its items",
    sql: `SELECT kind, kind_count.items, counted.items AS counted
          FROM kind_count FULL JOIN (SELECT kind, count(*) AS items FROM item WHERE kind <> 0 GROUP BY kind) AS counted
          USING (kind) WHERE coalesce(kind_count.items, 0) <> coalesce(counted.items, 0)`,
  },
  {
    name: "a space's items or terms are not what its items add up to",
    sql: `SELECT space.key, space.items, space.terms, count(item.key) AS counted, coalesce(sum(item.length), 0) AS summed
          FROM space LEFT JOIN item ON item.space = space.key GROUP BY space.key
          HAVING space.items <> counted OR space.terms <> summed`,
  },
  {
    name: "a session's next sequence is not behind its last",
    sql: `SELECT session.key, next_seq, max(item.seq) AS last FROM session JOIN item ON item.session = session.key
          GROUP BY session.key HAVING next_seq <= last`,
  },
  {
    name: "two items have the same place in a session",
    sql: "SELECT session, seq FROM item WHERE session IS NOT NULL GROUP BY session, seq HAVING count(*) > 1",
  },
  {
    name: "the words index has an item that is gone",
    sql: "SELECT doc / 1024 AS key FROM temp.postings EXCEPT SELECT key FROM item",
  },
  {
    name: "the words index misses an item",
    sql: "SELECT key FROM item WHERE words <> '' EXCEPT SELECT doc / 1024 FROM temp.postings",
  },
  { name: "an item of no space", sql: "SELECT key FROM item WHERE space NOT IN (SELECT key FROM space)" },
  {
    name: "an item of no session",
    sql: "SELECT key FROM item WHERE session IS NOT NULL AND session NOT IN (SELECT key FROM session)",
  },
  {
    name: "an item of a version that its space has not come to",
    sql: "SELECT item.key, space_version FROM item JOIN space ON space.key = item.space WHERE space_version > space.version",
  },
  {
    name: "an item that was added to its space after a later one",
    sql: `SELECT key, space_version FROM (SELECT key, space_version, lag(space_version) OVER (PARTITION BY space ORDER BY key)
          AS before FROM item WHERE version = 1) WHERE before > space_version`,
  },
  {
    name: "a change from the future",
    sql: `SELECT item, change.commit_no FROM head, change LEFT JOIN space ON space.key = change.space
          WHERE change.commit_no > head.commit_no OR change.space_version > space.version`,
  },
  {
    name: "a change that tells that an item is gone which is there",
    sql: "SELECT item FROM change WHERE removed = 1 AND item IN (SELECT key FROM item)",
  },
];
