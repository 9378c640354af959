/** The faults of a buffer's file, by SQLite's checks and by the invariants of its tables; empty if it is sound. */
import { openRaw } from "../../support/raw.js";

export function unsoundBuffer(path: string): string[] {
  const database = openRaw(path);
  try {
    const check = database.prepare("PRAGMA integrity_check").all();
    const problems = check.map((row) => String(row["integrity_check"])).filter((line) => line !== "ok");
    const stray = database.prepare("SELECT entry FROM hold WHERE entry NOT IN (SELECT key FROM entry)").all();
    const gaps = database
      .prepare("SELECT scope FROM injected GROUP BY scope HAVING max(seq) - min(seq) + 1 <> count(*)")
      .all();
    return [
      ...problems,
      ...stray.map((row) => `a hold of no entry: ${row["entry"]}`),
      ...gaps.map(() => "a gap in seq"),
    ];
  } finally {
    database.close();
  }
}
