/** The filter in plain code, for single items. Stores filter by statements of their own. */
import type { Item, Json } from "../types.js";
import type { RowFilter } from "./store.js";

type FilteredItem = Pick<Item, "session" | "agent" | "role" | "kind" | "tier" | "occurredAt" | "metadata">;

/** The fields of the filter, by their public names, that the item does not match. `pending` is not checked. */
export function unmatched(item: FilteredItem, filter: RowFilter): readonly string[] {
  const { sessions, agents, roles, kinds, tiers, from, to, metadata = [] } = filter;
  const at = item.occurredAt;
  const fields: readonly (readonly [name: string, matches: boolean])[] = [
    ["session", isOneOf(sessions, item.session)],
    ["agent", isOneOf(agents, item.agent)],
    ["role", isOneOf(roles, item.role)],
    ["kind", isOneOf(kinds, item.kind)],
    ["tier", isOneOf(tiers, item.tier)],
    ["from", from === undefined || at >= from],
    ["to", to === undefined || at < to],
    ...metadata.map(
      ({ path, anyOf }) => [`metadata.${path.join(".")}`, isOneOf<Json>(anyOf, valueAt(item.metadata, path))] as const,
    ),
  ];
  return fields.flatMap(([name, matches]) => (matches ? [] : [name]));
}

const isOneOf = <T>(wanted: readonly T[] | undefined, value: T | undefined): boolean =>
  wanted === undefined || wanted.some((one) => one === value);

function valueAt(metadata: Json | undefined, path: readonly string[]): Json | undefined {
  let value = metadata;
  for (const key of path) {
    const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
    value =
      isObject && Object.hasOwn(value as object, key) ? (value as { readonly [key: string]: Json })[key] : undefined;
  }
  return value;
}
