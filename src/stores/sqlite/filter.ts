/** Conditions on `item`, from the contract's filter to SQL with parameters. */
import type { SpaceRef } from "../../types.js";
import type { RowFilter } from "../store.js";
import { kindCode, roleCode, tierCode } from "./codec.js";
import type { Row } from "./driver.js";

export interface Condition {
  readonly sql: string;
  readonly values: readonly (string | number | null)[];
}

/** A space as reads need it. */
export interface SpaceRow {
  readonly key: number;
  readonly ref: SpaceRef;
  readonly retentionMs: number | null;
  readonly items: number;
  readonly terms: number;
  readonly version: number;
}

/** The newest of their versions. */
export const newestOf = (spaces: readonly SpaceRow[]): number => Math.max(0, ...spaces.map(({ version }) => version));

export function readSpace(row: Row, ref: SpaceRef): SpaceRow {
  return {
    key: Number(row["key"]),
    ref,
    retentionMs: row["retention_ms"] === null ? null : Number(row["retention_ms"]),
    items: Number(row["items"]),
    terms: Number(row["terms"]),
    version: Number(row["version"]),
  };
}

/**
 * In one of the spaces, and neither expired nor past the space's retention at `now`. The space is found through its index
 * only if `scan` says so (the `+` keeps SQLite from it): whoever has keys, ids or sessions has a better way to the items.
 */
export function visibleIn(spaces: readonly SpaceRow[], now: number, scan: boolean): Condition {
  const column = scan ? "item.space" : "+item.space";
  const perSpace = spaces.map(({ key, retentionMs }) =>
    retentionMs === null
      ? { sql: `${column} = ?`, values: [key] }
      : { sql: `(${column} = ? AND item.recorded_at > ?)`, values: [key, now - retentionMs] },
  );
  return all([
    { sql: `(${perSpace.map(({ sql }) => sql).join(" OR ")})`, values: perSpace.flatMap(({ values }) => values) },
    { sql: "(item.expires_at IS NULL OR item.expires_at > ?)", values: [now] },
  ]);
}

/** The filter's condition; undefined when it asks for nothing. `sessions` and `agents` are the keys of the names. */
export function matching(
  filter: RowFilter,
  spaces: readonly SpaceRow[],
  sessions: readonly number[] | undefined,
  agents: readonly number[] | undefined,
): Condition | undefined {
  const conditions: Condition[] = [];
  if (sessions) conditions.push(anyOf("item.session", sessions));
  if (agents) conditions.push(anyOf("item.agent", agents));
  if (filter.roles) conditions.push(anyOf("item.role", filter.roles.map(roleCode)));
  if (filter.kinds) conditions.push(anyOf("item.kind", filter.kinds.map(kindCode)));
  if (filter.tiers) conditions.push(anyOf("item.tier", filter.tiers.map(tierCode)));
  if (filter.from !== undefined) conditions.push({ sql: "item.occurred_at >= ?", values: [filter.from] });
  if (filter.to !== undefined) conditions.push({ sql: "item.occurred_at < ?", values: [filter.to] });
  if (filter.pending) conditions.push(pendingIn(spaces));
  for (const { path, anyOf: wanted } of filter.metadata ?? []) {
    conditions.push({
      sql: `${metadataAt(path.length)} IN (SELECT type || ':' || coalesce(atom, '') FROM json_each(?))`,
      values: [...path, JSON.stringify(wanted)],
    });
  }
  return conditions.length === 0 ? undefined : all(conditions);
}

/** Items that are not embedded: those that wait, found by their index, and those that are set aside. */
const pendingIn = (spaces: readonly SpaceRow[]): Condition => ({
  sql: `item.key IN (
    SELECT waits.key FROM json_each(?) CROSS JOIN item AS waits INDEXED BY item_tail ON waits.space = json_each.value
      WHERE waits.indexed <> waits.version AND waits.parked = 0
    UNION ALL SELECT parked.item FROM parked)
    AND item.indexed <> item.version`,
  values: [JSON.stringify(spaces.map(({ key }) => key))],
});

/**
 * Type and value under a path, as "type:value". Each step looks a key up by equality in json_each, because a JSON path
 * has no way to quote every key (a key that contains a double quote, for one).
 */
function metadataAt(depth: number): string {
  const last = `SELECT level.type || ':' || coalesce(level.atom, '') FROM json_each(%) AS level WHERE level.key = ?`;
  const inner = "(SELECT level.value FROM json_each(%) AS level WHERE level.key = ? AND level.type = 'object')";
  let source = "item.metadata";
  for (let step = 1; step < depth; step++) source = inner.replace("%", source);
  return `(${last.replace("%", source)})`;
}

export function all(conditions: readonly Condition[]): Condition {
  return {
    sql: conditions.map(({ sql }) => sql).join(" AND "),
    values: conditions.flatMap(({ values }) => values),
  };
}

function anyOf(column: string, values: readonly number[]): Condition {
  return values.length === 1
    ? { sql: `${column} = ?`, values }
    : { sql: `${column} IN (SELECT value FROM json_each(?))`, values: [JSON.stringify(values)] };
}
