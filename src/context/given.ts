/** The contents of a tail, and the tail as text. */
import type { ContextPart } from "../input/context.js";
import { CONVERSATION, PREAMBLE } from "./fence.js";
import type { Piece } from "./piece.js";
import type { Correction } from "./window.js";

/** One statement of the tail. */
export interface TailStatement {
  readonly text: string;
  readonly tokens: number;
  readonly cut: boolean;
  /** The piece that is given; absent for a line that withdraws something. */
  readonly piece?: Piece;
  /** What it corrects; absent if it is new. */
  readonly correction?: Correction;
}

/** Corrections in the order of the ledger, facts and recalled text best first, then turns in chronological order. */
export function textOfTail(given: readonly TailStatement[], order: readonly Piece[], isFirst: boolean): string {
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
