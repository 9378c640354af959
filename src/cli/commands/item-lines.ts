/** Items as lists show them. */
import { leading } from "../../graphemes.js";
import type { Item } from "../../types.js";

/** More than any terminal shows on a line. */
const SHORT_UNITS = 2_000;

/** The beginning of a text on one line, to be cut to the terminal's width. */
export function shortOf(content: string): string {
  const start = content.trimStart();
  const isLong = start.length > SHORT_UNITS;
  return leading(start, SHORT_UNITS).replace(/\s+/g, " ").trim() + (isLong ? "…" : "");
}

/** Who said it, or what it is if nobody did. */
export const speakerOf = ({ name, role, kind }: Item): string => name ?? role ?? kind;
