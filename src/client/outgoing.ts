/**
 * Converts arguments to JSON without changing their meaning. JSON has no Date, NaN or BigInt and would silently change them.
 * Times become epoch milliseconds, metadata and parts are read as the engine reads them, and anything else that JSON cannot
 * represent is refused. The server checks the rest.
 */
import type { BufferedWrite } from "../buffers/turn.js";
import { parseContent } from "../input/content.js";
import { parseFilter } from "../input/filter.js";
import { parseInstant } from "../input/instant.js";
import { parseMetadata } from "../input/metadata.js";
import { type NewPoint, parsePayload, parseVector } from "../input/points.js";
import { wrongType } from "../input/refusal.js";

type Fields = { readonly [key: string]: unknown };

/** Fields that may hold a Date. */
const INSTANTS: ReadonlySet<string> = new Set("occurredAt expiresAt from to askedAt asOf validFrom at".split(" "));

/** Converts the Dates of an object: options, a filter, a fact. Other values are returned unchanged. */
export function withTimes<T>(value: T, where = "options"): T {
  if (!isFields(value)) return value;
  const times = Object.entries(value).filter(([key, inner]) => INSTANTS.has(key) && isDate(inner));
  return { ...value, ...Object.fromEntries(times.map(([key, at]) => [key, parseInstant(at, `${where}.${key}`)])) };
}

/** Options with a filter. A condition that JSON would drop is refused: the answer would not be filtered by it. */
export function withFilter<T>(options: T): T {
  const metadata = isFields(options) ? options["metadata"] : undefined;
  if (metadata !== undefined) parseFilter({ metadata }, "options");
  return withTimes(options);
}

/** The messages or items of one call. */
export function roundOf(list: readonly unknown[], noun: "messages" | "items"): readonly unknown[] {
  if (!Array.isArray(list)) return list;
  return list.map((one: unknown, at) => (isFields(one) ? entryOf(one, `${noun}[${at}]`) : one));
}

/** A message, an item, or an edit of one. */
export function entryOf(fields: Fields, where: string): Fields {
  const { content, metadata } = fields;
  return {
    ...withTimes(fields, where),
    ...(Array.isArray(content) && { content: parseContent(content, `${where}.content`).parts }),
    ...(metadata !== undefined && { metadata: parseMetadata(metadata, `${where}.metadata`) }),
  };
}

/** The writes of a turn. Messages are numbered as the engine numbers them. */
export function turnOf(writes: readonly BufferedWrite[]): { readonly writes: readonly unknown[] } {
  let messages = 0;
  const written = writes.map((write) => {
    if (write.op === "store_embedding") return pointOf(write);
    if (write.op !== "save_message" || !isFields(write.message)) return write;
    return { ...write, message: entryOf(write.message, `messages[${messages++}]`) };
  });
  return { writes: written };
}

function pointOf<T extends NewPoint>(point: T) {
  const { payload } = point;
  const vector = Array.from(parseVector(point.vector));
  return { ...point, vector, ...(payload !== undefined && { payload: parsePayload(payload) }) };
}

/** Refuses values that JSON would change. Keys with the value undefined count as absent, as in the engine. */
export function jsonOf(body: object): string {
  return JSON.stringify(body, function (this: Fields, key, value: unknown) {
    const given = this[key];
    const lies =
      (typeof given === "number" && !Number.isFinite(given)) ||
      ["bigint", "function", "symbol"].includes(typeof given) ||
      (typeof given === "object" && given !== value);
    if (lies) throw wrongType(key, "a JSON value", given);
    return value;
  });
}

const isFields = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Of any realm. Numbers and strings are sent unchanged. */
const isDate = (value: unknown): boolean => Object.prototype.toString.call(value) === "[object Date]";
