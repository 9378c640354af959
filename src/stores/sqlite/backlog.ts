/** Reading what waits to be embedded, what was set aside, and how much of it there is. Requires a snapshot. */
import type { SpaceRef } from "../../types.js";
import type {
  IndexingStats,
  Lane,
  Neighbour,
  ParkedItem,
  ParkedPage,
  ParkedRequest,
  PendingItem,
  PendingRequest,
  Tail,
  TailRequest,
  WaitingLane,
} from "../indexing.js";
import { spaceParts, spaceRef } from "./codec.js";
import type { Database, Row, Statement } from "./driver.js";
import { visibleIn } from "./filter.js";
import { FRESH, findLane, inLane, WAITS } from "./lanes.js";
import { readHolder } from "./leases.js";
import { badCursor, type Registry } from "./registry.js";
import { NEXT_SPACE, readNextSpace } from "./reindex-due.js";
import { resolveScope } from "./scope.js";
import { Statements } from "./statements.js";
import type { VectorTables } from "./vector-table.js";

/** Items of a lane that are read at a time. */
const PAGE = 16;

export const PENDING_SELECT = `
  SELECT item.key, item.id, item.version, item.name, item.content, item.round, item.recorded_at,
    space.kind AS space_kind, space.name AS space_name, session.name AS session_name`;
export const NAMES = "JOIN space ON space.key = item.space LEFT JOIN session ON session.key = item.session";

export class Backlog {
  readonly #database: Database;
  readonly #registry: Registry;
  readonly #tables: VectorTables;
  readonly #statements: Statements;
  readonly #next: Statement;

  constructor(database: Database, registry: Registry, tables: VectorTables) {
    this.#database = database;
    this.#statements = new Statements(database);
    this.#next = database.prepare(NEXT_SPACE);
    this.#registry = registry;
    this.#tables = tables;
  }

  /** Groups, counts and sorts inside the index; names are looked up for the lanes that are told. */
  waiting(owner: string, limit: number, now: number): WaitingLane[] {
    const lanes = `
      SELECT session, space, count(*) AS items, max(key) AS newest FROM item INDEXED BY item_lane
      WHERE ${FRESH} AND ${WAITS} GROUP BY session, space ORDER BY newest DESC LIMIT ?2`;
    const rows = this.#statements
      .get(
        `SELECT waiting.items, waiting.newest, space.kind AS space_kind, space.name AS space_name,
           session.name AS session_name, owner.id, owner.process, owner.beat
         FROM (${lanes}) AS waiting JOIN space ON space.key = waiting.space
         LEFT JOIN session ON session.key = waiting.session
         LEFT JOIN lease ON lease.lane = coalesce(waiting.session, -waiting.space)
         LEFT JOIN owner ON owner.id = lease.owner AND owner.id <> ?3 ORDER BY waiting.newest DESC`,
      )
      .all(now, limit, owner);
    return rows.map((row) => ({
      lane: readLane(row),
      items: Number(row["items"]),
      newest: Number(row["newest"]),
      ...(row["id"] !== null && { holder: readHolder(row) }),
    }));
  }

  pending({ lanes, limit, maxBytes, now }: PendingRequest): PendingItem[] {
    const items: PendingItem[] = [];
    let bytes = 0;
    for (const { lane, after = 0 } of lanes) {
      for (const item of this.#waitingIn(lane, after, now)) {
        bytes += Buffer.byteLength(item.content);
        if (items.length >= limit || (items.length > 0 && bytes > maxBytes)) return items;
        items.push(item);
      }
    }
    return items;
  }

  /** Oldest first, read a page at a time: whoever takes only a few does not pay for all. */
  *#waitingIn(lane: Lane, after: number, now: number): Iterable<PendingItem> {
    const found = findLane(this.#registry, lane);
    if (!found) return;
    const { sql, values } = inLane(found);
    const page = this.#statements.get(
      `${PENDING_SELECT} FROM item INDEXED BY item_lane ${NAMES}
       WHERE ${FRESH} AND ${WAITS} AND ${sql} AND item.key > ? ORDER BY item.key LIMIT ${PAGE}`,
    );
    for (let last: number | undefined = after; last !== undefined; ) {
      const items: PendingItem[] = page.all(now, ...values, last).map(readPending);
      yield* items;
      last = items.length < PAGE ? undefined : items.at(-1)?.key;
    }
  }

  /** Whether something of a space waits to be embedded. Mostly nothing does, and to know that is all that a question needs. */
  waitsIn(space: SpaceRef): boolean {
    const waits = this.#statements.get(
      `SELECT 1 FROM item INDEXED BY item_tail
       WHERE ${WAITS} AND item.space = (SELECT key FROM space WHERE kind = ? AND name = ?) LIMIT 1`,
    );
    const [, code, name] = spaceParts(space);
    return waits.get(code, name) !== undefined;
  }

  tail({ spaces: refs, filter, limit, now }: TailRequest): Tail {
    const { spaces, condition, sessions } = resolveScope(this.#registry, refs, filter, now, false);
    if (!condition) return { items: [], more: false };
    const index = sessions ? "item_lane" : "item_tail";
    const newest = this.#statements.get(
      `${PENDING_SELECT} FROM item INDEXED BY ${index} ${NAMES}
       WHERE ${WAITS} AND item.space = ? AND ${condition.sql} ORDER BY item.key DESC LIMIT ?`,
    );
    const items = spaces
      .flatMap(({ key }) => newest.all(key, ...condition.values, limit + 1).map(readPending))
      .sort((a, b) => b.key - a.key);
    return { items: items.slice(0, limit), more: items.length > limit };
  }

  earlier(keys: readonly number[], count: number, now: number): Neighbour[][] {
    const before = this.#statements.get(
      `SELECT item.key, item.version, item.name, item.content FROM item AS given JOIN item ON item.session = given.session
       AND item.seq < given.seq WHERE ${FRESH} AND given.key = ? ORDER BY item.seq DESC LIMIT ?`,
    );
    return keys.map((key) => before.all(now, key, count).map(readNeighbour).reverse());
  }

  parked({ spaces: refs, limit, cursor, now }: ParkedRequest): ParkedPage {
    const after = cursor === undefined ? 0 : Number(cursor);
    if (cursor !== undefined && !/^\d{1,15}$/.test(cursor)) throw badCursor(cursor);
    const spaces = this.#registry.findSpaces(refs);
    if (spaces.length === 0) return { items: [] };
    const visible = visibleIn(spaces, now, false);
    const rows = this.#database
      .prepare(
        `SELECT item.key, item.id, item.version, parked.attempts, parked.error, parked.parked_at, parked.retry_at,
           space.kind AS space_kind, space.name AS space_name, session.name AS session_name
         FROM parked CROSS JOIN item ON item.key = parked.item ${NAMES}
         WHERE parked.item > ? AND item.parked = 1 AND ${visible.sql} ORDER BY parked.item LIMIT ?`,
      )
      .all(after, ...visible.values, limit + 1);
    const items = rows.slice(0, limit).map(readParked);
    return rows.length > limit ? { items, next: String(rows[limit - 1]?.["key"]) } : { items };
  }

  stats(): IndexingStats {
    const row = this.#database
      .prepare(
        `SELECT embedded, chunks, outbox_index,
           (SELECT count(*) FROM item INDEXED BY item_tail WHERE ${WAITS}) AS pending,
           (SELECT min(updated_at) FROM item INDEXED BY item_waiting WHERE ${WAITS}) AS oldest,
           (SELECT count(*) FROM parked CROSS JOIN item ON item.key = parked.item WHERE item.parked = 1) AS parked,
           (SELECT count(*) FROM outbox) AS unsent,
           (SELECT count(*) FROM outbox WHERE attempts > 0) AS unsent_failed FROM head`,
      )
      .get() as Row;
    const table = this.#tables.current();
    const next = this.#next.get();
    return {
      pending: Number(row["pending"]),
      ...(row["oldest"] !== null && { oldestPendingAt: Number(row["oldest"]) }),
      parked: Number(row["parked"]),
      embedded: Number(row["embedded"]),
      chunks: Number(row["chunks"]),
      ...(table && { vectorSpace: table.space }),
      ...(next && { next: readNextSpace(next) }),
      ...(row["outbox_index"] !== null && { index: String(row["outbox_index"]) }),
      unsent: Number(row["unsent"]),
      unsentFailed: Number(row["unsent_failed"]),
    };
  }
}

function readLane(row: Row): { readonly space: SpaceRef; readonly session?: string } {
  const space = spaceRef(row["space_kind"], row["space_name"]);
  return row["session_name"] === null ? { space } : { space, session: String(row["session_name"]) };
}

const nameOf = (row: Row) => (row["name"] === null ? undefined : { name: String(row["name"]) });

export const readPending = (row: Row): PendingItem => ({
  key: Number(row["key"]),
  lane: readLane(row),
  id: String(row["id"]),
  version: Number(row["version"]),
  ...nameOf(row),
  content: String(row["content"]),
  ...(row["round"] !== null && { round: Number(row["round"]) }),
  recordedAt: Number(row["recorded_at"]),
});

const readNeighbour = (row: Row): Neighbour => ({
  key: Number(row["key"]),
  version: Number(row["version"]),
  ...nameOf(row),
  content: String(row["content"]),
});

const readParked = (row: Row): ParkedItem => ({
  ...readLane(row),
  id: String(row["id"]),
  version: Number(row["version"]),
  attempts: Number(row["attempts"]),
  error: String(row["error"]),
  parkedAt: Number(row["parked_at"]),
  ...(row["retry_at"] !== null && { retryAt: Number(row["retry_at"]) }),
});
