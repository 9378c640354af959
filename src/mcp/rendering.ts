/** Items as a model reads them: behind the fence of the context, so that no stored text can pass for a line of ours. */
import { heading, inline, PREAMBLE, quoted } from "../context/fence.js";
import type { Item } from "../types.js";

const PLAIN = /^[\p{L}\p{N}][\p{L}\p{M}\p{N}_.@+:/-]*$/u;
/** Line ends that JSON leaves as they are, and what turns the direction of a text. */
const UNSEEN = /[\u0080-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

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

/** An id or a name by which something can be asked for: all of it, as it is, or as a JSON string on one line. */
export function idText(id: string): string {
  if (PLAIN.test(id)) return id;
  return JSON.stringify(id).replace(UNSEEN, (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

export const day = (ms: number): string => new Date(ms).toISOString().slice(0, 10);

/** A text of ours about stored ones: says first that those are data. */
export const fenced = (pieces: readonly string[], ...notes: readonly string[]): string =>
  [...(pieces.length > 0 ? [PREAMBLE, ...pieces] : []), ...notes].join("\n");
