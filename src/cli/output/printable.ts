/**
 * Stored text in a form that a terminal shows and does not obey.
 *
 * What was stored may come from anyone. Control characters could move the cursor, write to the clipboard or rename the
 * window, and direction overrides could make one text look like another; they are shown as escapes. Everything else,
 * right-to-left text included, is left as it is.
 */

// Control characters but line feed and tab; then direction overrides, embeddings and isolates, and line separators.
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the ones to find
const UNSAFE = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff]/g;
const NAMED: { readonly [unit: string]: string } = { "\n": "\\n", "\t": "\\t", "\r": "\\r", "\u001b": "\\e" };

const inHex = (unit: string): string => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
const escaped = (unit: string): string => NAMED[unit] ?? inHex(unit);

/** Text of several lines; a line break before which a carriage return stands is a line break. */
export function printableText(text: string): string {
  return text.replaceAll("\r\n", "\n").replace(UNSAFE, escaped);
}

/** Text on one line: line breaks and tabs are shown as escapes, so that a row stays a row. */
export function printableLine(text: string): string {
  return text.replace(UNSAFE, escaped).replace(/[\n\t]/g, escaped);
}

/** The same value in JSON, without raw characters that a terminal would obey: JSON.stringify leaves some. */
export function printableJson(value: unknown, indent?: number): string {
  return safeJson(JSON.stringify(value, undefined, indent));
}

/** The same of JSON that is made already: such characters stand in strings only, where an escape means the same. */
export const safeJson = (json: string): string => json.replace(UNSAFE, inHex);
