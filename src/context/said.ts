/** What has been said already, by reference and by text, so that neither an item nor a text is given twice. */
import type { Piece } from "./piece.js";

type Sayer = Pick<Piece, "id" | "ref" | "keys">;

export class Said {
  readonly #sayers = new Map<string, string>();

  constructor(...before: readonly Said[]) {
    for (const said of before) for (const [key, id] of said.#sayers) this.#sayers.set(key, id);
  }

  add({ id, ref, keys }: Sayer): void {
    for (const key of [ref, ...keys]) if (!this.#sayers.has(key)) this.#sayers.set(key, id);
  }

  /** The id of the piece that has already said this. */
  by({ ref, keys }: Sayer): string | undefined {
    return this.#sayers.get(ref) ?? this.#sayers.get(keys[0] ?? ref);
  }

  has(piece: Sayer): boolean {
    return this.by(piece) !== undefined;
  }
}
