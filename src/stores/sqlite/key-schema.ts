/**
 * The tables of API keys.
 *
 * - A secret is kept only as its SHA-256, in hex.
 * - `space` is the key of a space, which outlives renames and is never given twice; 0 means all spaces of the kind. When a
 *   space is forgotten its rows stay: they name nobody any more, and nobody who comes later.
 */
export const VERSION_5 = `
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
