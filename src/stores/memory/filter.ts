/** Whether a row passes a filter: all that is given must hold, a list means any of its values. */
import type { Json, Metadata, Scalar } from "../../types.js";
import type { RowFilter } from "../store.js";
import type { Marks } from "./marks.js";
import type { Row } from "./row.js";

export function passes(row: Row, filter: RowFilter, marks: Marks): boolean {
  return (
    isOneOf(filter.sessions, row.home?.entry.name) &&
    isOneOf(filter.agents, row.agent) &&
    isOneOf(filter.roles, row.role) &&
    isOneOf(filter.kinds, row.kind) &&
    isOneOf(filter.tiers, row.tier) &&
    (filter.from === undefined || row.occurredAt >= filter.from) &&
    (filter.to === undefined || row.occurredAt < filter.to) &&
    (filter.pending === undefined || !marks.get(row.arrival)?.embedding) &&
    (filter.metadata ?? []).every(({ path, anyOf }) => isOneOf<Json>(anyOf, valueAt(row.metadata, path)))
  );
}

function isOneOf<T>(values: readonly (T | Scalar)[] | undefined, value: T | undefined): boolean {
  return values === undefined || (value !== undefined && values.includes(value));
}

/** The value that the path leads to through objects, by their own keys; undefined if it leads nowhere. */
function valueAt(metadata: Metadata, path: readonly string[]): Json | undefined {
  let value: Json = metadata;
  for (const key of path) {
    if (value === null || typeof value !== "object" || Array.isArray(value) || !Object.hasOwn(value, key)) return;
    value = (value as Metadata)[key] as Json;
  }
  return value;
}
