/** What is wrong with the rows of blocks, facts and ledgers, seen through the bare driver; empty when nothing is. */
import { openRaw } from "../support/raw.js";

/** Each query finds rows that break an invariant. */
const INVARIANTS: readonly { readonly name: string; readonly sql: string }[] = [
  { name: "a block of no space", sql: "SELECT key FROM block WHERE space NOT IN (SELECT key FROM space)" },
  { name: "a version of no block", sql: "SELECT block FROM block_edit WHERE block NOT IN (SELECT key FROM block)" },
  {
    name: "a block's versions are not all from 1 to its own",
    sql: `SELECT key, block.version, count(e.version) AS versions FROM block LEFT JOIN block_edit e ON e.block = key
          GROUP BY key HAVING versions <> block.version OR min(e.version) <> 1 OR max(e.version) <> block.version`,
  },
  { name: "a fact of no space", sql: "SELECT key FROM fact WHERE space NOT IN (SELECT key FROM space)" },
  { name: "a span of no fact", sql: "SELECT fact FROM fact_span WHERE fact NOT IN (SELECT key FROM fact)" },
  { name: "a source of no fact", sql: "SELECT fact FROM fact_source WHERE fact NOT IN (SELECT key FROM fact)" },
  { name: "a fact that rests on nothing", sql: "SELECT key FROM fact WHERE key NOT IN (SELECT fact FROM fact_source)" },
  {
    name: "a fact that rests on a message or a session that is gone",
    sql: `SELECT fact FROM fact_source AS s
          WHERE message IS NOT NULL AND NOT EXISTS (SELECT 1 FROM item WHERE id = message AND item.space = s.space)
          OR session IS NOT NULL AND session NOT IN (SELECT key FROM session)`,
  },
  {
    name: "a fact with an open span and no item, or with an item and no open span",
    sql: `SELECT fact.key FROM fact
          WHERE EXISTS (SELECT 1 FROM fact_span WHERE fact = fact.key AND "end" IS NULL)
          <> EXISTS (SELECT 1 FROM item WHERE item.id = fact.id AND item.space = fact.space)`,
  },
  { name: "a collection of no space", sql: "SELECT key FROM collection WHERE space NOT IN (SELECT key FROM space)" },
  {
    name: "a collection without points",
    sql: "SELECT key FROM collection WHERE key NOT IN (SELECT collection FROM point)",
  },
  {
    name: "a point of no collection, or of no session",
    sql: `SELECT key FROM point WHERE collection NOT IN (SELECT key FROM collection)
          OR session IS NOT NULL AND session NOT IN (SELECT key FROM session)`,
  },
  {
    name: "a vector of other dimensions than its collection",
    sql: `SELECT point.key FROM point JOIN collection ON collection.key = point.collection
          WHERE length(vector) <> 4 * dimensions`,
  },
  { name: "a ledger of no session", sql: "SELECT session FROM ledger WHERE session NOT IN (SELECT key FROM session)" },
];

export function unsoundCarried(path: string): string[] {
  const database = openRaw(path);
  try {
    return INVARIANTS.flatMap(({ name, sql }) => {
      const broken = database.prepare(sql).all();
      return broken.length > 0 ? [`${name} (${broken.length}): ${JSON.stringify(broken.slice(0, 3))}`] : [];
    });
  } finally {
    database.close();
  }
}
