/**
 * The tables, and how an older file becomes a newer one.
 *
 * Invariants:
 * - `item.key` is never given twice (it comes from `head.item_key`), so that a tombstone names one item for ever.
 * - (session, seq) is unique: two processes cannot give one place in a session twice.
 * - Indexes lead with what grows (id, commit number), so that inserts append instead of touching a page per user:
 *   measured 53 k rows/s against 26 k rows/s with the space first.
 * - The words index holds no text and no positions. Each token carries its space ("<space in base 36>:<term>"), which
 *   makes posting lists, document counts and so scores a matter of that space alone. Its row ids are
 *   key × 1024 + length, so that a first ranking needs no other table.
 */
import { HoldfastError } from "../../errors.js";
import { ANALYSIS_VERSION } from "../../retrieval/words/analyse.js";
import { version8 } from "./code-schema.js";
import { pragma } from "./connection.js";
import type { Database } from "./driver.js";
import { VERSION_5 } from "./key-schema.js";
import { VERSION_7 } from "./reindex-schema.js";

/** Marks a file as Holdfast's ("Hold" in ASCII). */
export const APPLICATION_ID = 0x486f6c64;

/** Every ASCII mark that a term may contain is part of a token; blanks and quotes separate. */
const TOKEN_MARKS = "!#$%&()*+,-./:;<=>?@[]^_{|}~";

const VERSION_1 = `
CREATE TABLE head (
  one INTEGER PRIMARY KEY CHECK (one = 1),
  commit_no INTEGER NOT NULL,
  item_key INTEGER NOT NULL,
  schema INTEGER NOT NULL,
  analysis INTEGER NOT NULL,
  items INTEGER NOT NULL,
  tombstone_floor INTEGER NOT NULL,
  -- The last commit in which a space lost its name, by a rename or a forget: what was read by name before is void.
  names_floor INTEGER NOT NULL,
  -- 0: nothing forgotten is left in the file; 1: to be checked; 2: words to be merged away first
  purge INTEGER NOT NULL,
  purge_since INTEGER NOT NULL,
  -- How many transactions have forgotten something that is not purged yet, of all processes together.
  unpurged INTEGER NOT NULL
);
INSERT INTO head VALUES (1, 0, 0, 1, ${ANALYSIS_VERSION}, 0, 0, 0, 0, 0, 0);

-- The last group that each open process has committed: after a commit of unknown outcome it tells what happened.
CREATE TABLE writer (id TEXT PRIMARY KEY, grp TEXT NOT NULL, at INTEGER NOT NULL) WITHOUT ROWID;

CREATE TABLE space (
  key INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  kind INTEGER NOT NULL,
  name TEXT NOT NULL,
  description TEXT,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  retention_ms INTEGER,
  version INTEGER NOT NULL,
  items INTEGER NOT NULL,
  terms INTEGER NOT NULL,
  UNIQUE (kind, name)
);

CREATE TABLE session (
  key INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  space INTEGER NOT NULL,
  agent INTEGER,
  name TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  next_seq INTEGER NOT NULL,
  UNIQUE (space, name)
);

-- In which spaces items or sessions name an agent: their answers change when the agent is renamed or forgotten.
CREATE TABLE presence (agent INTEGER NOT NULL, space INTEGER NOT NULL, PRIMARY KEY (agent, space)) WITHOUT ROWID;

CREATE TABLE item (
  key INTEGER PRIMARY KEY,
  space INTEGER NOT NULL,
  id TEXT NOT NULL,
  kind INTEGER NOT NULL,
  session INTEGER,
  agent INTEGER,
  seq INTEGER,
  round INTEGER,
  role INTEGER,
  name TEXT,
  content TEXT NOT NULL,
  parts TEXT,
  metadata TEXT,
  tier INTEGER NOT NULL,
  occurred_at INTEGER NOT NULL,
  recorded_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  expires_at INTEGER,
  version INTEGER NOT NULL,
  commit_no INTEGER NOT NULL,
  -- The analysed words, "term" or "term*count" between blanks: what the words index holds of this item.
  words TEXT NOT NULL,
  length INTEGER NOT NULL
);
CREATE UNIQUE INDEX item_id ON item (id, space);
CREATE UNIQUE INDEX item_seq ON item (session, seq) WHERE session IS NOT NULL;
CREATE INDEX item_space ON item (space);
CREATE INDEX item_commit ON item (commit_no);
CREATE INDEX item_expiry ON item (expires_at) WHERE expires_at IS NOT NULL;

CREATE VIRTUAL TABLE words USING fts5(
  terms, content='', columnsize=0, detail=none, tokenize="ascii tokenchars '${TOKEN_MARKS}'"
);
INSERT INTO words (words, rank) VALUES ('secure-delete', 1);

-- Answers of adds with an idempotency key. The hash is emptied when an item of the round is forgotten.
CREATE TABLE receipt (
  space INTEGER NOT NULL,
  session INTEGER NOT NULL,
  key TEXT NOT NULL,
  hash TEXT NOT NULL,
  ids TEXT NOT NULL,
  sequences TEXT NOT NULL,
  first_item INTEGER NOT NULL,
  last_item INTEGER NOT NULL,
  at INTEGER NOT NULL,
  PRIMARY KEY (space, session, key)
) WITHOUT ROWID;
CREATE INDEX receipt_at ON receipt (at);

-- What was removed and when, for other processes' caches. No text and no ids of callers.
CREATE TABLE tombstone (
  commit_no INTEGER NOT NULL,
  item INTEGER NOT NULL,
  space INTEGER NOT NULL,
  PRIMARY KEY (commit_no, item)
) WITHOUT ROWID;
`;

/**
 * Retrieval by meaning. Every item of an older file is pending. The tables of vectors are made when their vector space
 * is adopted (vector-spaces.ts).
 *
 * - `item.indexed` is the version that was embedded, or 0; so it is pending while `indexed <> version`. The two indexes
 *   hold only items that wait; all that `waiting` asks for is in `item_lane` itself, so that no item is read for it.
 * - A lane is a session's key, or the negative key of a space for what it holds outside any session; 0 is the outbox.
 */
const VERSION_2 = `
ALTER TABLE item ADD COLUMN indexed INTEGER NOT NULL DEFAULT 0;
ALTER TABLE item ADD COLUMN parked INTEGER NOT NULL DEFAULT 0;
CREATE INDEX item_lane ON item (session, space, key, expires_at, recorded_at) WHERE indexed <> version AND parked = 0;
CREATE INDEX item_tail ON item (space) WHERE indexed <> version AND parked = 0;
CREATE INDEX space_retention ON space (key) WHERE retention_ms IS NOT NULL;

-- The vector space in use (0: none), how many items have vectors of it, and how many vectors those are.
ALTER TABLE head ADD COLUMN vector_space INTEGER NOT NULL DEFAULT 0;
ALTER TABLE head ADD COLUMN embedded INTEGER NOT NULL DEFAULT 0;
ALTER TABLE head ADD COLUMN chunks INTEGER NOT NULL DEFAULT 0;
-- Fences of leases and beats of owners come from this one counter.
ALTER TABLE head ADD COLUMN fence INTEGER NOT NULL DEFAULT 0;
-- The external index attached, and the item up to which its first load is queued (null: all of it).
ALTER TABLE head ADD COLUMN outbox_index TEXT;
ALTER TABLE head ADD COLUMN outbox_cursor INTEGER;

CREATE TABLE vector_space (
  key INTEGER PRIMARY KEY,
  model TEXT NOT NULL,
  runtime TEXT NOT NULL,
  dimensions INTEGER NOT NULL,
  created_at INTEGER NOT NULL
);

-- Whose vectors carry whose text.
CREATE TABLE borrow (lender INTEGER NOT NULL, borrower INTEGER NOT NULL, PRIMARY KEY (lender, borrower)) WITHOUT ROWID;
CREATE INDEX borrow_borrower ON borrow (borrower);

-- How often an item could not be embedded. It stays while the item is tried again, to keep the count; set aside are
-- those with item.parked = 1.
CREATE TABLE parked (
  item INTEGER PRIMARY KEY,
  version INTEGER NOT NULL,
  attempts INTEGER NOT NULL,
  error TEXT NOT NULL,
  parked_at INTEGER NOT NULL,
  retry_at INTEGER
);
CREATE INDEX parked_retry ON parked (retry_at, parked_at) WHERE retry_at IS NOT NULL;

CREATE TABLE lease (lane INTEGER PRIMARY KEY, owner TEXT NOT NULL, fence INTEGER NOT NULL);
CREATE INDEX lease_owner ON lease (owner);
CREATE TABLE owner (id TEXT PRIMARY KEY, process TEXT NOT NULL, beat INTEGER NOT NULL) WITHOUT ROWID;

-- Changes of vectors for the external index: op 0 upsert, 1 delete. Numbers only, so that nothing forgotten stays here.
CREATE TABLE outbox (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  item INTEGER NOT NULL,
  space INTEGER NOT NULL,
  space_id TEXT NOT NULL,
  op INTEGER NOT NULL,
  parts INTEGER NOT NULL,
  attempts INTEGER NOT NULL DEFAULT 0,
  failed_at INTEGER NOT NULL DEFAULT 0,
  retry_at INTEGER NOT NULL DEFAULT 0,
  error TEXT
);
CREATE INDEX outbox_item ON outbox (item, seq);
CREATE INDEX outbox_space ON outbox (space, item);
CREATE INDEX outbox_failed ON outbox (seq) WHERE attempts > 0;
`;

/** Names of speakers, for questions that name one of them. */
const VERSION_3 = `
CREATE INDEX item_name ON item (name COLLATE NOCASE, space) WHERE name IS NOT NULL;
`;

/**
 * What agents edit and carry.
 *
 * - A block's text and settings are those of its newest edit. Each edit has the whole text: blocks are small.
 * - A fact that holds has an item of the same id. `start` and `end` of a span are valid times; end is null while it holds.
 * - A source is a message by its id (an item or a fact that has ended), else a session, else (both null) the word of the
 *   host. The oldest has the lowest key.
 */
const VERSION_4 = `
-- All that scoring by words reads of the messages around a hit, so that their rows are not read: they are long.
CREATE INDEX item_around ON item (session, seq, length, space, expires_at, recorded_at, name) WHERE session IS NOT NULL;

CREATE TABLE block (
  key INTEGER PRIMARY KEY AUTOINCREMENT,
  space INTEGER NOT NULL,
  id TEXT NOT NULL,
  name TEXT NOT NULL,
  version INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  UNIQUE (space, name)
);
CREATE UNIQUE INDEX block_id ON block (id, space);
CREATE TABLE block_edit (
  block INTEGER NOT NULL,
  version INTEGER NOT NULL,
  name TEXT NOT NULL,
  content TEXT NOT NULL,
  description TEXT,
  max_tokens INTEGER NOT NULL,
  counter TEXT NOT NULL,
  policy TEXT NOT NULL,
  read_only INTEGER NOT NULL,
  reason TEXT NOT NULL,
  actor TEXT,
  at INTEGER NOT NULL,
  PRIMARY KEY (block, version)
);

CREATE TABLE fact (
  key INTEGER PRIMARY KEY AUTOINCREMENT,
  space INTEGER NOT NULL,
  id TEXT NOT NULL,
  category TEXT NOT NULL,
  content TEXT NOT NULL,
  confidence REAL NOT NULL,
  pinned INTEGER NOT NULL,
  state INTEGER NOT NULL,
  recorded_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  -- From when its space's retention counts: when its item was recorded, or the last one it had.
  kept_from INTEGER NOT NULL,
  -- The expiry that its item had; null while it holds, because then the item has it.
  expires_at INTEGER,
  version INTEGER NOT NULL
);
CREATE UNIQUE INDEX fact_id ON fact (id, space);
CREATE INDEX fact_space ON fact (space, key);
CREATE INDEX fact_pinned ON fact (space, key) WHERE pinned = 1;
CREATE INDEX fact_kept ON fact (space, kept_from) WHERE state <> 0;
CREATE INDEX fact_expiry ON fact (expires_at) WHERE expires_at IS NOT NULL;
CREATE TABLE fact_span (
  fact INTEGER NOT NULL,
  start INTEGER NOT NULL,
  "end" INTEGER,
  -- The key of the fact that took its place, which may have been forgotten since.
  superseded_by INTEGER,
  PRIMARY KEY (fact, start)
) WITHOUT ROWID;
CREATE TABLE fact_source (
  key INTEGER PRIMARY KEY,
  fact INTEGER NOT NULL,
  space INTEGER NOT NULL,
  message TEXT,
  session INTEGER
);
CREATE INDEX fact_source_fact ON fact_source (fact);
CREATE INDEX fact_source_message ON fact_source (message, space) WHERE message IS NOT NULL;
CREATE INDEX fact_source_session ON fact_source (session) WHERE session IS NOT NULL;

-- What stands in the window of a session's model. place: the order in which entries were put.
CREATE TABLE ledger (
  session INTEGER NOT NULL,
  ref TEXT NOT NULL,
  version INTEGER NOT NULL,
  tokens INTEGER NOT NULL,
  place INTEGER NOT NULL,
  PRIMARY KEY (session, ref)
) WITHOUT ROWID;
CREATE INDEX ledger_place ON ledger (session, place);
ALTER TABLE session ADD COLUMN saved INTEGER NOT NULL DEFAULT 0;
ALTER TABLE session ADD COLUMN resets INTEGER NOT NULL DEFAULT 0;
ALTER TABLE session ADD COLUMN extracted INTEGER NOT NULL DEFAULT 0;

-- The log of promotions, and the copies of which both sides are still there.
CREATE TABLE promotion (
  key INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL,
  from_space INTEGER NOT NULL,
  to_space INTEGER NOT NULL,
  actor TEXT,
  reason TEXT NOT NULL,
  at INTEGER NOT NULL
);
CREATE INDEX promotion_target ON promotion (to_space, key);
CREATE TABLE copy (
  id TEXT NOT NULL,
  from_space INTEGER NOT NULL,
  to_space INTEGER NOT NULL,
  PRIMARY KEY (id, from_space, to_space)
) WITHOUT ROWID;
`;

/** What waits to be embedded, by when it was last touched: how old a backlog is, is its first entry. */
const VERSION_6 = `
CREATE INDEX item_waiting ON item (updated_at) WHERE indexed <> version AND parked = 0;
`;

/** Each entry takes a file from the version before it to its own; they are never edited once released. */
const MIGRATIONS: readonly (string | ((database: Database) => void))[] = [
  VERSION_1,
  VERSION_2,
  VERSION_3,
  VERSION_4,
  VERSION_5,
  VERSION_6,
  VERSION_7,
  version8,
];

export const SCHEMA_VERSION = MIGRATIONS.length;

/** Brings the file to this version, in one transaction. Requires one that is ours, and that the caller retries on BUSY. */
export function migrate(database: Database): void {
  if (pragma(database, "user_version") === SCHEMA_VERSION) return;
  database.exec("BEGIN IMMEDIATE");
  try {
    const from = Number(pragma(database, "user_version")); // another process may have been faster
    for (const step of MIGRATIONS.slice(from)) {
      if (typeof step === "string") database.exec(step);
      else step(database);
    }
    database.exec(`
      UPDATE head SET schema = ${SCHEMA_VERSION};
      PRAGMA user_version = ${SCHEMA_VERSION};
      PRAGMA application_id = ${APPLICATION_ID};
      COMMIT;
    `);
  } catch (error) {
    if (database.isTransaction) database.exec("ROLLBACK"); // on a full disk SQLite has done so itself
    throw error;
  }
}

/** A database of another program, or of a newer version of this one, is left as it is. */
export function refuseForeign(database: Database, path: string): void {
  // One snapshot: another process may be making the tables at this moment.
  database.exec("BEGIN");
  const version = Number(pragma(database, "user_version"));
  const application = Number(pragma(database, "application_id"));
  const tables = Number(database.prepare("SELECT count(*) AS n FROM sqlite_schema").get()?.["n"]);
  database.exec("COMMIT");
  if (tables > 0 && application !== APPLICATION_ID) {
    throw new HoldfastError("store_failed", `${path} is a database of another program`, {
      hint: "choose another path; nothing was changed",
    });
  }
  if (version > SCHEMA_VERSION) throw newerFile(path, version);
}

export function newerFile(path: string, version: number): HoldfastError {
  return new HoldfastError(
    "store_newer",
    `${path} was written by a newer Holdfast (schema ${version}, this one knows ${SCHEMA_VERSION})`,
    { hint: "upgrade this program; nothing was changed" },
  );
}
