/** How lists choose and show items. */
import { leading } from "../../graphemes.js";
import type { Item } from "../../types.js";
import { flag } from "../definition.js";
import { metadataFilter } from "../flag-values.js";

export const metadataFlag = () =>
  flag(
    "--metadata <key=value>",
    "only items with this metadata; a dot reaches into objects; repeatable",
    metadataFilter,
  );

/** More than any terminal shows on a line. */
const SHORT_UNITS = 2_000;

/** The start of a text on one line, to be cut to the terminal's width. */
export function shortOf(content: string): string {
  const start = content.trimStart();
  const isLong = start.length > SHORT_UNITS;
  return leading(start, SHORT_UNITS).replace(/\s+/g, " ").trim() + (isLong ? "…" : "");
}

/** The speaker, or the kind of item. */
export const speakerOf = ({ name, role, kind }: Item): string => name ?? role ?? kind;
