/** A file as the fourth version of Holdfast has left it: that of the third, migrated as released, with a block and a fact. */
import { alter } from "../support/opened.js";
import { makeVersion3 } from "./version-3.js";

/** The items of `makeVersion1`; ada's block "self"; and a fact of hers that has ended, so that it has no item. */
export function makeVersion4(path: string): void {
  makeVersion3(path);
  alter(path, SCRIPT);
}

const SCRIPT = `
BEGIN;
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
  kept_from INTEGER NOT NULL,
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
INSERT INTO block VALUES (1, 1, 'b', 'self', 1, 1000);
INSERT INTO block_edit VALUES (1, 1, 'self', 'I am Ann.', NULL, 4096, 'chars4', 'manual', 0, '', NULL, 1000);
INSERT INTO fact VALUES (1, 1, 'f', 'home', 'Porto', 1, 0, 1, 1000, 2000, 1000, NULL, 2);
INSERT INTO fact_span VALUES (1, 1000, 2000, NULL);
INSERT INTO fact_source VALUES (1, 1, 1, NULL, NULL);
UPDATE head SET schema = 4;
PRAGMA user_version = 4;
COMMIT;
`;
