/**
 * Groups items into writes: items that were added in one call are written in one call again, in the order of the file.
 *
 * A batch may end within a round, or items of other sessions may interrupt it; later items join the existing round.
 */

import { spaceKey } from "../space-key.js";
import type { AddWrite, NewRow } from "../stores/store.js";
import type { ItemInput } from "./line.js";

/** Number of sessions whose current round is remembered. */
const SESSIONS_MAX = 1_000;

export class Rounds {
  readonly #open = new Map<string, { readonly round: number; readonly first: string }>();

  /** Notes the item's round, also for existing items. Returns the id of the round's first item. */
  note({ space, session, round, row }: ItemInput): string {
    if (session === undefined || round === undefined) return row.id;
    const name = `${spaceKey(space)} ${session}`;
    const known = this.#open.get(name);
    const first = known?.round === round ? known.first : row.id;
    this.#open.delete(name);
    this.#open.set(name, { round, first });
    const [oldest] = this.#open.keys();
    if (this.#open.size > SESSIONS_MAX && oldest !== undefined) this.#open.delete(oldest);
    return first;
  }
}

/** An item to write, and the first item of its round. */
export interface ItemToWrite {
  readonly item: ItemInput;
  readonly first: string;
}

/** The writes of a batch: adjacent items of one round form one write, as do adjacent items outside any session. */
export function addsOf(placed: readonly ItemToWrite[]): readonly AddWrite[] {
  const adds: (AddWrite & { readonly items: NewRow[] })[] = [];
  let last = "";
  for (const { item, first } of placed) {
    const { space, session, agent, row } = item;
    const group = JSON.stringify([spaceKey(space), session, agent, session === undefined ? null : first]);
    const open = adds.at(-1);
    if (open && group === last) {
      open.items.push(row);
      continue;
    }
    last = group;
    adds.push({
      op: "add",
      space,
      ...(session !== undefined && { session }),
      ...(agent !== undefined && { agent }),
      items: [row],
      existing: "same",
      ...(session !== undefined && first !== row.id && { continues: first }),
    });
  }
  return adds;
}
