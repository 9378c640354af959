/**
 * Lanes and what waits in them, as SQL. A lane is the key of a session, or the negative key of a space for what it holds
 * outside any session; keys are never given twice, so a lane outlives renames and is nobody else's afterwards.
 */
import type { Lane } from "../indexing.js";
import type { Condition } from "./filter.js";
import type { Registry } from "./registry.js";

export interface LaneRow {
  /** Its number among leases. */
  readonly key: number;
  readonly space: number;
  readonly session: number | null;
}

/** The lane of the outbox among leases. */
export const OUTBOX_LANE = 0;

export function findLane(registry: Registry, { space, session }: Lane): LaneRow | undefined {
  const row = registry.findSpace(space);
  if (!row) return undefined;
  if (session === undefined) return { key: -row.key, space: row.key, session: null };
  const found = registry.findSession(row.key, session);
  return found && { key: found.key, space: row.key, session: found.key };
}

/** Items that wait to be embedded. These very words make SQLite use the indexes `item_lane` and `item_tail`. */
export const WAITS = "item.indexed <> item.version AND item.parked = 0";

/** Neither expired nor past their space's retention. ?1 is the time. */
export const FRESH = `(item.expires_at IS NULL OR item.expires_at > ?1)
  AND (item.space NOT IN (SELECT key FROM space WHERE retention_ms IS NOT NULL)
    OR item.recorded_at > ?1 - (SELECT retention_ms FROM space WHERE space.key = item.space))`;

/** In that lane. */
export const inLane = ({ space, session }: LaneRow): Condition =>
  session === null
    ? { sql: "item.session IS NULL AND item.space = ?", values: [space] }
    : { sql: "item.session = ? AND item.space = ?", values: [session, space] };
