import type { RowFilter } from "../stores/store.js";
import { repairText } from "../text.js";
import { type Filter, KINDS, ROLES, type Scalar, TIERS } from "../types.js";
import { parseIdentity } from "./identity.js";
import { parseInstant } from "./instant.js";
import { isPlain } from "./json.js";
import { FILTER_KEYS_MAX, FILTER_VALUES_MAX, JSON_DEPTH_MAX, METADATA_BYTES_MAX } from "./limits.js";
import { type Fields, invalid, objectWith, parseChoice, quote, tooLarge, wrongType } from "./refusal.js";

type MetadataFilter = NonNullable<RowFilter["metadata"]>[number];

/** The fields of a filter. Other option objects may include them too. */
export const FILTER_KEYS: readonly (keyof Filter)[] = [
  "session",
  "agent",
  "role",
  "kind",
  "tier",
  "from",
  "to",
  "metadata",
];
const KEY_SET: ReadonlySet<string> = new Set(FILTER_KEYS);

/** Parses a filter into the store's form. An empty list would match nothing and is rejected. */
export function parseFilter(value: unknown, where = "filter"): RowFilter {
  return filterOf(objectWith(value, KEY_SET, where), where);
}

/** Parses the filter fields of an object whose keys are already checked. */
export function filterOf(fields: Fields, where: string): RowFilter {
  const { session, agent, role, kind, tier, from, to, metadata } = fields;
  const filter: { -readonly [key in keyof RowFilter]: RowFilter[key] } = {};
  if (session !== undefined) filter.sessions = anyOf(session, `${where}.session`, parseIdentity);
  if (agent !== undefined) filter.agents = anyOf(agent, `${where}.agent`, parseIdentity);
  if (role !== undefined) filter.roles = anyOf(role, `${where}.role`, (one, at) => parseChoice(one, ROLES, at));
  if (kind !== undefined) filter.kinds = anyOf(kind, `${where}.kind`, (one, at) => parseChoice(one, KINDS, at));
  if (tier !== undefined) filter.tiers = anyOf(tier, `${where}.tier`, (one, at) => parseChoice(one, TIERS, at));
  if (from !== undefined) filter.from = parseInstant(from, `${where}.from`);
  if (to !== undefined) filter.to = parseInstant(to, `${where}.to`);
  if (metadata !== undefined) filter.metadata = parseMetadataFilter(metadata, `${where}.metadata`);
  return filter;
}

/** A value, or a list of alternatives without duplicates. */
function anyOf<T>(value: unknown, where: string, parse: (one: unknown, where: string) => T): readonly T[] {
  if (!Array.isArray(value)) return [parse(value, where)];
  if (value.length === 0) throw invalid(where, "is an empty list, which matches nothing", "leave it out to match all");
  if (value.length > FILTER_VALUES_MAX) {
    throw tooLarge(where, `${FILTER_VALUES_MAX} values`, "ask in several calls");
  }
  return [...new Set(Array.from(value, (one: unknown, index) => parse(one, `${where}[${index}]`)))];
}

function parseMetadataFilter(value: unknown, where: string): readonly MetadataFilter[] {
  // A Map, or an object that inherits its keys, would look like an empty filter.
  if (typeof value !== "object" || value === null || Array.isArray(value) || !isPlain(value)) {
    throw wrongType(where, "a plain object", value);
  }
  const entries = Object.entries(value);
  if (entries.length > FILTER_KEYS_MAX) throw tooLarge(where, `${FILTER_KEYS_MAX} keys`, "filter by fewer keys");
  return entries.map(([key, wanted]) => {
    const at = `${where}[${quote(key)}]`;
    return { path: parsePath(key, at), anyOf: anyOf(wanted, at, parseScalar) };
  });
}

function parsePath(key: string, where: string): readonly string[] {
  if (key.length > METADATA_BYTES_MAX) throw tooLarge(where, `${METADATA_BYTES_MAX} characters`, "no key is that long");
  const path = repairText(key).split(".");
  if (path.includes("")) throw invalid(where, "has an empty step", 'a dot reaches into an object: "address.city"');
  if (path.length > JSON_DEPTH_MAX) throw invalid(where, `is deeper than ${JSON_DEPTH_MAX} levels`);
  return path;
}

function parseScalar(value: unknown, where: string): Scalar {
  if (typeof value === "string") {
    if (value.length > METADATA_BYTES_MAX)
      throw tooLarge(where, `${METADATA_BYTES_MAX} characters`, "no value is that long");
    return repairText(value);
  }
  if (value === null || typeof value === "boolean") return value;
  if (typeof value === "number" && Number.isFinite(value)) return value + 0; // turns -0 into 0
  throw wrongType(where, "a string, a number, a boolean or null", value);
}
