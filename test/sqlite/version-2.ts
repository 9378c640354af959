/** A file as the second version of Holdfast has left it: that of the first, migrated as released, its words indexed. */
import { alter } from "../support/opened.js";
import { makeVersion1 } from "./version-1.js";

/** The items of `makeVersion1`, with their words as the second analysis counted them: stop words count for lengths. */
export function makeVersion2(path: string): void {
  makeVersion1(path);
  alter(path, SCRIPT);
}

const SCRIPT = `
BEGIN;
ALTER TABLE item ADD COLUMN indexed INTEGER NOT NULL DEFAULT 0;
ALTER TABLE item ADD COLUMN parked INTEGER NOT NULL DEFAULT 0;
CREATE INDEX item_lane ON item (session, space, key, expires_at, recorded_at) WHERE indexed <> version AND parked = 0;
CREATE INDEX item_tail ON item (space) WHERE indexed <> version AND parked = 0;
CREATE INDEX space_retention ON space (key) WHERE retention_ms IS NOT NULL;
ALTER TABLE head ADD COLUMN vector_space INTEGER NOT NULL DEFAULT 0;
ALTER TABLE head ADD COLUMN embedded INTEGER NOT NULL DEFAULT 0;
ALTER TABLE head ADD COLUMN chunks INTEGER NOT NULL DEFAULT 0;
ALTER TABLE head ADD COLUMN fence INTEGER NOT NULL DEFAULT 0;
ALTER TABLE head ADD COLUMN outbox_index TEXT;
ALTER TABLE head ADD COLUMN outbox_cursor INTEGER;
CREATE TABLE vector_space (
  key INTEGER PRIMARY KEY,
  model TEXT NOT NULL,
  runtime TEXT NOT NULL,
  dimensions INTEGER NOT NULL,
  created_at INTEGER NOT NULL
);
CREATE TABLE borrow (lender INTEGER NOT NULL, borrower INTEGER NOT NULL, PRIMARY KEY (lender, borrower)) WITHOUT ROWID;
CREATE INDEX borrow_borrower ON borrow (borrower);
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
UPDATE item SET words = 'i move to lisbon', length = 4 WHERE id = 'first';
UPDATE item SET words = 'ann it be warm there', length = 5 WHERE id = 'edited';
UPDATE item SET words = 'tram be yellow', length = 3 WHERE id = 'loose';
UPDATE space SET terms = 12;
INSERT INTO words (rowid, terms) VALUES
  (1 * 1024 + 4, '1:i 1:move 1:to 1:lisbon'),
  (2 * 1024 + 5, '1:ann 1:it 1:be 1:warm 1:there'),
  (3 * 1024 + 3, '1:tram 1:be 1:yellow');
UPDATE head SET schema = 2, analysis = 2;
PRAGMA user_version = 2;
COMMIT;
`;
