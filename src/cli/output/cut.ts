/** Measures and cuts text in terminal columns. */
import stringWidth from "string-width";
import { endWithin } from "./wrap.js";

const ELLIPSIS = "…";

/** Requires printable text. */
export const widthOf = (text: string): number => stringWidth(text);

/**
 * The text, cut to this many columns with an ellipsis if needed: after a word, unless that would leave less than half of
 * the width. Graphemes are not split.
 */
export function cut(text: string, width: number): string {
  // Few graphemes have more than four units per column, so longer text hardly fits.
  if (text.length <= width * 4 && widthOf(text) <= width) return text;
  if (width < 1) return "";
  const end = endWithin(text, 0, width - 1, widthOf);
  if (end === text.length) return text;
  const space = text.lastIndexOf(" ", end);
  const isLate = space > 0 && 2 * widthOf(text.slice(0, space)) >= width;
  return text.slice(0, isLate ? space : end).trimEnd() + ELLIPSIS;
}

export const padEnd = (text: string, width: number): string => text + " ".repeat(Math.max(0, width - widthOf(text)));
export const padStart = (text: string, width: number): string => " ".repeat(Math.max(0, width - widthOf(text))) + text;
