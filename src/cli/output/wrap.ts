/** Breaks text into lines for a terminal. */
import { graphemeEnd } from "../../graphemes.js";

/** The columns of a text. */
type Measure = (text: string) => number;

/** Good enough for our own words, and free: measuring widths takes long to load. */
const lengthOf: Measure = (text) => text.length;

/** The text as lines of at most this many columns, broken between words where possible. Indentation is kept. */
export function wrapped(text: string, width: number, measure: Measure = lengthOf): string {
  return text
    .split("\n")
    .map((line) => wrappedLine(line, width, measure))
    .join("\n");
}

function wrappedLine(line: string, width: number, measure: Measure): string {
  const lines: string[] = [];
  let start = 0;
  while (start < line.length) {
    const end = Math.max(endWithin(line, start, width, measure), graphemeEnd(line, start));
    const space = line.lastIndexOf(" ", end);
    const isBroken = end < line.length && space > start && line.slice(start, space).trim() !== "";
    const last = isBroken ? space : end;
    lines.push(line.slice(start, last));
    start = isBroken ? last + 1 : last;
  }
  return lines.length === 0 ? line : lines.join("\n");
}

/** Where the text from `start` on reaches this many columns. */
export function endWithin(text: string, start: number, width: number, measure: Measure): number {
  let end = start;
  let used = 0;
  while (end < text.length) {
    const next = graphemeEnd(text, end);
    used += measure(text.slice(end, next));
    if (used > width) break;
    end = next;
  }
  return end;
}
