/** Items as a model reads them: behind the fence of the context, so that no stored text can pass for a line of ours. */
import { heading, inline, PREAMBLE, quoted } from "../context/fence.js";
import type { Item } from "../types.js";

/** The whole of an id is needed to ask for the item. */
const ID_UNITS_MAX = 512;

/** A text with who, when, and under which id. `note` is ours, and stands after it. */
export function itemPiece(item: Item, text: string, note?: string): string {
  const { id, kind, role, name, session, occurredAt, agent } = item;
  const words = [
    idText(id),
    day(occurredAt),
    name === undefined ? (role ?? kind) : inline(name),
    ...(agent === undefined ? [] : [`agent ${inline(agent)}`]),
    ...(session === undefined ? [] : [`session ${inline(session)}`]),
  ];
  return heading(...words) + quoted(text) + (note === undefined ? "" : `\n[${note}]`);
}

export const idText = (id: string): string => inline(id, ID_UNITS_MAX);

export const day = (ms: number): string => new Date(ms).toISOString().slice(0, 10);

/** A text of ours about stored ones: says first that those are data. */
export const fenced = (pieces: readonly string[], ...notes: readonly string[]): string =>
  [...(pieces.length > 0 ? [PREAMBLE, ...pieces] : []), ...notes].join("\n");
