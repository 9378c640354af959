/**
 * Splits a message into pieces, each of which is embedded on its own: sentences if the message is short, else sentences
 * combined up to about PIECE_UNITS. On LoCoMo and LongMemEval, the best piece says far more about a message than one
 * vector of the whole does.
 *
 * A piece has at most SENTENCE_UNITS, unless it is a single grapheme.
 */
import type { Span } from "../../graphemes.js";
import { PIECE_UNITS, SENTENCE_UNITS, sentences } from "./sentences.js";

/** Up to this length, in UTF-16 units, each sentence is a piece. */
const SHORT_UNITS = 600;
/** Shorter text ("Yes.", "1.", "Dr.") means nothing alone. In UTF-8 bytes: five Chinese characters say a lot. */
const ALONE_BYTES = 16;

export function* pieces(content: string): Generator<Span> {
  const wanted = content.length <= SHORT_UNITS ? 0 : PIECE_UNITS;
  // The last piece but one is held back, because a fragment that follows is appended to it.
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
