/**
 * The counts of what is stored, by kind.
 *
 * Triggers keep them, so no path can forget one. Messages have no count: they are what the other kinds leave of
 * `head.items`, and an add of messages pays nothing.
 */
export const COUNT_TABLES = `
-- kind: as in \`item\`; 0, messages, has no row.
CREATE TABLE kind_count (kind INTEGER PRIMARY KEY, items INTEGER NOT NULL);
INSERT INTO kind_count SELECT kind, count(*) FROM item WHERE kind <> 0 GROUP BY kind;
CREATE TRIGGER item_added AFTER INSERT ON item WHEN new.kind <> 0 BEGIN
  INSERT INTO kind_count VALUES (new.kind, 1) ON CONFLICT DO UPDATE SET items = items + 1;
END;
CREATE TRIGGER item_removed AFTER DELETE ON item WHEN old.kind <> 0 BEGIN
  UPDATE kind_count SET items = items - 1 WHERE kind = old.kind;
END;
CREATE TRIGGER item_kind_changed AFTER UPDATE OF kind ON item WHEN old.kind <> new.kind BEGIN
  UPDATE kind_count SET items = items - 1 WHERE kind = old.kind;
  INSERT INTO kind_count SELECT new.kind, 1 WHERE new.kind <> 0 ON CONFLICT DO UPDATE SET items = items + 1;
END;

ALTER TABLE head ADD COLUMN blocks INTEGER NOT NULL DEFAULT 0;
UPDATE head SET blocks = (SELECT count(*) FROM block);
CREATE TRIGGER block_added AFTER INSERT ON block BEGIN
  UPDATE head SET blocks = blocks + 1;
END;
CREATE TRIGGER block_removed AFTER DELETE ON block BEGIN
  UPDATE head SET blocks = blocks - 1;
END;
`;

/** The counts of users, agents, teams and sessions. A space never changes its kind. */
export const ENTRY_COUNTS = `
ALTER TABLE head ADD COLUMN users INTEGER NOT NULL DEFAULT 0;
ALTER TABLE head ADD COLUMN agents INTEGER NOT NULL DEFAULT 0;
ALTER TABLE head ADD COLUMN teams INTEGER NOT NULL DEFAULT 0;
ALTER TABLE head ADD COLUMN sessions INTEGER NOT NULL DEFAULT 0;
UPDATE head SET
  users = (SELECT count(*) FROM space WHERE kind = 0),
  agents = (SELECT count(*) FROM space WHERE kind = 1),
  teams = (SELECT count(*) FROM space WHERE kind = 2),
  sessions = (SELECT count(*) FROM session);
CREATE TRIGGER space_added AFTER INSERT ON space BEGIN
  UPDATE head SET users = users + (new.kind = 0), agents = agents + (new.kind = 1), teams = teams + (new.kind = 2);
END;
CREATE TRIGGER space_removed AFTER DELETE ON space BEGIN
  UPDATE head SET users = users - (old.kind = 0), agents = agents - (old.kind = 1), teams = teams - (old.kind = 2);
END;
CREATE TRIGGER session_added AFTER INSERT ON session BEGIN
  UPDATE head SET sessions = sessions + 1;
END;
CREATE TRIGGER session_removed AFTER DELETE ON session BEGIN
  UPDATE head SET sessions = sessions - 1;
END;
`;
