/**
 * The one rule for text that cannot be stored unchanged: lone surrogates and NUL become U+FFFD (the replacement
 * character) in all content: messages, parts, metadata, descriptions, queries. Identities (ids, names of users, agents,
 * teams and sessions, idempotency keys) are never repaired but refused, because two different names must not become
 * one. For the same reason, bytes that are not UTF-8 never become text (`decodeUtf8`).
 */
import { type ErrorDetails, HoldfastError } from "./errors.js";
import type { Json } from "./types.js";

export function repairText(text: string): string {
  const wellFormed = text.isWellFormed() ? text : text.toWellFormed();
  return wellFormed.includes("\u0000") ? wellFormed.replaceAll("\u0000", "\uFFFD") : wellFormed;
}

const utf8 = new TextEncoder();

/** The length of a text in UTF-8 bytes. */
export function bytesOf(text: string): number {
  return utf8.encode(text).byteLength;
}

const strict = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/**
 * Decodes bytes as UTF-8. Throws `invalid_input` if they are not valid: with U+FFFD for invalid bytes, two different
 * names would become one.
 */
export function decodeUtf8(bytes: Uint8Array, what: string, details?: ErrorDetails["details"]): string {
  try {
    return strict.decode(bytes);
  } catch (cause) {
    throw new HoldfastError("invalid_input", `${what} is not text in UTF-8`, {
      hint: "convert it first, for example with iconv -t UTF-8; binary files cannot be stored",
      cause,
      ...(details && { details }),
    });
  }
}

/** Removes a leading byte order mark. */
export const withoutMark = (text: string): string => (text.startsWith("\uFEFF") ? text.slice(1) : text);

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

/** Whether a text is at most so long in UTF-8; measured only when its length leaves a doubt. */
export function fitsBytes(text: string, bytesMax: number): boolean {
  return text.length * 3 <= bytesMax || bytesOf(text) <= bytesMax;
}

/** The number of line feeds, and one for what follows the last. */
export function countLines(text: string): number {
  let lines = 1;
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) lines++;
  return lines;
}
