/**
 * Compares the vectors of a file with their texts: computes them again from the file's current contents, and compares
 * bit by bit. Reads with the bare driver in one snapshot, so that others may write meanwhile. Requires that the file
 * was embedded with a HashEmbedder (of default size, unless one is given), and with one chunk strategy.
 */
import { type ChunkRequest, chunkItems, chunkStrategy, encode, HashEmbedder } from "./product.js";
import { openRaw, type RawDatabase } from "./raw.js";

export type Strategy = "message" | "contextual";

export interface VectorAudit {
  /** The last commit that was seen: what is older is right, if nothing is wrong. */
  readonly commit: number;
  /** Items whose vectors were compared. */
  readonly compared: number;
  /** Items that wait to be embedded; of them, set aside. */
  readonly pending: number;
  readonly parked: number;
  readonly items: number;
  readonly problems: readonly string[];
}

type Row = ReturnType<ReturnType<RawDatabase["prepare"]>["all"]>[number];

/** An item that has vectors, with what they should be made of and what they are. */
interface Embedded {
  readonly key: number;
  readonly request: ChunkRequest;
  readonly spans: Buffer;
  readonly vectors: Buffer;
}

/** Compares the vectors of all items that have changed after the commit `since`, themselves or their vectors. */
export async function auditVectors(
  path: string,
  strategy: Strategy,
  since = 0,
  embedder = new HashEmbedder(),
): Promise<VectorAudit> {
  const database = openRaw(path);
  let embedded: readonly Embedded[] = [];
  let audit: Omit<VectorAudit, "compared">;
  try {
    database.exec("BEGIN");
    const table = tableOf(database);
    audit = { ...countsOf(database), problems: brokenRules(database, table) };
    if (table) embedded = embeddedSince(database, table, chunkStrategy(strategy).neighbours, since);
    database.exec("COMMIT");
  } finally {
    database.close();
  }
  const stale = await staleOf(embedded, strategy, embedder);
  return { ...audit, compared: embedded.length, problems: [...audit.problems, ...stale] };
}

/** The table of the vectors that the file keeps; undefined as long as it keeps none. */
function tableOf(database: RawDatabase): string | undefined {
  const { key } = database.prepare("SELECT vector_space AS key FROM head").get() ?? {};
  return key ? `vector_${key}` : undefined;
}

function countsOf(database: RawDatabase): Omit<VectorAudit, "compared" | "problems"> {
  const row = database
    .prepare(
      `SELECT commit_no, items, (SELECT count(*) FROM item WHERE indexed <> version) AS pending,
         (SELECT count(*) FROM item WHERE parked = 1) AS parked FROM head`,
    )
    .get();
  const [commit, items, pending, parked] = ["commit_no", "items", "pending", "parked"].map((name) =>
    Number(row?.[name]),
  ) as [number, number, number, number];
  return { commit, items, pending, parked };
}

/** Each query finds rows that break a rule; those of the second list need the table of vectors. */
const RULES: readonly { readonly name: string; readonly sql: string }[] = [
  {
    name: "an item embedded in another version than its own",
    sql: "SELECT key, version, indexed FROM item WHERE indexed NOT IN (0, version)",
  },
  { name: "a lease of nobody", sql: "SELECT lane FROM lease WHERE owner NOT IN (SELECT id FROM owner)" },
  {
    name: "a lease on a session or space that is gone",
    sql: `SELECT lane FROM lease WHERE (lane > 0 AND lane NOT IN (SELECT key FROM session))
          OR (lane < 0 AND -lane NOT IN (SELECT key FROM space))`,
  },
  { name: "a fence from the future", sql: "SELECT lane FROM lease, head WHERE lease.fence > head.fence" },
  {
    name: "text borrowed by, or from, what is not embedded or gone",
    sql: `SELECT lender, borrower FROM borrow WHERE lender NOT IN (SELECT key FROM item)
          OR borrower NOT IN (SELECT key FROM item WHERE indexed = version)`,
  },
  { name: "an item parked and embedded", sql: "SELECT key FROM item WHERE parked = 1 AND indexed = version" },
];

const VECTOR_RULES: typeof RULES = [
  { name: "vectors without their item", sql: "SELECT item FROM TABLE_ WHERE item NOT IN (SELECT key FROM item)" },
  { name: "vectors of an item twice", sql: "SELECT item FROM TABLE_ GROUP BY item HAVING count(*) > 1" },
  {
    name: "vectors of an item that waits to be embedded",
    sql: "SELECT key FROM item JOIN TABLE_ ON TABLE_.item = item.key WHERE indexed <> version",
  },
  {
    name: "an item embedded without vectors",
    sql: `SELECT key FROM item WHERE indexed = version AND trim(content) <> '' AND key NOT IN (SELECT item FROM TABLE_)`,
  },
  {
    name: "counts of embedded items and chunks that are not what there is",
    sql: `SELECT embedded, chunks, count(TABLE_.item) AS rows, coalesce(sum(length(spans) / 8), 0) AS parts
          FROM head LEFT JOIN TABLE_ GROUP BY embedded, chunks HAVING rows <> embedded OR parts <> chunks`,
  },
];

function brokenRules(database: RawDatabase, table: string | undefined): string[] {
  const rules = table ? [...RULES, ...VECTOR_RULES] : RULES;
  return rules.flatMap(({ name, sql }) => {
    const broken = database.prepare(sql.replaceAll("TABLE_", table ?? "")).all();
    return broken.length > 0 ? [`${name} (${broken.length}): ${JSON.stringify(broken.slice(0, 3))}`] : [];
  });
}

function embeddedSince(database: RawDatabase, table: string, neighbours: number, since: number): Embedded[] {
  const earlier = database.prepare(
    "SELECT key, version, name, content FROM item WHERE session = ? AND seq < ? ORDER BY seq DESC LIMIT ?",
  );
  return database
    .prepare(
      `SELECT key, version, name, content, session, seq, spans, vectors FROM item JOIN ${table} ON ${table}.item = item.key
       WHERE ${table}.commit_no > ?1 OR item.key IN (SELECT item FROM change WHERE change.commit_no > ?1)`,
    )
    .all(since)
    .map((row) => {
      const before = earlier.all(row["session"] ?? null, row["seq"] ?? null, neighbours).map(chunkable);
      return {
        key: Number(row["key"]),
        request: { item: chunkable(row), earlier: before.reverse() },
        spans: Buffer.from(row["spans"] as Uint8Array),
        vectors: Buffer.from(row["vectors"] as Uint8Array),
      };
    });
}

const chunkable = (row: Row) => ({
  key: Number(row["key"]),
  version: Number(row["version"]),
  ...(row["name"] !== null && { name: String(row["name"]) }),
  content: String(row["content"]),
});

/** The items whose vectors are not those of their text. */
async function staleOf(embedded: readonly Embedded[], strategy: Strategy, embedder: HashEmbedder): Promise<string[]> {
  const { tokensMax } = embedder;
  const fit = { tokensMax, countTokens: (texts: readonly string[]) => embedder.countTokens(texts) };
  const problems: string[] = [];
  const chunked = await chunkItems(
    chunkStrategy(strategy),
    embedded.map(({ request }) => request),
    fit,
  );
  for (const [at, { key, spans, vectors }] of embedded.entries()) {
    const chunks = chunked[at]?.chunks ?? [];
    const made = await embedder.embed(chunks.map(({ text }) => text));
    const numbers = Float32Array.from(made.flatMap((vector) => [...vector]));
    const expected = encode(numbers, embedder.dimensions);
    const places = Buffer.alloc(chunks.length * 8);
    for (const [part, { start, end }] of chunks.entries()) {
      places.writeUInt32LE(start, part * 8);
      places.writeUInt32LE(end, part * 8 + 4);
    }
    if (!spans.equals(places)) problems.push(`item ${key}: its chunks are not those of its text`);
    else if (!vectors.equals(expected)) problems.push(`item ${key}: its vectors are not those of its text`);
  }
  return problems;
}
