/**
 * Allocation: decides which pieces get the available tokens.
 *
 * Each part first fills its share, best piece first, until a piece does not fit; pieces larger than the share are
 * skipped. The remaining tokens then go to the parts in their order, and pieces that do not fit are skipped in favour
 * of smaller ones. So a lesser piece never displaces a better one while there is room for both. A piece with the same
 * text as a chosen one is skipped, and a part with nothing new has no share. The result is deterministic: it depends
 * only on the pieces, their order and the room.
 */
import type { Piece } from "./piece.js";
import { Said } from "./said.js";

export interface Measured {
  readonly piece: Piece;
  readonly tokens: number;
}

export interface WeightedPart {
  readonly weight: number;
  /** Best first. */
  readonly pieces: readonly Measured[];
  /** The extra tokens that the first piece of the part costs. */
  readonly headingTokens: number;
}

/** The chosen pieces, in the order in which they were chosen. */
export function allocate(parts: readonly WeightedPart[], room: number, before: Said): readonly Measured[] {
  const said = new Said(before);
  const wanted = parts.filter(({ weight, pieces }) => weight > 0 && pieces.some(({ piece }) => !said.has(piece)));
  const weights = wanted.reduce((sum, { weight }) => sum + weight, 0);
  const chosen: Measured[] = [];
  const started = new Set<WeightedPart>();
  let left = room;
  const fill = (part: WeightedPart, share: number, isLast: boolean): void => {
    let open = Math.min(share, left);
    for (const measured of part.pieces) {
      const tokens = measured.tokens + (started.has(part) ? 0 : part.headingTokens);
      if (said.has(measured.piece)) continue;
      if (tokens > open && !isLast && tokens <= share) return;
      if (tokens > open) continue;
      open -= tokens;
      left -= tokens;
      started.add(part);
      chosen.push(measured);
      said.add(measured.piece);
    }
  };
  for (const part of wanted) fill(part, Math.floor((room * part.weight) / weights), false);
  for (const part of wanted) fill(part, left, true);
  return chosen;
}
