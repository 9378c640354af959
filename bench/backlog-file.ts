/**
 * Creates a file with many embedded messages and a long backlog, by SQL on the product's tables: `MESSAGES` messages, evenly
 * distributed over the sessions, with the newest of each session pending. Words are omitted, and all vectors are equal: the
 * backlog reads neither.
 */
import { openMemory } from "holdfast";
import type { HashEmbedder } from "holdfast/testing";
import type { Product } from "./product.js";

export const MESSAGES = 1_000_000;
export const SESSIONS = 100_000;
const USERS = 1_000;
const PER_SESSION = MESSAGES / SESSIONS;

export async function makeBacklogFile(path: string, product: Product, embedder: HashEmbedder): Promise<void> {
  const memory = await openMemory({ path, embedder });
  await memory.session({ user: "nobody", session: "none" }).add([{ role: "user", content: "makes the tables" }]);
  await memory.flush();
  await memory.forget({ user: "nobody" });
  await memory.close();

  const vector = Float32Array.from({ length: embedder.dimensions }, (_, at) => (at === 0 ? 1 : 0));
  const codes = Buffer.from(product.encode(vector, embedder.dimensions));
  const now = Date.now();
  const database = product.connect(path, "writer");
  try {
    database.exec(`
      PRAGMA synchronous = OFF;
      BEGIN IMMEDIATE;
      CREATE TEMP TABLE made (commit_no INTEGER, item_key INTEGER, space INTEGER, session INTEGER);
      INSERT INTO made SELECT commit_no + 1, item_key, (SELECT max(seq) FROM sqlite_sequence WHERE name = 'space'),
        (SELECT max(seq) FROM sqlite_sequence WHERE name = 'session') FROM head;
      ${counting("user_no", USERS)}
      INSERT INTO space (key, id, kind, name, created_at, updated_at, version, items, terms)
        SELECT made.space + 1 + n, printf('user-%06d', n), 0, printf('user %d', n), ${now}, ${now}, 1,
          ${MESSAGES / USERS}, 0 FROM user_no, made;
      ${counting("session_no", SESSIONS)}
      INSERT INTO session (key, id, space, name, created_at, updated_at, next_seq)
        SELECT made.session + 1 + n, printf('session-%06d', n), made.space + 1 + n % ${USERS}, printf('session %d', n),
          ${now}, ${now}, ${PER_SESSION + 1} FROM session_no, made;
      ${counting("item_no", MESSAGES)}
      INSERT INTO item (key, space, id, kind, session, seq, round, role, content, tier, occurred_at, recorded_at,
          updated_at, version, space_version, words, length, indexed, parked)
        SELECT made.item_key + 1 + n, made.space + 1 + n % ${SESSIONS} % ${USERS}, printf('message-%08d', n), 0,
          made.session + 1 + n % ${SESSIONS}, 1 + n / ${SESSIONS}, 1 + n / ${SESSIONS}, 0,
          printf('Message %d says that the quiet river carries small boats past old houses.', n), 1,
          ${now} - ${MESSAGES} + n, ${now} - ${MESSAGES} + n, ${now} - ${MESSAGES} + n, 1, 1, '', 0,
          n < ${MESSAGES - SESSIONS}, 0 FROM item_no, made;
      INSERT INTO vector_1 (place, item, commit_no, spans, vectors)
        SELECT (item.space << 36) | item.key, item.key, made.commit_no, x'0000000048000000', x'${codes.toString("hex")}'
        FROM item, made WHERE indexed = 1 ORDER BY item.space, item.key;
      UPDATE head SET commit_no = (SELECT commit_no FROM made), item_key = item_key + ${MESSAGES},
        items = items + ${MESSAGES}, embedded = embedded + ${MESSAGES - SESSIONS}, chunks = chunks + ${MESSAGES - SESSIONS};
      COMMIT;
      DROP TABLE made;
      PRAGMA wal_checkpoint(TRUNCATE);
    `);
  } finally {
    database.close();
  }
}

/** A table of the numbers from 0. */
const counting = (name: string, count: number): string => `
  CREATE TEMP TABLE ${name} (n INTEGER PRIMARY KEY);
  INSERT INTO ${name} WITH RECURSIVE next (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM next WHERE n < ${count - 1})
    SELECT n FROM next;`;
