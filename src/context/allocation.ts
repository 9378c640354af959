/**
 * Allocation: which pieces get the room there is.
 *
 * Each part first fills its share, best piece first, a piece that does not fit being passed over for smaller ones. What is
 * left then goes to the parts in their order. A piece that says the same as one that was taken is passed over. All of it
 * follows from the pieces, their order and the room: the same input gives the same answer.
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
  const wanted = lots.filter(({ weight, pieces }) => weight > 0 && pieces.length > 0);
  const weights = wanted.reduce((sum, { weight }) => sum + weight, 0);
  const said = new Said(before);
  const chosen: Measured[] = [];
  const started = new Set<Lot>();
  let left = room;
  const fill = (lot: Lot, share: number): void => {
    let open = Math.min(share, left);
    for (const measured of lot.pieces) {
      const tokens = measured.tokens + (started.has(lot) ? 0 : lot.headingTokens);
      if (tokens > open || said.has(measured.piece)) continue;
      open -= tokens;
      left -= tokens;
      started.add(lot);
      chosen.push(measured);
      said.add(measured.piece);
    }
  };
  for (const lot of wanted) fill(lot, Math.floor((room * lot.weight) / weights));
  for (const lot of wanted) fill(lot, left);
  return chosen;
}
