/**
 * Lanes and their pending items, as SQL. A lane is the key of a session, or the negated key of a space for its items
 * outside any session. Keys are never reused, so a lane survives renames and never comes to mean another session or
 * space.
 */
import type { Lane } from "../../indexing.js";
import type { Registry } from "./registry.js";
import type { Condition } from "./scope.js";

export interface LaneRow {
  /** The lane's number in the lease table. */
  readonly key: number;
  readonly space: number;
  readonly session: number | null;
}

/** The number of the outbox lane in the lease table. */
export const OUTBOX_LANE = 0;

export function findLane(registry: Registry, { space, session }: Lane): LaneRow | undefined {
  const row = registry.findSpace(space);
  if (!row) return undefined;
  if (session === undefined) return { key: -row.key, space: row.key, session: null };
  const found = registry.findSession(row.key, session);
  return found && { key: found.key, space: row.key, session: found.key };
}

/** Items pending embedding. SQLite uses the indexes `item_lane` and `item_tail` only for exactly this wording. */
export const WAITS = "item.indexed <> item.version AND item.parked = 0";

/** Neither expired nor past their space's retention. ?1 is the current time. */
export const FRESH = `(item.expires_at IS NULL OR item.expires_at > ?1)
  AND (item.space NOT IN (SELECT key FROM space WHERE retention_ms IS NOT NULL)
    OR item.recorded_at > ?1 - (SELECT retention_ms FROM space WHERE space.key = item.space))`;

/** The condition that an item belongs to this lane. */
export const inLane = ({ space, session }: LaneRow): Condition =>
  session === null
    ? { sql: "item.session IS NULL AND item.space = ?", values: [space] }
    : { sql: "item.session = ? AND item.space = ?", values: [session, space] };
