/** Checks of the database: format, version, integrity, references, counts. */
import { pragma } from "../../stores/sqlite/file/connection.js";
import { type Database, isDamaged } from "../../stores/sqlite/file/driver.js";
import { APPLICATION_ID, SCHEMA_VERSION } from "../../stores/sqlite/file/schema.js";
import { count, error, type Finding, ok, REPAIR, RESTORE, repairable, warning } from "../diagnosis.js";
import { number } from "../reading.js";
import type { Look } from "./look.js";

const PROBLEMS_SHOWN = 3;
/** Matches SQLite's messages about the words index, which can be rebuilt from the items. */
const OF_WORDS_INDEX = /\bFTS5\b.*\bwords\b/i;

export function checkFormat(database: Database): Finding {
  try {
    if (number(database, "PRAGMA page_count") === 0) {
      return error("it is empty", `if it held a memory, ${RESTORE}; otherwise opening it creates one`);
    }
    if (pragma(database, "application_id") === APPLICATION_ID) return ok("a Holdfast file");
    return error("it belongs to another program", "pass the path of a memory; this file was not changed");
  } catch (cause) {
    if (!isDamaged(cause)) throw cause;
    return error("it is not a database, or is damaged", RESTORE);
  }
}

/** The schema version of the file. */
export const schemaOf = (database: Database): number => Number(pragma(database, "user_version"));

export function checkSchema(version: number): Finding {
  if (version === SCHEMA_VERSION) return ok(`version ${version}`);
  if (version > SCHEMA_VERSION) {
    const what = `version ${version}, newer than this program supports (${SCHEMA_VERSION})`;
    return error(what, "upgrade Holdfast; this version cannot open the file");
  }
  return repairable(
    warning(`version ${version}; this program uses ${SCHEMA_VERSION}`, "open the file once to upgrade it"),
  );
}

/** Problems that SQLite reports, separately for the file and for the words index. */
export function findProblems({ database, deep }: Look): { readonly file: string[]; readonly words: string[] } {
  const rows = database.prepare(deep ? "PRAGMA integrity_check(100)" : "PRAGMA quick_check(100)").all();
  const problems = rows.map((row) => String(Object.values(row)[0])).filter((line) => line !== "ok");
  return {
    file: problems.filter((line) => !OF_WORDS_INDEX.test(line)),
    words: problems.filter((line) => OF_WORDS_INDEX.test(line)),
  };
}

export function checkIntegrity(problems: readonly string[], deep: boolean): Finding {
  if (problems.length === 0) return ok(`SQLite's ${deep ? "full" : "quick"} check found nothing`);
  const shown = problems.slice(0, PROBLEMS_SHOWN).map((line) => line.replace(/\s+/g, " "));
  return error(
    `the database is damaged: ${shown.join("; ")}${problems.length > shown.length ? "; …" : ""}`,
    `${RESTORE}; a damaged file is not repaired in place (SQLite's shell can save rows: .recover)`,
  );
}

/** Rows whose parent is missing. Each query counts them. */
const DANGLING: readonly { readonly what: string; readonly sql: string }[] = [
  { what: "item without a space", sql: "SELECT count(*) FROM item WHERE space NOT IN (SELECT key FROM space)" },
  {
    what: "item without a session",
    sql: "SELECT count(*) FROM item WHERE session IS NOT NULL AND session NOT IN (SELECT key FROM session)",
  },
  {
    what: "position in a session used twice",
    sql: "SELECT count(*) FROM (SELECT 1 FROM item WHERE session IS NOT NULL GROUP BY session, seq HAVING count(*) > 1)",
  },
  { what: "session without a space", sql: "SELECT count(*) FROM session WHERE space NOT IN (SELECT key FROM space)" },
  { what: "block without a space", sql: "SELECT count(*) FROM block WHERE space NOT IN (SELECT key FROM space)" },
  {
    what: "block without its text",
    sql: `SELECT count(*) FROM block WHERE NOT EXISTS
      (SELECT 1 FROM block_edit WHERE block_edit.block = block.key AND block_edit.version = block.version)`,
  },
  {
    what: "collection without a space",
    sql: "SELECT count(*) FROM collection WHERE space NOT IN (SELECT key FROM space)",
  },
  {
    what: "point without a collection",
    sql: "SELECT count(*) FROM point WHERE collection NOT IN (SELECT key FROM collection)",
  },
  {
    what: "point without a session",
    sql: "SELECT count(*) FROM point WHERE session IS NOT NULL AND session NOT IN (SELECT key FROM session)",
  },
  { what: "fact without a space", sql: "SELECT count(*) FROM fact WHERE space NOT IN (SELECT key FROM space)" },
  {
    what: "current fact without its item",
    sql: `SELECT count(*) FROM fact WHERE state = 0 AND NOT EXISTS
      (SELECT 1 FROM item WHERE item.id = fact.id AND item.space = fact.space)`,
  },
];

export function checkReferences({ database }: Look): Finding {
  const found = DANGLING.flatMap(({ what, sql }) => {
    const rows = number(database, sql);
    return rows > 0 ? [`${rows} × ${what}`] : [];
  });
  if (found.length === 0) return ok("no dangling rows");
  return error(found.join("; "), `${RESTORE}: another program has changed the file`);
}

/** Stored counts. Each query counts those that are wrong. */
const MISCOUNTED: readonly { readonly what: string; readonly sql: string }[] = [
  { what: "the number of items", sql: "SELECT items <> (SELECT count(*) FROM item) FROM head" },
  { what: "the number of blocks", sql: "SELECT blocks <> (SELECT count(*) FROM block) FROM head" },
  {
    what: "the number of users, agents or teams",
    sql: `SELECT (users, agents, teams) <>
      (SELECT count(*) FILTER (WHERE kind = 0), count(*) FILTER (WHERE kind = 1), count(*) FILTER (WHERE kind = 2)
       FROM space) FROM head`,
  },
  { what: "the number of sessions", sql: "SELECT sessions <> (SELECT count(*) FROM session) FROM head" },
  {
    what: "the items of a kind",
    sql: `SELECT count(*) FROM (SELECT kind, count(*) AS items FROM item WHERE kind <> 0 GROUP BY kind)
      AS counted FULL JOIN kind_count USING (kind) WHERE coalesce(counted.items, 0) <> coalesce(kind_count.items, 0)`,
  },
  {
    what: "the items or words of a space",
    sql: `SELECT count(*) FROM space LEFT JOIN
      (SELECT space AS key, count(*) AS items, sum(length) AS terms FROM item GROUP BY space) AS counted USING (key)
      WHERE space.items <> coalesce(counted.items, 0) OR space.terms <> coalesce(counted.terms, 0)`,
  },
  {
    what: "the next position in a session",
    sql: `SELECT count(*) FROM session JOIN
      (SELECT session AS key, max(seq) AS last FROM item WHERE session IS NOT NULL GROUP BY session) USING (key)
      WHERE next_seq <= last`,
  },
];

export function checkCounts({ database }: Look): Finding {
  const found = MISCOUNTED.filter(({ sql }) => number(database, sql) > 0).map(({ what }) => what);
  if (found.length === 0) return ok(count(number(database, "SELECT items FROM head"), "item"));
  return repairable(error(`wrong: ${found.join(", ")}`, REPAIR));
}
