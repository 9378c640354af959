/**
 * What callers give → JSON that says the same. JSON has no Date, no NaN and no BigInt, and would turn them into something
 * else without a word. Times become epoch milliseconds; metadata and parts are read as the engine reads them; whatever else
 * JSON cannot say is refused. All other checks are the server's.
 */
import type { BufferedWrite } from "../buffers/turn.js";
import { newId } from "../ids.js";
import { parseContent } from "../input/content.js";
import { parseInstant } from "../input/instant.js";
import { parseMetadata } from "../input/metadata.js";
import { wrongType } from "../input/refusal.js";

type Fields = { readonly [key: string]: unknown };

/** The fields in which a Date may stand. */
const INSTANTS: ReadonlySet<string> = new Set("occurredAt expiresAt from to askedAt asOf validFrom at".split(" "));

/** Options, a filter, a fact: an object in whose fields Dates may stand. Anything else is left as it is. */
export function withTimes<T>(value: T, where = "options"): T {
  if (!isFields(value)) return value;
  const times = Object.entries(value).filter(([key, inner]) => INSTANTS.has(key) && isDate(inner));
  return { ...value, ...Object.fromEntries(times.map(([key, at]) => [key, parseInstant(at, `${where}.${key}`)])) };
}

/** Messages or items of one call. */
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

/** Messages of a turn get their ids before the first try, so that a second one cannot add them twice. */
export function withId(write: BufferedWrite, now: number): BufferedWrite {
  if (write.op !== "save_message" || write.message?.id !== undefined) return write;
  return { ...write, message: { ...write.message, id: newId(now) } };
}

/** The writes of a turn; messages are counted as the engine counts them. */
export function turnOf(writes: readonly BufferedWrite[]): { readonly writes: readonly unknown[] } {
  let messages = 0;
  const written = writes.map((write) =>
    write.op === "save_message" && isFields(write.message)
      ? { ...write, message: entryOf(write.message, `messages[${messages++}]`) }
      : write,
  );
  return { writes: written };
}

/** Refused are the places where JSON would lie. Keys whose value is undefined count as left out, as in the engine. */
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

/** Of any realm; a number or a text is sent as it is. */
const isDate = (value: unknown): boolean => Object.prototype.toString.call(value) === "[object Date]";
