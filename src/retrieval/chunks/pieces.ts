/**
 * The pieces of a message, each found on its own: its sentences if it is short, else whole sentences gathered up to
 * about PIECE_UNITS. Measured (LoCoMo, LongMemEval): the best piece tells far more about a message than one vector of
 * the whole.
 *
 * A piece has at most SENTENCE_UNITS, unless it is a single grapheme.
 */
import type { Span } from "../../graphemes.js";
import { PIECE_UNITS, SENTENCE_UNITS, sentences } from "./sentences.js";

/** Up to here, in UTF-16 units, each sentence is a piece. */
const SHORT_UNITS = 600;
/** Less than this ("Yes.", "1.", "Dr.") means nothing alone. In UTF-8 bytes, for five Chinese characters say a lot. */
const ALONE_BYTES = 16;

export function* pieces(content: string): Generator<Span> {
  const wanted = content.length <= SHORT_UNITS ? 0 : PIECE_UNITS;
  // The last but one waits, because it takes in what follows if that cannot stand alone.
  let before: Span | undefined;
  let piece: Span | undefined;
  for (const sentence of sentences(content)) {
    const joined = piece && { start: piece.start, end: sentence.end };
    if (!piece || !joined) piece = sentence;
    else if (lengthOf(joined) <= wanted || (isFragment(content, piece) && lengthOf(joined) <= SENTENCE_UNITS)) {
      piece = joined;
    } else {
      if (before) yield before;
      before = piece;
      piece = sentence;
    }
  }
  if (before && piece && isFragment(content, piece) && piece.end - before.start <= SENTENCE_UNITS) {
    yield { start: before.start, end: piece.end };
    return;
  }
  if (before) yield before;
  if (piece) yield piece;
}

const lengthOf = ({ start, end }: Span): number => end - start;

function isFragment(content: string, span: Span): boolean {
  return lengthOf(span) < ALONE_BYTES && Buffer.byteLength(content.slice(span.start, span.end)) < ALONE_BYTES;
}
