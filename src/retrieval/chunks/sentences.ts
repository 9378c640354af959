/**
 * Splits text of any language into sentences, in order. A line break ends a sentence.
 *
 * The text is read lazily, and Intl.Segmenter reads through a window (see graphemes.ts), so each step on a megabyte of
 * text costs a few microseconds. No sentence is longer than SENTENCE_UNITS, unless a single grapheme is. Longer
 * sentences are cut before a word, or between graphemes if a word is too long.
 */

import { afterSpace, graphemeStart, type Span, segmenterOf, trimmed } from "../../graphemes.js";
import { cutBefore } from "./cuts.js";

/** Lengths are in UTF-16 units. A longer sentence is cut into pieces of at most PIECE_UNITS. */
export const SENTENCE_UNITS = 450;
export const PIECE_UNITS = 300;

const WINDOW_UNITS = 1024;
/**
 * A sentence that ends in the last part of a window may continue after it, so that part is read again in the next
 * window.
 */
const REREAD_UNITS = 64;

/** ASCII on one line with no sentence end before its last character: the most common kind of message. */
const PLAIN = /^[^.!?\n\r\u0080-\uFFFF]*[.!?]*$/;

/** The spans of the sentences, trimmed and in order. Together they cover everything except white space. */
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
