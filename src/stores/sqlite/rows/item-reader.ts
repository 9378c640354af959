/** Reads items with content (by id, by key, page by page) or only their headers, for ranking. Requires a snapshot. */
import { LRUCache } from "lru-cache";
import { HoldfastError } from "../../../errors.js";
import type { Mutable } from "../../../mutable.js";
import type { EmbeddingState, Item, Page, Role, SpaceRef } from "../../../types.js";
import type { KeyedItem, ListRequest, ReadRequest } from "../../store.js";
import type { Statements } from "../file/connection.js";
import type { Row } from "../file/driver.js";
import { PACKED_ITEM_SELECT, readItem, readKeyed, roleOf, type SpaceRow, spaceParts, unpackItem } from "./codec.js";
import { WAITS } from "./lanes.js";
import type { Registry } from "./registry.js";
import { all, type Condition, keysOf, resolveScope, visibleIn } from "./scope.js";

export class ItemReader {
  readonly #statements: Statements;
  readonly #registry: Registry;

  constructor(statements: Statements, registry: Registry) {
    this.#statements = statements;
    this.#registry = registry;
  }

  get(spaces: readonly SpaceRef[], ids: readonly string[], now: number): Item[] {
    const rows = this.#registry.findSpaces(spaces);
    if (rows.length === 0 || ids.length === 0) return [];
    const condition = all([oneOf("item.id", ids), visibleIn(rows, now, false)]);
    return this.#select(`${condition.sql} ORDER BY item.key`, condition.values).map(readItem);
  }

  /**
   * Reads items of one space in one statement. Every query ends with it, and looking up the space first would take as
   * long.
   */
  readIn(space: SpaceRef, keys: readonly number[], now: number): KeyedItem[] {
    if (keys.length === 0) return [];
    const [, code, name] = spaceParts(space);
    return this.#select(IN_SPACE, [JSON.stringify(keys), code, name, now, now]).map(readKeyed);
  }

  read({ spaces, keys, filter, now }: ReadRequest): KeyedItem[] {
    const visible = resolveScope(this.#registry, spaces, filter, now, false).condition;
    if (!visible || keys.length === 0) return [];
    const condition = all([oneOf("item.key", keys), visible]);
    return this.#select(condition.sql, condition.values).map(readKeyed);
  }

  /** Whether the space has items pending embedding. Every query checks this, and usually there are none. */
  waitIn(space: SpaceRef): boolean {
    const waiting = this.#statements.get(
      `SELECT 1 FROM item INDEXED BY item_tail
       WHERE ${WAITS} AND item.space = (SELECT key FROM space WHERE kind = ? AND name = ?) LIMIT 1`,
    );
    const [, code, name] = spaceParts(space);
    return waiting.get(code, name) !== undefined;
  }

  list({ spaces, filter, now, order, sortBy, cursor, start: first, limit, embedding }: ListRequest): Page<Item> {
    const { condition, sessions } = resolveScope(this.#registry, spaces, filter, now, true);
    if (!condition && first !== undefined) throw notInList(first);
    if (!condition) return { items: [] };
    const direction = order === "asc" ? "ASC" : "DESC";
    const after = order === "asc" ? ">" : "<";
    const byTime = sortBy === "timestamp";
    const columns: readonly string[] = byTime
      ? ["item.occurred_at", "item.key"]
      : [sessions?.length === 1 ? "item.seq" : "item.key"];
    const bySequence = columns[0] === "item.seq";
    const { cursors } = this.#registry;
    const list = ["items", ...columns, order, ...keysOf(this.#registry.findSpaces(spaces))] as const;
    const start: Condition[] = [];
    if (cursor !== undefined) {
      const values = cursors.open(list, cursor).slice(0, columns.length);
      start.push({ sql: `(${columns.join(", ")}) ${after} (${values.map(() => "?").join(", ")})`, values });
    }
    if (first !== undefined) {
      const values = this.#placeOf(first, columns, condition);
      start.push({ sql: `(${columns.join(", ")}) ${after}= (${values.map(() => "?").join(", ")})`, values });
    }
    const ordered = `ORDER BY ${columns.map((column) => `${column} ${direction}`).join(", ")} LIMIT ${limit + 1}`;
    const rows = this.#selectPage(all([condition, ...start]), ordered);
    const items = rows.slice(0, limit).map(readItem);
    if (embedding) this.#tellEmbedding(items, rows);
    const last = rows[limit - 1];
    if (rows.length <= limit || !last) return { items };
    const key = Number(last["key"]);
    const place = byTime
      ? ([Number(last["occurred_at"]), key] as const)
      : ([bySequence ? Number(last["seq"]) : key] as const);
    return { items, next: cursors.seal(list, place) };
  }

  /** The values of these columns in an item that meets the condition. */
  #placeOf(id: string, columns: readonly string[], condition: Condition): number[] {
    const { sql, values } = all([{ sql: "item.id = ?", values: [id] }, condition]);
    const row = this.#statements
      .get(`SELECT json_array(${columns.join(", ")}) AS place FROM item WHERE ${sql} ORDER BY item.key LIMIT 1`)
      .get(...values);
    if (row) return JSON.parse(String(row["place"])) as number[];
    throw notInList(id);
  }

  /** Adds to the items of these rows whether they are embedded. */
  #tellEmbedding(items: readonly Mutable<Item>[], rows: readonly Row[]): void {
    const states = this.#statements.get(EMBEDDING);
    const keys = JSON.stringify(rows.map(({ key }) => Number(key)));
    const byKey = new Map(states.all(keys).map((row) => [Number(row["key"]), readEmbedding(row)]));
    items.forEach((item, at) => {
      item.embedding = byKey.get(Number(rows[at]?.["key"])) as EmbeddingState;
    });
  }

  /** Sorts keys and times only, then reads the items of the page. */
  #selectPage({ sql, values }: Condition, order: string): Row[] {
    return this.#select(`item.key IN (SELECT item.key FROM item WHERE ${sql} ${order}) ${order}`, values);
  }

  #select(where: string, values: Condition["values"]): Row[] {
    const statement = this.#statements.get(`${PACKED_ITEM_SELECT} WHERE ${where}`);
    return statement.all(...values).map(unpackItem);
  }
}

/** Equivalent to `oneOf` and `visibleIn`. The `+` stops SQLite from scanning all items of the space. */
const IN_SPACE = `item.key IN (SELECT value FROM json_each(?)) AND +space.kind = ? AND +space.name = ?
  AND (item.expires_at IS NULL OR item.expires_at > ?)
  AND (space.retention_ms IS NULL OR item.recorded_at > ? - space.retention_ms)`;

const notInList = (id: string): HoldfastError =>
  new HoldfastError("not_found", `the list has no item ${id}`, {
    hint: "it may have been deleted; list again without `start`",
    details: { id },
  });

const EMBEDDING = `SELECT item.key, item.indexed <> item.version AS waits, item.parked, parked.error, parked.attempts,
    parked.retry_at
  FROM json_each(?) AS wanted CROSS JOIN item ON item.key = wanted.value LEFT JOIN parked ON parked.item = item.key`;

function readEmbedding(row: Row): EmbeddingState {
  if (Number(row["waits"]) === 0) return { state: "stored" };
  if (Number(row["parked"]) === 0) return { state: "waiting" };
  return {
    state: "parked",
    error: String(row["error"]),
    attempts: Number(row["attempts"]),
    ...(row["retry_at"] !== null && { retryAt: Number(row["retry_at"]) }),
  };
}

const oneOf = (column: string, values: readonly (string | number)[]): Condition => ({
  sql: `${column} IN (SELECT value FROM json_each(?))`,
  values: [JSON.stringify(values)],
});

const SESSIONS_KEPT = 10_000;

/** The fields of an item that ranking needs, without its text. */
export interface ItemHeader {
  readonly key: number;
  readonly id: string;
  readonly version: number;
  readonly occurredAt: number;
  readonly role?: Role;
  /** The registry id of its session. */
  readonly sessionId?: string;
  /** When it expires, or its space's retention removes it. */
  readonly until?: number;
}

type HeaderRow = readonly [
  key: number,
  space: number,
  id: string,
  version: number,
  role: number | null,
  occurredAt: number,
  recordedAt: number,
  expiresAt: number | null,
  session: number | null,
];

/**
 * Reads item headers. Every query reads about a hundred. One JSON text without joins takes a third of the time of rows.
 * Session ids never change, so they are cached.
 */
export class Headers {
  readonly #statements: Statements;
  readonly #sessions = new LRUCache<number, string>({ max: SESSIONS_KEPT });

  constructor(statements: Statements) {
    this.#statements = statements;
  }

  /**
   * The headers of those items that are visible in these spaces at `now` and meet the condition, in no particular
   * order. Requires a snapshot.
   */
  read(keys: readonly number[], spaces: readonly SpaceRow[], now: number, narrowing?: Condition): ItemHeader[] {
    if (keys.length === 0 || spaces.length === 0) return [];
    const visible = visibleIn(spaces, now, false);
    const { sql, values } = narrowing ? all([visible, narrowing]) : visible;
    const statement = this.#statements.get(
      `SELECT json_group_array(json_array(item.key, item.space, item.id, item.version, item.role, item.occurred_at,
         item.recorded_at, item.expires_at, item.session)) AS rows
       FROM json_each(?) AS wanted CROSS JOIN item ON item.key = wanted.value WHERE ${sql}`,
    );
    const rows = JSON.parse(String(statement.get(JSON.stringify(keys), ...values)?.["rows"])) as HeaderRow[];
    const retention = new Map(spaces.map(({ key, retentionMs }) => [key, retentionMs ?? Infinity]));
    return rows.map((row) => this.#header(row, retention.get(row[1]) as number));
  }

  #header(row: HeaderRow, retentionMs: number): ItemHeader {
    const [key, , id, version, role, occurredAt, recordedAt, expiresAt, session] = row;
    const header: Mutable<ItemHeader> = { key, id, version, occurredAt };
    const until = Math.min(expiresAt ?? Infinity, recordedAt + retentionMs);
    if (role !== null) header.role = roleOf(role);
    if (session !== null) header.sessionId = this.#sessionId(session);
    if (until !== Infinity) header.until = until;
    return header;
  }

  #sessionId(key: number): string {
    const known = this.#sessions.get(key);
    if (known !== undefined) return known;
    const id = String(this.#statements.get("SELECT id FROM session WHERE key = ?").get(key)?.["id"]);
    this.#sessions.set(key, id);
    return id;
  }
}
