/** Cutting a piece to the room there is: whole graphemes from its start, and a mark where the rest is missing. */
import { graphemeEnd } from "../graphemes.js";
import { headThatFits } from "../tokens/fit.js";
import { CUT, withoutLooseMargin } from "./fence.js";
import type { Measure } from "./measure.js";
import { type Piece, textOf } from "./piece.js";

/** Tokens of parts do not add up, so that a first try may be a little too long. */
const TRIES = 3;

/** All the text there is, with the piece in it as it is shown. */
export type Whole = (piece: Piece, shown: string) => string;

/** A piece, and the least of it that can be said. */
export interface Least {
  readonly piece: Piece;
  readonly shown: string;
}

/**
 * The first of which anything fits: one grapheme, or all of it, because the mark of a cut may be longer than what it stands
 * for.
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

/** As much of the piece as fits; all the text has at most `max` tokens then. Undefined if not even one grapheme does. */
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

/** One grapheme of it. */
export function leastOf({ head, body }: Piece): string {
  const end = graphemeEnd(body, 0);
  return end === body.length ? head + body : head + body.slice(0, end) + CUT;
}
