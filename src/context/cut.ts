/** Cuts a piece to the available tokens: whole graphemes from its start, and a mark for the missing rest. */
import { graphemeEnd } from "../graphemes.js";
import { headThatFits } from "../tokens/fit.js";
import { CUT, withoutLooseMargin } from "./fence.js";
import type { Measure } from "./measure.js";
import { type Piece, textOf } from "./piece.js";

/** Token counts are not additive, so the first attempt may be slightly too long. */
const TRIES = 3;

/** The whole text, with the piece in it as shown. */
export type Whole = (piece: Piece, shown: string) => string;

/** A piece, and its shortest form. */
export interface Least {
  readonly piece: Piece;
  readonly shown: string;
}

/**
 * The first piece of which anything fits: one grapheme, or all of it, because the mark of a cut may be longer than the
 * text it replaces.
 */
export async function firstToCut(
  pieces: readonly Piece[],
  max: number,
  whole: Whole,
  measure: Measure,
): Promise<Least | undefined> {
  const forms = pieces.flatMap((piece) => [leastOf(piece), textOf(piece)].map((shown) => ({ piece, shown })));
  const counts = await measure.each(forms.map(({ piece, shown }) => whole(piece, shown)));
  return forms.find((_, index) => (counts[index] ?? Infinity) <= max);
}

/** As much of the piece as fits into `max` tokens of the whole text. Undefined if not even one grapheme fits. */
export async function cutToFit(piece: Piece, max: number, whole: Whole, measure: Measure): Promise<string | undefined> {
  const { head, body } = piece;
  const over = async (shown: string): Promise<number> => (await measure.of(whole(piece, shown))) - max;
  if ((await over(textOf(piece))) <= 0) return textOf(piece);
  let room = -(await over(head + CUT));
  for (let attempt = 0; attempt < TRIES && room > 0; attempt++) {
    const shown = withoutLooseMargin(body.slice(0, await headThatFits(body, room, measure.counter)));
    if (shown === "") break;
    const excess = await over(head + shown + CUT);
    if (excess <= 0) return head + shown + CUT;
    room -= excess;
  }
  return (await over(leastOf(piece))) <= 0 ? leastOf(piece) : undefined;
}

/** One grapheme of the piece. */
export function leastOf({ head, body }: Piece): string {
  const end = graphemeEnd(body, 0);
  return end === body.length ? head + body : head + body.slice(0, end) + CUT;
}
