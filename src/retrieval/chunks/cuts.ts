/** Where text may be cut: before a word of any language, else between graphemes, and never inside a grapheme. */
import { graphemeEnd, graphemeStart, isSpace, isSureStart, segmenterOf, trimmed } from "../../graphemes.js";

/** How far the segmenter reads around the position. */
const AROUND_UNITS = 32;
/** How far back to search for a certain grapheme boundary. */
const LOOKBACK_UNITS = 512;
/** How many segments that are not words (brackets, dashes) may be skipped to find one that is. */
const STEPS_MAX = 8;

/**
 * The end of a piece of at most `at - start` units, or of one grapheme if that is longer. `start` is a grapheme
 * boundary.
 */
export function cutBefore(text: string, start: number, at: number): number {
  const word = lastWordStart(text, start, at);
  if (word !== undefined) return word;
  const grapheme = graphemeStart(text, start, at);
  return grapheme > start ? grapheme : graphemeEnd(text, start);
}

/** The start of the last word that starts in the second half of `start` to `at`, `at` included. */
function lastWordStart(text: string, start: number, at: number): number | undefined {
  const least = start + Math.floor((at - start) / 2);
  for (let end = at; end > least; end--) {
    if (isSpace(text, end - 1) && !isSpace(text, end) && isSureStart(text, end)) return end;
  }
  const segments = segmenterOf("word").segment(text.slice(start, at + AROUND_UNITS));
  let segment = segments.containing(at - start);
  for (let steps = 0; segment && steps < STEPS_MAX; steps++) {
    const index = start + segment.index;
    if (index <= least) return undefined;
    if (segment.isWordLike && graphemeStart(text, start, index) === index) return index;
    segment = segments.containing(segment.index - 1);
  }
  return undefined;
}

/** The cut nearest to the middle of the text; undefined if the text is a single grapheme. */
export function middleCut(text: string): number | undefined {
  const middle = Math.ceil(text.length / 2);
  let best: number | undefined;
  for (const { index } of segmenterOf("sentence").segment(text)) {
    const isCentral = index >= text.length / 4 && index <= (text.length * 3) / 4;
    if (!isCentral || graphemeStart(text, 0, index) !== index) continue;
    if (best === undefined || Math.abs(index - middle) < Math.abs(best - middle)) best = index;
  }
  const cut = best ?? cutBefore(text, 0, middle);
  return cut > 0 && cut < text.length ? cut : undefined;
}

/**
 * The last `units` of a text at most, from the start of a word if there is one nearby. Empty if no grapheme boundary
 * can be found (hundreds of flags or marks in a row).
 */
export function ending(text: string, units: number): string {
  const end = text.trimEnd().length;
  const first = end - units;
  if (first <= 0) return trimmedText(text, 0, end);
  const latest = first + Math.floor(units / 2);
  for (let at = first; at < latest; at++) {
    if (isSpace(text, at - 1) && !isSpace(text, at) && isSureStart(text, at)) return trimmedText(text, at, end);
  }
  // The segmenter must see a word from its start; otherwise it takes the rest of a word for a whole one.
  let known = Math.max(0, first - AROUND_UNITS);
  while (!isSureStart(text, known)) if (--known < first - LOOKBACK_UNITS) return "";
  const word = segmenterOf("word")
    .segment(text.slice(known, end))
    .containing(first - known);
  const next = word && word.index < first - known ? known + word.index + word.segment.length : first;
  const wanted = next < latest ? next : first;
  const grapheme = graphemeStart(text, known, wanted);
  return trimmedText(text, grapheme === wanted ? wanted : graphemeEnd(text, grapheme), end);
}

function trimmedText(text: string, start: number, end: number): string {
  const span = trimmed(text, start, end);
  return span ? text.slice(span.start, span.end) : "";
}
