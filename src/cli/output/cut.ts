/** Measures and cuts text in terminal columns. */
import stringWidth from "string-width";
import { graphemeEnd } from "../../graphemes.js";

const ELLIPSIS = "…";

/** Requires printable text. */
export const widthOf = (text: string): number => stringWidth(text);

/** The text, cut to this many columns with an ellipsis if needed. Graphemes are not split. */
export function cut(text: string, width: number): string {
  // Few graphemes have more than four units per column, so longer text hardly fits.
  if (text.length <= width * 4 && widthOf(text) <= width) return text;
  if (width < 1) return "";
  let end = 0;
  let used = 0;
  while (end < text.length) {
    const next = graphemeEnd(text, end);
    used += widthOf(text.slice(end, next));
    if (used > width - 1) break;
    end = next;
  }
  return end === text.length ? text : text.slice(0, end).trimEnd() + ELLIPSIS;
}

export const padEnd = (text: string, width: number): string => text + " ".repeat(Math.max(0, width - widthOf(text)));
export const padStart = (text: string, width: number): string => " ".repeat(Math.max(0, width - widthOf(text))) + text;
