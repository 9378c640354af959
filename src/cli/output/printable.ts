/** Makes stored text safe for a terminal: control characters are shown as escapes (rendered.ts). */
import { escaped, escapedJson, escapeOf } from "../../rendered.js";

/** For text of several lines. CRLF counts as a line break. */
export const printableText = (text: string): string => escaped(text.replaceAll("\r\n", "\n"));

/** For text on one line: line breaks and tabs become escapes, so that a row stays a row. */
export const printableLine = (text: string): string => escaped(text).replace(/[\n\t]/g, escapeOf);

/** JSON without the control characters that JSON.stringify leaves unescaped. */
export const printableJson = (value: unknown, indent?: number): string =>
  escapedJson(JSON.stringify(value, undefined, indent));
