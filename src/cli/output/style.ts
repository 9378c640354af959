/** Colours, used only on a terminal and unless disabled. */
import type { Environment, Output } from "../io.js";

const CODES = {
  bold: [1, 22],
  dim: [2, 22],
  red: [31, 39],
  green: [32, 39],
  yellow: [33, 39],
  cyan: [36, 39],
} as const;
export type Style = keyof typeof CODES;

/** Styled text. Escape sequences in plain text are never interpreted. */
export interface Styled {
  readonly style: Style;
  readonly text: string;
}
export type Part = string | Styled;

export const styled = (style: Style, text: string): Styled => ({ style, text });
export const textOf = (part: Part): string => (typeof part === "string" ? part : part.text);

/** NO_COLOR wins (no-color.org), then FORCE_COLOR, then whether the stream is a terminal with colours. */
export function hasColor(stream: Pick<Output, "isTTY">, env: Environment): boolean {
  if (env["NO_COLOR"]) return false;
  const forced = env["FORCE_COLOR"];
  if (forced !== undefined) return forced !== "0" && forced !== "false";
  return stream.isTTY === true && env["TERM"] !== "dumb";
}

/** Requires printable text. */
export function painted(text: string, style: Style | undefined): string {
  if (style === undefined || text === "") return text;
  const [on, off] = CODES[style];
  return `\u001b[${on}m${text}\u001b[${off}m`;
}
