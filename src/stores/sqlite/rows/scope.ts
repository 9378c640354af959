/** The scope of a read: the spaces that exist, and the conditions on `item` for visibility and the filter. */
import type { SpaceRef } from "../../../types.js";
import type { RowFilter } from "../../store.js";
import type { Statements } from "../file/connection.js";
import { kindCode, roleCode, type SpaceRow, tierCode } from "./codec.js";
import type { Registry } from "./registry.js";

export interface Condition {
  readonly sql: string;
  readonly values: readonly (string | number | null)[];
}

/** The keys of the spaces, sorted, so that the order in which they were named does not matter. */
export const keysOf = (spaces: readonly SpaceRow[]): readonly number[] =>
  spaces.map(({ key }) => key).toSorted((one, other) => one - other);

/**
 * Items in one of the spaces that are neither expired nor past the space's retention at `now`. Only with `scan` does
 * SQLite use the index on the space (the `+` prevents it otherwise): keys, ids and sessions lead to the items faster.
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

/** The filter's condition, or undefined if the filter is empty. `sessions` and `agents` are the keys of the names. */
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

/** Items that are not embedded: pending ones, found by their index, and parked ones. */
const pendingIn = (spaces: readonly SpaceRow[]): Condition => ({
  sql: `item.key IN (
    SELECT waits.key FROM json_each(?) CROSS JOIN item AS waits INDEXED BY item_tail ON waits.space = json_each.value
      WHERE waits.indexed <> waits.version AND waits.parked = 0
    UNION ALL SELECT parked.item FROM parked)
    AND item.indexed <> item.version`,
  values: [JSON.stringify(spaces.map(({ key }) => key))],
});

/**
 * The type and value at a path, as "type:value". Each step looks up a key by equality in json_each, because a JSON path
 * cannot quote every key (for example, a key that contains a double quote).
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

export interface Scope {
  readonly spaces: readonly SpaceRow[];
  /** Absent if no item can match. */
  readonly condition?: Condition;
  /** The keys of the filter's sessions. */
  readonly sessions?: readonly number[];
}

/**
 * Resolves spaces and filter. `scan`: whether to find the items by their space, because there is no better access path.
 */
export function resolveScope(
  registry: Registry,
  refs: readonly SpaceRef[],
  filter: RowFilter,
  now: number,
  scan: boolean,
): Scope {
  const spaces = registry.findSpaces(refs);
  if (spaces.length === 0) return { spaces };
  const sessions = filter.sessions && registry.sessionKeys(spaces, filter.sessions);
  const agents = filter.agents && registry.agentKeys(filter.agents);
  if (sessions?.length === 0 || agents?.length === 0) return { spaces };
  const narrowing = matching(filter, spaces, sessions, agents);
  const visible = visibleIn(spaces, now, scan && sessions === undefined && !filter.pending);
  const condition = narrowing ? all([visible, narrowing]) : visible;
  return { spaces, condition, ...(sessions && { sessions }) };
}

/** The scope of one search: the spaces that exist, and the filter as conditions on `item`. */
export class SearchScope {
  readonly spaces: readonly SpaceRow[];
  readonly now: number;
  /** The condition on results. Undefined: all visible items. */
  readonly narrowing: Condition | undefined;
  /** The same condition, for finding items by their space. */
  readonly scan: Condition | undefined;
  /**
   * Conditions on the items that lead to word candidates. First, the items of the filter's sessions, or any items,
   * because they contribute words to their neighbours. Second, if the filter has other conditions, the items that match
   * all of them.
   */
  readonly leading: readonly (Condition | undefined)[];
  /** The keys of the filter's sessions. */
  readonly sessions: readonly number[] | undefined;
  readonly #statements: Statements;

  private constructor(statements: Statements, parts: Omit<SearchScope, "passing">) {
    this.#statements = statements;
    this.spaces = parts.spaces;
    this.now = parts.now;
    this.narrowing = parts.narrowing;
    this.scan = parts.scan;
    this.leading = parts.leading;
    this.sessions = parts.sessions;
  }

  /** Undefined if nothing can match. Requires a snapshot. */
  static resolve(
    statements: Statements,
    registry: Registry,
    refs: readonly SpaceRef[],
    filter: RowFilter,
    now: number,
  ): SearchScope | undefined {
    const { spaces, condition, sessions } = resolveScope(registry, refs, filter, now, false);
    if (!condition) return undefined;
    const isNarrow = Object.keys(filter).length > 0;
    const { sessions: named, ...rest } = filter;
    const conditionOf = (part: RowFilter, scan: boolean) => resolveScope(registry, refs, part, now, scan).condition;
    const lending = named && conditionOf({ sessions: named }, false);
    const isNarrower = Object.keys(rest).length > 0;
    return new SearchScope(statements, {
      spaces,
      now,
      narrowing: isNarrow ? condition : undefined,
      scan: isNarrow ? conditionOf(filter, true) : undefined,
      leading: isNarrower ? [lending, condition] : [lending],
      sessions,
    });
  }

  /** Those of the items that match the filter. */
  passing(keys: readonly number[]): ReadonlySet<number> {
    if (!this.narrowing) return new Set(keys);
    const { sql, values } = this.narrowing;
    const statement = this.#statements.get(
      `SELECT json_group_array(item.key) AS keys
       FROM json_each(?) AS wanted CROSS JOIN item ON item.key = wanted.value WHERE ${sql}`,
    );
    return new Set(JSON.parse(String(statement.get(JSON.stringify(keys), ...values)?.["keys"])) as number[]);
  }
}
