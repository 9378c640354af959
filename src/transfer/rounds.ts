/**
 * How items become writes: what came in one call goes in one call again, in the order of the file.
 *
 * A round may be cut by the end of a batch, or by items of other sessions; what comes later joins what is there already.
 */
import type { AddWrite, NewRow } from "../stores/store.js";
import { spaceName } from "./format.js";
import type { ItemInput } from "./line.js";

/** Of so many sessions the round under way is remembered. */
const SESSIONS_MAX = 1_000;

export class Rounds {
  readonly #open = new Map<string, { readonly round: number; readonly first: string }>();

  /** Notes the item's round, also of items that are there already. The id of the round's first item. */
  note({ space, session, round, row }: ItemInput): string {
    if (session === undefined || round === undefined) return row.id;
    const name = `${spaceName(space)} ${session}`;
    const known = this.#open.get(name);
    const first = known?.round === round ? known.first : row.id;
    this.#open.delete(name);
    this.#open.set(name, { round, first });
    const [oldest] = this.#open.keys();
    if (this.#open.size > SESSIONS_MAX && oldest !== undefined) this.#open.delete(oldest);
    return first;
  }
}

/** An item that is to be written, and the first item of its round. */
export interface Placed {
  readonly item: ItemInput;
  readonly first: string;
}

/** The writes of a batch: neighbours of one round are one write, as are neighbours outside any session. */
export function addsOf(placed: readonly Placed[]): readonly AddWrite[] {
  const adds: (AddWrite & { readonly items: NewRow[] })[] = [];
  let last = "";
  for (const { item, first } of placed) {
    const { space, session, agent, row } = item;
    const group = JSON.stringify([spaceName(space), session, agent, session === undefined ? null : first]);
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
