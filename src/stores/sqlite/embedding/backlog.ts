/** Reads pending and parked items, and counts them. Requires a snapshot. */
import type { SpaceRef } from "../../../types.js";
import type {
  IndexingStats,
  Lane,
  Neighbour,
  ParkedItem,
  ParkedPage,
  ParkedRequest,
  PendingItem,
  PendingItems,
  PendingRequest,
  Tail,
  TailRequest,
  WaitingLane,
} from "../../indexing.js";
import { Statements } from "../file/connection.js";
import type { Database, Row, Statement } from "../file/driver.js";
import { spaceRef } from "../rows/codec.js";
import { FRESH, findLane, inLane, WAITS } from "../rows/lanes.js";
import type { Registry } from "../rows/registry.js";
import { keysOf, resolveScope, visibleIn } from "../rows/scope.js";
import { readHolder } from "./leases.js";
import { NEXT_SPACE, readNextSpace } from "./reindex-due.js";
import type { VectorTables } from "./vector-table.js";

/** Keys of a lane that are read at once. */
const PAGE = 64;

const selecting = (content: string): string => `
  SELECT item.key, item.id, item.version, item.name, ${content} AS content, item.round, item.recorded_at,
    space.kind AS space_kind, space.name AS space_name, session.name AS session_name`;
export const PENDING_SELECT = selecting("item.content");
/** Selects NULL for content larger than the first parameter, in bytes; SQLite then does not read it. */
const SHORT_SELECT = selecting("iif(octet_length(item.content) <= ?, item.content, NULL)");
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

  /** Groups, counts and sorts within the index. Names are looked up only for the returned lanes. */
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

  /** Reads only the content that it returns. */
  pending({ lanes, limit, maxBytes, now }: PendingRequest): PendingItems {
    const items: PendingItem[] = [];
    let total = 0;
    for (const { lane, after = 0 } of lanes) {
      for (const { key, bytes } of this.#waitingIn(lane, after, now)) {
        total += bytes;
        if (items.length >= limit || (items.length > 0 && total > maxBytes)) return { items, more: true };
        const row = this.#statements.get(`${PENDING_SELECT} FROM item ${NAMES} WHERE item.key = ?`).get(key);
        if (row) items.push(readPending(row));
      }
    }
    return { items, more: false };
  }

  /** Oldest first, one page at a time, so that a caller that takes only a few items does not pay for all. */
  *#waitingIn(lane: Lane, after: number, now: number): Iterable<{ readonly key: number; readonly bytes: number }> {
    const found = findLane(this.#registry, lane);
    if (!found) return;
    const { sql, values } = inLane(found);
    const page = this.#statements.get(
      `SELECT item.key, octet_length(item.content) AS bytes FROM item INDEXED BY item_lane
       WHERE ${FRESH} AND ${WAITS} AND ${sql} AND item.key > ? ORDER BY item.key LIMIT ${PAGE}`,
    );
    for (let last: number | undefined = after; last !== undefined; ) {
      const rows: Row[] = page.all(now, ...values, last);
      for (const { key, bytes } of rows) yield { key: Number(key), bytes: Number(bytes) };
      last = rows.length < PAGE ? undefined : Number(rows.at(-1)?.["key"]);
    }
  }

  tail({ spaces: refs, filter, limit, contentBytesMax = Number.MAX_SAFE_INTEGER, now }: TailRequest): Tail {
    const { spaces, condition, sessions } = resolveScope(this.#registry, refs, filter, now, false);
    if (!condition) return { items: [], long: [], more: false };
    const index = sessions ? "item_lane" : "item_tail";
    const newest = this.#statements.get(
      `${SHORT_SELECT} FROM item INDEXED BY ${index} ${NAMES}
       WHERE ${WAITS} AND item.space = ? AND ${condition.sql} ORDER BY item.key DESC LIMIT ?`,
    );
    const rows = spaces
      .flatMap(({ key }) => newest.all(contentBytesMax, key, ...condition.values, limit + 1))
      .sort((a, b) => Number(b["key"]) - Number(a["key"]));
    const told = rows.slice(0, limit);
    return {
      items: told.filter((row) => row["content"] !== null).map(readPending),
      long: told.filter((row) => row["content"] === null).map(readOutline),
      more: rows.length > limit,
    };
  }

  earlier(keys: readonly number[], count: number, now: number): Neighbour[][] {
    const before = this.#statements.get(
      `SELECT item.key, item.version, item.name, item.content FROM item AS given JOIN item ON item.session = given.session
       AND item.seq < given.seq WHERE ${FRESH} AND given.key = ? ORDER BY item.seq DESC LIMIT ?`,
    );
    return keys.map((key) => before.all(now, key, count).map(readNeighbour).reverse());
  }

  parked({ spaces: refs, limit, cursor, now }: ParkedRequest): ParkedPage {
    const spaces = this.#registry.findSpaces(refs);
    if (spaces.length === 0) return { items: [] };
    const list = ["parked", ...keysOf(spaces)] as const;
    const [after] = cursor === undefined ? [0] : this.#registry.cursors.open(list, cursor);
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
    if (rows.length <= limit) return { items };
    return { items, next: this.#registry.cursors.seal(list, [Number(rows[limit - 1]?.["key"])]) };
  }

  stats(): IndexingStats {
    const row = this.#database
      .prepare(
        `SELECT embedded, chunks, outbox_index, pending, oldest,
           (SELECT count(*) FROM parked CROSS JOIN item ON item.key = parked.item WHERE item.parked = 1) AS parked,
           (SELECT count(*) FROM outbox) AS unsent,
           (SELECT count(*) FROM outbox WHERE attempts > 0) AS unsent_failed
         FROM head, (SELECT count(*) AS pending, min(updated_at) AS oldest FROM item INDEXED BY item_tail WHERE ${WAITS})`,
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

export const readPending = (row: Row): PendingItem => ({ ...readOutline(row), content: String(row["content"]) });

const readOutline = (row: Row): Omit<PendingItem, "content"> => ({
  key: Number(row["key"]),
  lane: readLane(row),
  id: String(row["id"]),
  version: Number(row["version"]),
  ...nameOf(row),
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
