/** A file as the first version of Holdfast has left it: its tables as they were released, and a few items in them. */
import { closeSync, openSync } from "node:fs";
import { alter } from "../support/opened.js";

/** Of a row in `item` that no version reads: the words are indexed anew, because the analysis is an older one. */
const WORDS = "'outdated', 1";

/** User "ada" with two messages in session "s", one of them edited, and one item outside any session. */
export function makeVersion1(path: string): void {
  closeSync(openSync(path, "wx", 0o600));
  alter(path, SCRIPT);
}

const SCRIPT = `
PRAGMA journal_mode = WAL;
BEGIN;
CREATE TABLE head (
  one INTEGER PRIMARY KEY CHECK (one = 1), commit_no INTEGER NOT NULL, item_key INTEGER NOT NULL,
  schema INTEGER NOT NULL, analysis INTEGER NOT NULL, items INTEGER NOT NULL, tombstone_floor INTEGER NOT NULL,
  names_floor INTEGER NOT NULL, purge INTEGER NOT NULL, purge_since INTEGER NOT NULL, unpurged INTEGER NOT NULL
);
INSERT INTO head VALUES (1, 4, 3, 1, 0, 3, 0, 0, 0, 0, 0);
CREATE TABLE writer (id TEXT PRIMARY KEY, grp TEXT NOT NULL, at INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE space (
  key INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, kind INTEGER NOT NULL, name TEXT NOT NULL,
  description TEXT, created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL, retention_ms INTEGER,
  version INTEGER NOT NULL, items INTEGER NOT NULL, terms INTEGER NOT NULL, UNIQUE (kind, name)
);
INSERT INTO space VALUES (1, '019a8000-0000-7000-8000-000000000001', 0, 'ada', NULL, 1000, 1000, NULL, 4, 3, 3);
CREATE TABLE session (
  key INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, space INTEGER NOT NULL, agent INTEGER,
  name TEXT NOT NULL, created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL, next_seq INTEGER NOT NULL,
  UNIQUE (space, name)
);
INSERT INTO session VALUES (1, '019a8000-0000-7000-8000-000000000002', 1, NULL, 's', 1000, 1000, 3);
CREATE TABLE presence (agent INTEGER NOT NULL, space INTEGER NOT NULL, PRIMARY KEY (agent, space)) WITHOUT ROWID;
CREATE TABLE item (
  key INTEGER PRIMARY KEY, space INTEGER NOT NULL, id TEXT NOT NULL, kind INTEGER NOT NULL, session INTEGER,
  agent INTEGER, seq INTEGER, round INTEGER, role INTEGER, name TEXT, content TEXT NOT NULL, parts TEXT, metadata TEXT,
  tier INTEGER NOT NULL, occurred_at INTEGER NOT NULL, recorded_at INTEGER NOT NULL, updated_at INTEGER NOT NULL,
  expires_at INTEGER, version INTEGER NOT NULL, commit_no INTEGER NOT NULL, words TEXT NOT NULL, length INTEGER NOT NULL
);
INSERT INTO item VALUES
  (1, 1, 'first', 0, 1, NULL, 1, 1, 0, NULL, 'I moved to Lisbon.', NULL, NULL, 1, 1000, 1000, 1000, NULL, 1, 1, ${WORDS}),
  (2, 1, 'edited', 0, 1, NULL, 2, 2, 0, 'Ann', 'It is warm there.', NULL, NULL, 1, 1000, 1000, 2000, NULL, 2, 3, ${WORDS}),
  (3, 1, 'loose', 1, NULL, NULL, NULL, NULL, NULL, NULL, 'Trams are yellow.', NULL, NULL, 1, 1000, 1000, 1000, NULL, 1, 4, ${WORDS});
CREATE UNIQUE INDEX item_id ON item (id, space);
CREATE UNIQUE INDEX item_seq ON item (session, seq) WHERE session IS NOT NULL;
CREATE INDEX item_space ON item (space);
CREATE INDEX item_commit ON item (commit_no);
CREATE INDEX item_expiry ON item (expires_at) WHERE expires_at IS NOT NULL;
CREATE VIRTUAL TABLE words USING fts5(
  terms, content='', columnsize=0, detail=none, tokenize="ascii tokenchars '!#$%&()*+,-./:;<=>?@[]^_{|}~'"
);
INSERT INTO words (words, rank) VALUES ('secure-delete', 1);
CREATE TABLE receipt (
  space INTEGER NOT NULL, session INTEGER NOT NULL, key TEXT NOT NULL, hash TEXT NOT NULL, ids TEXT NOT NULL,
  sequences TEXT NOT NULL, first_item INTEGER NOT NULL, last_item INTEGER NOT NULL, at INTEGER NOT NULL,
  PRIMARY KEY (space, session, key)
) WITHOUT ROWID;
CREATE INDEX receipt_at ON receipt (at);
CREATE TABLE tombstone (
  commit_no INTEGER NOT NULL, item INTEGER NOT NULL, space INTEGER NOT NULL, PRIMARY KEY (commit_no, item)
) WITHOUT ROWID;
PRAGMA user_version = 1;
PRAGMA application_id = ${0x486f6c64};
COMMIT;
`;
