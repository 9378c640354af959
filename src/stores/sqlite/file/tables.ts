/**
 * The tables of the file.
 *
 * Invariants:
 * - `file` and `log` (main-file.ts) come first: they are read without the log.
 * - `item.key` is never reused (it comes from `head.item_key`), so a change identifies one item forever.
 * - `space.version` increases by one with each commit that changes the space. `item.space_version` is the version that
 *   the item's last add or edit gave its space. Keys increase with each add, so the items added after a version are
 *   those after the last item that is not newer. Later edits and removals are in `change`.
 * - `head.commit_no` counts the commits of the whole file. It never leaves this store. Mirrors, which serve many spaces
 *   at once, follow it, and old changes are trimmed by it.
 * - (session, seq) is unique: a sequence is taken from `session.next_seq` in the transaction that uses it. No unique
 *   index enforces this, because every index costs a page of log per add.
 * - Indexes lead with an increasing column (an id, for instance), so that inserts append instead of touching a page per
 *   user: 53 k rows/s against 26 k rows/s with the space first.
 * - The word index holds no text and no positions. Each token includes its space ("<space in base 36>:<term>"), so
 *   posting lists, document counts and scores depend on that space alone. Its row ids are key × 1024 + length, so a
 *   first ranking needs no other table.
 * - `item.indexed` is the version that was embedded, or 0: an item is pending while `indexed <> version`. The partial
 *   indexes on pending items are covering, so `waiting` reads no item.
 * - A lane is a session's key, or the negated key of a space for items outside any session; 0 is the outbox.
 * - The vector tables are created when their vector space is adopted (vector-table.ts).
 * - A block's text and settings are those of its newest edit. Each edit holds the whole text, because blocks are small.
 * - A fact that holds has an item with the same id. `start` and `end` of a span are valid times; end is null while it
 *   holds.
 * - A source is a message by its id (an item or an ended fact), else a session, else (both null) the host itself. The
 *   oldest source has the lowest key.
 * - Only the SHA-256 of an API key's secret is stored, in hex. `api_key_space.space` is the key of a space, which
 *   survives renames and is never reused; 0 means all spaces of the kind. When a space is forgotten, its rows stay and
 *   refer to none.
 * - `head.next_space` is the vector space being filled (0: none). Every item up to `next_cursor` has its vectors there,
 *   or a row in `next_due`; later items have not been processed. `next_passed` counts the items up to there;
 *   `next_embedded` and `next_chunks` become `embedded` and `chunks` at the switch.
 * - `vector_space.state`: 0 in use; 1 formerly served and 2 abandoned, both with vectors being removed; 3 without a table
 *   of its own, because it was removed, or because its vectors are points (point-tables.ts). Rows stay, so that keys are
 *   never reused.
 * - `borrow` covers all vector spaces together: a lender's text may be in some vectors of the borrower.
 */
import { ANALYSIS_VERSION } from "../../../retrieval/words/analyse.js";
import { MARK_TABLES } from "./main-file.js";

/** All ASCII characters that a term may contain count as token characters; blanks and quotes separate tokens. */
const TOKEN_MARKS = "!#$%&()*+,-./:;<=>?@[]^_{|}~";

export const TABLES = `
${MARK_TABLES}
CREATE TABLE head (
  one INTEGER PRIMARY KEY CHECK (one = 1),
  commit_no INTEGER NOT NULL DEFAULT 0,
  item_key INTEGER NOT NULL DEFAULT 0,
  schema INTEGER NOT NULL DEFAULT 0,
  analysis INTEGER NOT NULL DEFAULT ${ANALYSIS_VERSION},
  items INTEGER NOT NULL DEFAULT 0,
  -- The last commit whose changes were trimmed.
  change_floor INTEGER NOT NULL DEFAULT 0,
  -- 0: nothing forgotten is left in the file; 1: to be checked; 2: words to be merged away first
  purge INTEGER NOT NULL DEFAULT 0,
  purge_since INTEGER NOT NULL DEFAULT 0,
  -- How many transactions have forgotten something that is not purged yet, of all processes together.
  unpurged INTEGER NOT NULL DEFAULT 0,
  -- The vector space in use (0: none), how many items have vectors of it, and how many vectors those are.
  vector_space INTEGER NOT NULL DEFAULT 0,
  embedded INTEGER NOT NULL DEFAULT 0,
  chunks INTEGER NOT NULL DEFAULT 0,
  -- Fences of leases and beats of owners come from this one counter.
  fence INTEGER NOT NULL DEFAULT 0,
  -- The external index attached, and the item up to which its first load is queued (null: all of it).
  outbox_index TEXT,
  outbox_cursor INTEGER,
  -- The vector space that is being filled.
  next_space INTEGER NOT NULL DEFAULT 0,
  next_cursor INTEGER NOT NULL DEFAULT 0,
  next_passed INTEGER NOT NULL DEFAULT 0,
  next_embedded INTEGER NOT NULL DEFAULT 0,
  next_chunks INTEGER NOT NULL DEFAULT 0,
  -- After a switch, items may still look pending that have vectors of the new space.
  settling INTEGER NOT NULL DEFAULT 0,
  -- The store's own count of the time in which it was used, and what the clock said at the last commit.
  in_use_ms INTEGER NOT NULL DEFAULT 0,
  used_at INTEGER NOT NULL DEFAULT 0,
  -- The last group, and the process that committed it. Other processes' last groups are in \`writer\`.
  last_writer TEXT,
  last_group TEXT
);
INSERT INTO head (one) VALUES (1);

-- The last group that each open process has committed, except the last of all, which is in \`head\`. After a commit of
-- unknown outcome it tells what happened. in_use_ms: the store's time in use by then, at least.
CREATE TABLE writer (id TEXT PRIMARY KEY, grp TEXT NOT NULL, in_use_ms INTEGER NOT NULL) WITHOUT ROWID;

-- Seals cursors (cursors.ts).
CREATE TABLE secret (cursors BLOB NOT NULL);
INSERT INTO secret VALUES (randomblob(32));

CREATE TABLE space (
  key INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  kind INTEGER NOT NULL,
  name TEXT NOT NULL,
  description TEXT,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  retention_ms INTEGER,
  version INTEGER NOT NULL DEFAULT 0,
  -- The last version whose changes were trimmed.
  change_floor INTEGER NOT NULL DEFAULT 0,
  items INTEGER NOT NULL DEFAULT 0,
  terms INTEGER NOT NULL DEFAULT 0,
  UNIQUE (kind, name)
);
CREATE INDEX space_retention ON space (key) WHERE retention_ms IS NOT NULL;

CREATE TABLE session (
  key INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  space INTEGER NOT NULL,
  agent INTEGER,
  name TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  next_seq INTEGER NOT NULL,
  saved INTEGER NOT NULL DEFAULT 0,
  resets INTEGER NOT NULL DEFAULT 0,
  extracted INTEGER NOT NULL DEFAULT 0,
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
  space_version INTEGER NOT NULL,
  -- The analysed words, "term" or "term*count" between blanks: what the words index holds of this item.
  words TEXT NOT NULL,
  length INTEGER NOT NULL,
  indexed INTEGER NOT NULL DEFAULT 0,
  parked INTEGER NOT NULL DEFAULT 0
);
CREATE UNIQUE INDEX item_id ON item (id, space);
CREATE INDEX item_space ON item (space);
CREATE INDEX item_expiry ON item (expires_at) WHERE expires_at IS NOT NULL;
-- Names of speakers, for questions that name one of them.
CREATE INDEX item_name ON item (name COLLATE NOCASE, space) WHERE name IS NOT NULL;
-- By place in the session, with all that scoring by words reads of the messages around a hit: their rows are long.
CREATE INDEX item_around ON item (session, seq, length, space, expires_at, recorded_at, name) WHERE session IS NOT NULL;
CREATE INDEX item_lane ON item (session, space, key, expires_at, recorded_at) WHERE indexed <> version AND parked = 0;
-- With when they were last touched, for the age of the backlog.
CREATE INDEX item_tail ON item (space, key, updated_at) WHERE indexed <> version AND parked = 0;

CREATE VIRTUAL TABLE words USING fts5(
  terms, content='', columnsize=0, detail=none, tokenize="ascii tokenchars '${TOKEN_MARKS}'"
);
INSERT INTO words (words, rank) VALUES ('secure-delete', 1);

-- What units with an idempotency key (name) have done, without any text. space, session: where the key counts; 0: none.
-- hash: of the request, emptied when something that the receipt names is forgotten. in_use_ms grows with the key.
CREATE TABLE receipt (
  key INTEGER PRIMARY KEY,
  space INTEGER NOT NULL,
  session INTEGER NOT NULL,
  name TEXT NOT NULL,
  hash TEXT NOT NULL,
  notes TEXT NOT NULL,
  in_use_ms INTEGER NOT NULL,
  UNIQUE (space, session, name)
);
-- The items, facts and blocks that receipts name.
CREATE TABLE receipt_part (
  id TEXT NOT NULL,
  space INTEGER NOT NULL,
  receipt INTEGER NOT NULL,
  PRIMARY KEY (id, space, receipt)
) WITHOUT ROWID;

-- Which items were edited or removed, and when, for other processes' caches. No text and no ids of callers.
CREATE TABLE change (
  commit_no INTEGER NOT NULL,
  item INTEGER NOT NULL,
  space INTEGER NOT NULL,
  space_version INTEGER NOT NULL,
  removed INTEGER NOT NULL,
  PRIMARY KEY (commit_no, item)
) WITHOUT ROWID;
CREATE INDEX change_space ON change (space, space_version);

CREATE TABLE vector_space (
  key INTEGER PRIMARY KEY,
  model TEXT NOT NULL,
  runtime TEXT NOT NULL,
  dimensions INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  state INTEGER NOT NULL DEFAULT 0
);
CREATE TABLE next_due (item INTEGER PRIMARY KEY, error TEXT, retry_at INTEGER);

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
  error TEXT,
  -- The vector space of the points. Of a former one only deletes matter.
  vector_space INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX outbox_item ON outbox (item, seq);
CREATE INDEX outbox_space ON outbox (space, vector_space, item);
CREATE INDEX outbox_failed ON outbox (seq) WHERE attempts > 0;

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
CREATE INDEX block_edit_actor ON block_edit (actor) WHERE actor IS NOT NULL;

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

-- What the window of a session's model holds. place: the order in which entries were put.
CREATE TABLE ledger (
  session INTEGER NOT NULL,
  ref TEXT NOT NULL,
  version INTEGER NOT NULL,
  tokens INTEGER NOT NULL,
  place INTEGER NOT NULL,
  PRIMARY KEY (session, ref)
) WITHOUT ROWID;
CREATE INDEX ledger_place ON ledger (session, place);

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
CREATE INDEX promotion_actor ON promotion (actor) WHERE actor IS NOT NULL;
CREATE TABLE copy (
  id TEXT NOT NULL,
  from_space INTEGER NOT NULL,
  to_space INTEGER NOT NULL,
  PRIMARY KEY (id, from_space, to_space)
) WITHOUT ROWID;

CREATE TABLE api_key (
  key INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  name TEXT,
  access TEXT NOT NULL,
  hash TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  expires_at INTEGER,
  revoked_at INTEGER
);
-- place: the order in which they were named.
CREATE TABLE api_key_space (
  api_key INTEGER NOT NULL,
  place INTEGER NOT NULL,
  kind INTEGER NOT NULL,
  space INTEGER NOT NULL,
  PRIMARY KEY (api_key, place)
) WITHOUT ROWID;
CREATE INDEX api_key_space_space ON api_key_space (space, api_key);
`;
