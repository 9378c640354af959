/** Thai, Lao, Khmer and Burmese: scripts without spaces between words. Intl.Segmenter finds the words by dictionary. */
import { classAt, MARK, UNSPACED } from "./characters.js";
import { addTerm } from "./terms.js";

/**
 * Intl.Segmenter takes quadratic time on one long run, so a run is read through a window. The end of a window may cut a
 * word, so its last part is read again at the start of the next window, unless a single word fills the window, which
 * happens in no language.
 */
const WINDOW_UNITS = 512;
const REREAD_UNITS = 64;

const LETTER = /\p{L}/u;

let segmenter: Intl.Segmenter | undefined;

/** Counts the words of the run that starts at `start`, and returns where the run ends. */
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
