/** The statements of a SqliteBufferStore. Those about entries take the session, or null, as their first parameter. */
import type { Database, Statement } from "../../stores/sqlite/file/driver.js";
import { IS_HELD } from "./hold.js";

export type BufferStatements = ReturnType<typeof prepareStatements>;

export function prepareStatements(database: Database, session: string | undefined) {
  const prepare = (sql: string): Statement => database.prepare(sql);
  const isMine = session === undefined ? "?1 IS NULL" : "session = ?1";
  const entries = "entry LEFT JOIN hold ON hold.entry = entry.key";
  const columns = "entry.key, session, session_key, at, payload, coalesce(hold.attempts, 0) AS attempts";
  /** The lease is the entry's latest and was not released. */
  const isLast = "attempts = ?3 AND until IS NOT NULL";
  return {
    push: prepare("INSERT INTO entry (session, session_key, at, payload) VALUES (?, ?, ?, ?)"),
    all: prepare(`SELECT ${columns} FROM ${entries} WHERE ${isMine} ORDER BY entry.key`),
    count: prepare(`SELECT count(*) AS entries FROM entry WHERE ${isMine}`),
    clear: prepare(`DELETE FROM entry WHERE ${isMine}`),
    remove: prepare(`DELETE FROM entry WHERE ${isMine} AND key = ?2`),
    free: prepare(`SELECT ${columns} FROM ${entries} WHERE ${isMine} AND NOT ${IS_HELD} ORDER BY entry.key LIMIT ?3`),
    hold: prepare(
      `INSERT INTO hold (entry, attempts, until, ms) VALUES (?1, 1, ?2, ?3)
       ON CONFLICT (entry) DO UPDATE SET attempts = attempts + 1, until = ?2, ms = ?3`,
    ),
    acknowledge: prepare(
      `DELETE FROM entry WHERE ${isMine} AND key = ?2 AND EXISTS (SELECT 1 FROM hold WHERE entry = ?2 AND ${isLast})`,
    ),
    release: prepare(
      `UPDATE hold SET until = NULL
       WHERE entry = ?2 AND ${isLast} AND EXISTS (SELECT 1 FROM entry WHERE ${isMine} AND key = ?2)`,
    ),
    findInjected: prepare("SELECT 1 FROM injected WHERE scope = ? AND id = ?"),
    lastInjected: prepare("SELECT max(seq) AS seq FROM injected WHERE scope = ?"),
    addInjected: prepare("INSERT INTO injected (scope, seq, id) VALUES (?, ?, ?)"),
    trimInjected: prepare("DELETE FROM injected WHERE scope = ? AND seq <= ?"),
    clearInjected: prepare("DELETE FROM injected WHERE scope = ?"),
  };
}
