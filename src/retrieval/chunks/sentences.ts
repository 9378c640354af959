/**
 * The sentences of a text, in any language, one after the other. A line's end is a sentence's end.
 *
 * Intl.Segmenter reads through a window (see graphemes.ts), and the text is read lazily: a megabyte costs its reader a
 * few microseconds at a time. No sentence comes out longer than SENTENCE_UNITS, unless a single grapheme is: longer ones
 * are cut before a word, or, in a word without end, between graphemes.
 */

import { afterSpace, graphemeStart, type Span, segmenterOf, trimmed } from "../../graphemes.js";
import { cutBefore } from "./cuts.js";

/** Lengths are in UTF-16 units. What is cut off a longer sentence has PIECE_UNITS at most. */
export const SENTENCE_UNITS = 450;
export const PIECE_UNITS = 300;

const WINDOW_UNITS = 1024;
/** A sentence that ends in the last part of a window may go on beyond it, and is read again in the next. */
const REREAD_UNITS = 64;

/** ASCII on one line, with no sentence's end before the text's own: the most common message of all. */
const PLAIN = /^[^.!?\n\r\u0080-\uFFFF]*[.!?]*$/;

/** Spans without the white space around them, in order; together they cover all that is not white space. */
export function* sentences(text: string): Generator<Span> {
  if (text.length <= SENTENCE_UNITS && PLAIN.test(text.trim())) {
    const span = trimmed(text, 0, text.length);
    if (span) yield span;
    return;
  }
  let at = afterSpace(text, 0);
  while (at < text.length) {
    const window = text.slice(at, at + WINDOW_UNITS);
    const isLast = at + window.length === text.length;
    const settled = at + window.length - (isLast ? 0 : REREAD_UNITS);
    let start = at;
    for (const { index, segment } of segmenterOf("sentence").segment(window)) {
      const end = at + index + segment.length;
      if (end > settled) break;
      if (graphemeStart(text, start, end) !== end) continue;
      yield* cutUp(text, start, end);
      start = end;
    }
    if (start === at) {
      start = cutBefore(text, at, at + PIECE_UNITS);
      const span = trimmed(text, at, start);
      if (span) yield span;
    }
    at = afterSpace(text, start);
  }
}

function* cutUp(text: string, start: number, end: number): Generator<Span> {
  let at = start;
  while (at < end) {
    const cut = end - at > SENTENCE_UNITS ? cutBefore(text, at, at + PIECE_UNITS) : end;
    const span = trimmed(text, at, cut);
    if (span) yield span;
    at = cut;
  }
}
