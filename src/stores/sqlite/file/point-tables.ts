/**
 * The tables of points: vectors of callers' own.
 *
 * Invariants:
 * - `point.key` comes from the same counter as `item.key`, so a row of the outbox names one of the two. It stays the same
 *   when the point is stored again.
 * - A collection has at least one point, and all its vectors have its number of dimensions.
 */
export const POINT_TABLES = `
CREATE TABLE collection (
  key INTEGER PRIMARY KEY AUTOINCREMENT,
  -- Its name in an external index.
  id TEXT NOT NULL,
  space INTEGER NOT NULL,
  name TEXT NOT NULL,
  dimensions INTEGER NOT NULL,
  UNIQUE (space, name)
);
CREATE INDEX collection_space ON collection (space);
-- vector: float32, little-endian.
CREATE TABLE point (
  key INTEGER PRIMARY KEY,
  collection INTEGER NOT NULL,
  id TEXT NOT NULL,
  session INTEGER,
  stored_at INTEGER NOT NULL,
  vector BLOB NOT NULL,
  payload TEXT NOT NULL
);
CREATE UNIQUE INDEX point_id ON point (id, collection);
CREATE INDEX point_collection ON point (collection);
CREATE INDEX point_session ON point (session) WHERE session IS NOT NULL;
-- For retention.
CREATE INDEX point_stored ON point (collection, stored_at);
`;
