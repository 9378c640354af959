/** What a tail gives, and the tail as text. */
import type { ContextPart } from "../input/context.js";
import { CONVERSATION, PREAMBLE } from "./fence.js";
import type { Piece } from "./piece.js";
import type { Correction } from "./window.js";

/** One thing that the tail says. */
export interface Given {
  readonly text: string;
  readonly tokens: number;
  readonly cut: boolean;
  /** What is given; absent: a line that withdraws something. */
  readonly piece?: Piece;
  /** What it corrects; absent: it is new. */
  readonly correction?: Correction;
}

/** Corrections in the order of the ledger, facts and recalled text best first, then the turns in their own order. */
export function textOfTail(given: readonly Given[], order: readonly Piece[], isFirst: boolean): string {
  if (given.length === 0) return "";
  const texts = new Map(given.flatMap(({ piece, correction, text }) => (piece && !correction ? [[piece, text]] : [])));
  const lines = (part: ContextPart): readonly string[] =>
    order.flatMap((piece) => (piece.part === part ? (texts.get(piece) ?? []) : []));
  const turns = lines("turns").toReversed();
  return [
    ...(isFirst ? [PREAMBLE] : []),
    ...given.flatMap(({ correction, text }) => (correction ? [text] : [])),
    ...lines("facts"),
    ...lines("recall"),
    ...(turns.length > 0 ? [CONVERSATION, ...turns] : []),
  ].join("\n");
}
