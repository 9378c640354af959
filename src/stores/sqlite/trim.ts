/** Trims records of changes and of processes after enough commits or enough time in use. */
import type { Database, Row } from "./file/driver.js";

/** Edits and removals are kept for other processes' caches for this many commits. */
const CHANGES_KEPT = 100_000;
/** The number of owners without leases, alive or dead, above which they are trimmed. */
const OWNERS_KEPT = 100;
const DAY_MS = 24 * 60 * 60 * 1000;

const IDLE = "SELECT id FROM owner WHERE id NOT IN (SELECT owner FROM lease)";

const floorOf = (head: Row): number => Number(head["commit_no"]) - CHANGES_KEPT;
/** The last group of a process that has written nothing for a day of time in use is not needed any more. */
const goneBy = (head: Row): number => Number(head["in_use_ms"]) - DAY_MS;

export function isTrimmable(database: Database, head: Row): boolean {
  const trimmable = database.prepare(
    `SELECT EXISTS (SELECT 1 FROM change WHERE commit_no <= ?) OR EXISTS (SELECT 1 FROM writer WHERE in_use_ms < ?)
       OR (SELECT count(*) FROM (${IDLE})) > ${OWNERS_KEPT} AS any`,
  );
  return trimmable.get(floorOf(head), goneBy(head))?.["any"] === 1;
}

/** Requires an open transaction. */
export function trim(database: Database, head: Row): void {
  const floor = floorOf(head);
  const trimmed = "SELECT space, max(space_version) AS version FROM change WHERE commit_no <= ? GROUP BY space";
  database
    .prepare(
      `UPDATE space SET change_floor = max(change_floor, trimmed.version) FROM (${trimmed}) AS trimmed WHERE space.key = trimmed.space`,
    )
    .run(floor);
  database.prepare("DELETE FROM change WHERE commit_no <= ?").run(floor);
  database.prepare("UPDATE head SET change_floor = max(change_floor, ?)").run(Math.max(floor, 0));
  database.prepare("DELETE FROM writer WHERE in_use_ms < ?").run(goneBy(head));
  database.exec(`DELETE FROM owner WHERE id IN (${IDLE})`); // a live owner returns with its next claim
}
