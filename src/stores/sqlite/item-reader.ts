/** Items with their content: by id, by key, page by page. Requires a snapshot. */
import type { Item, Page, SpaceRef } from "../../types.js";
import type { KeyedItem, ListRequest, ReadRequest } from "../store.js";
import { PACKED_ITEM_SELECT, readItem, readKeyed, spaceParts, unpackItem } from "./codec.js";
import type { Row } from "./driver.js";
import { all, type Condition, visibleIn } from "./filter.js";
import { badCursor, type Registry } from "./registry.js";
import { resolveScope } from "./scope.js";
import type { Statements } from "./statements.js";

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

  /** Items of one space, in one statement: every question ends with it, and to look the space up first takes as long. */
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

  list({ spaces, filter, now, order, sortBy, cursor, limit }: ListRequest): Page<Item> {
    const { condition, sessions } = resolveScope(this.#registry, spaces, filter, now, true);
    if (!condition) return { items: [] };
    const direction = order === "asc" ? "ASC" : "DESC";
    const after = order === "asc" ? ">" : "<";
    const byTime = sortBy === "timestamp";
    const columns = byTime ? ["item.occurred_at", "item.key"] : [sessions?.length === 1 ? "item.seq" : "item.key"];
    const bySequence = columns[0] === "item.seq";
    const start: Condition[] = [];
    if (cursor !== undefined) {
      const values = parseCursor(cursor, byTime ? "t" : bySequence ? "s" : "k");
      start.push({ sql: `(${columns.join(", ")}) ${after} (${values.map(() => "?").join(", ")})`, values });
    }
    const ordered = `ORDER BY ${columns.map((column) => `${column} ${direction}`).join(", ")} LIMIT ${limit + 1}`;
    const rows = this.#selectPage(all([condition, ...start]), ordered);
    const items = rows.slice(0, limit).map(readItem);
    const last = rows[limit - 1];
    if (rows.length <= limit || !last) return { items };
    const next = byTime ? `t${last["occurred_at"]}.${last["key"]}` : bySequence ? `s${last["seq"]}` : `k${last["key"]}`;
    return { items, next };
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

/** The same as `oneOf` and `visibleIn`; the `+` keeps SQLite from going by the space, through all of its items. */
const IN_SPACE = `item.key IN (SELECT value FROM json_each(?)) AND +space.kind = ? AND +space.name = ?
  AND (item.expires_at IS NULL OR item.expires_at > ?)
  AND (space.retention_ms IS NULL OR item.recorded_at > ? - space.retention_ms)`;

const oneOf = (column: string, values: readonly (string | number)[]): Condition => ({
  sql: `${column} IN (SELECT value FROM json_each(?))`,
  values: [JSON.stringify(values)],
});

function parseCursor(cursor: string, kind: string): number[] {
  const values = cursor.slice(1).split(".").map(Number);
  if (cursor[0] !== kind || values.length !== (kind === "t" ? 2 : 1) || !values.every(Number.isSafeInteger))
    throw badCursor(cursor);
  return values;
}
