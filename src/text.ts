/**
 * The one rule for text that cannot be stored as it is: a lone surrogate and NUL each become U+FFFD (the replacement
 * character) in anything that is content: messages, parts, metadata, descriptions, queries. Identities (ids, names of
 * users, agents, teams and sessions, idempotency keys) are never repaired: two different names must not become one,
 * so there they are refused.
 */
import type { Json } from "./types.js";

export function repairText(text: string): string {
  const wellFormed = text.isWellFormed() ? text : text.toWellFormed();
  return wellFormed.includes("\u0000") ? wellFormed.replaceAll("\u0000", "\uFFFD") : wellFormed;
}

const utf8 = new TextEncoder();

/** How long a text is in UTF-8. */
export function bytesOf(text: string): number {
  return utf8.encode(text).byteLength;
}

export function isSoundIdentity(text: string): boolean {
  return text.isWellFormed() && !text.includes("\u0000");
}

/** The same value with every string and key repaired. Requires a JSON value. */
export function repairJson(value: Json): Json {
  if (typeof value === "string") return repairText(value);
  if (value === null || typeof value !== "object") return value;
  if (Array.isArray(value)) return value.map(repairJson);
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [repairText(key), repairJson(inner)]));
}
