/** Thai, Lao, Khmer and Burmese: words without spaces between them, found by the dictionaries of Intl.Segmenter. */
import { classAt, MARK, UNSPACED } from "./characters.js";
import { addTerm } from "./terms.js";

/**
 * Intl.Segmenter takes quadratic time on one long run, so a run is read through a window. The words in the last part of
 * a window are read again at the start of the next, because their end may lie outside; unless a single word fills the
 * window, which no language has.
 */
const WINDOW_UNITS = 512;
const REREAD_UNITS = 64;

const LETTER = /\p{L}/u;

let segmenter: Intl.Segmenter | undefined;

/** Counts the run that starts at `start`, and says where it ends. */
export function readUnspaced(text: string, start: number, counts: Map<string, number>): number {
  let end = start;
  for (let kind = UNSPACED; kind === UNSPACED || kind === MARK; kind = classAt(text, end)) end++;
  let at = start;
  while (at < end) at = readWindow(text, at, end, counts);
  return end;
}

function readWindow(text: string, start: number, end: number, counts: Map<string, number>): number {
  segmenter ??= new Intl.Segmenter("th", { granularity: "word" });
  const window = text.slice(start, Math.min(end, start + WINDOW_UNITS));
  const settled = start + window.length === end ? window.length : window.length - REREAD_UNITS;
  let read = 0;
  for (const { segment, index } of segmenter.segment(window)) {
    if (index > 0 && index + segment.length > settled) break;
    if (LETTER.test(segment)) addTerm(counts, segment);
    read = index + segment.length;
  }
  return start + read;
}
