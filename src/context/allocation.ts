/**
 * Allocation: which pieces get the room there is.
 *
 * Each part first fills its share, best piece first, until one does not fit; pieces larger than the share are passed over.
 * What is left then goes to the parts in their order, and what does not fit is passed over for what is smaller: so no lesser
 * piece takes the place of a better one while there is room for both. A piece that says the same as one that was taken is
 * passed over, and a part with nothing new to say has no share. All of it follows from the pieces, their order and the
 * room: the same input gives the same answer.
 */
import type { Piece } from "./piece.js";
import { Said } from "./said.js";

export interface Measured {
  readonly piece: Piece;
  readonly tokens: number;
}

export interface Lot {
  readonly weight: number;
  /** Best first. */
  readonly pieces: readonly Measured[];
  /** What the first piece of the lot costs on top. */
  readonly headingTokens: number;
}

/** In the order in which they were chosen. */
export function allocate(lots: readonly Lot[], room: number, before: Said): readonly Measured[] {
  const said = new Said(before);
  const wanted = lots.filter(({ weight, pieces }) => weight > 0 && pieces.some(({ piece }) => !said.has(piece)));
  const weights = wanted.reduce((sum, { weight }) => sum + weight, 0);
  const chosen: Measured[] = [];
  const started = new Set<Lot>();
  let left = room;
  const fill = (lot: Lot, share: number, isLast: boolean): void => {
    let open = Math.min(share, left);
    for (const measured of lot.pieces) {
      const tokens = measured.tokens + (started.has(lot) ? 0 : lot.headingTokens);
      if (said.has(measured.piece)) continue;
      if (tokens > open && !isLast && tokens <= share) return;
      if (tokens > open) continue;
      open -= tokens;
      left -= tokens;
      started.add(lot);
      chosen.push(measured);
      said.add(measured.piece);
    }
  };
  for (const lot of wanted) fill(lot, Math.floor((room * lot.weight) / weights), false);
  for (const lot of wanted) fill(lot, left, true);
  return chosen;
}
