/** Renders items for a model: quoted, so that no stored text can pass for our own. */
import { heading, INLINE_MAX, inline, PREAMBLE, quoted } from "../context/fence.js";
import { escapedJson } from "../rendered.js";
import type { Item } from "../types.js";

const PLAIN = /^[\p{L}\p{N}][\p{L}\p{M}\p{N}_.@+:/-]*$/u;

/** A text with its speaker, time and id. `note` is our own and follows it. */
export function itemPiece(item: Item, text: string, note?: string): string {
  const { id, kind, role, name, session, occurredAt, agent } = item;
  const words = [
    day(occurredAt),
    name === undefined ? (role ?? kind) : inline(name),
    ...(agent === undefined ? [] : [`agent ${inline(agent)}`]),
    ...(session === undefined ? [] : [`session ${inline(session)}`]),
  ];
  return named(id, ...words) + quoted(text) + (note === undefined ? "" : `\n[${note}]`);
}

/**
 * A heading that starts with an id or a name that the model can refer to. Long ones are shortened there, as every name in a
 * line of ours, and quoted in full.
 */
export function named(id: string, ...words: readonly string[]): string {
  const whole = wholeText(id);
  return isShort(whole) ? heading(whole, ...words) : `${heading(inline(id), ...words)}${whole}\n> `;
}

/** Lists ids or names after `words`; long ones follow, quoted. */
export function listed(words: string, ids: readonly string[]): string {
  const whole = ids.map(wholeText);
  const long = whole.filter((id) => !isShort(id)).map((id) => `\n> ${id}`);
  return [words, ...whole.filter(isShort)].join(" ") + long.join("");
}

/** In full: as it is, or as a JSON string on one line. */
const wholeText = (id: string): string => (PLAIN.test(id) ? id : escapedJson(JSON.stringify(id)));

const isShort = (text: string): boolean => text.length <= INLINE_MAX;

export const day = (ms: number): string => new Date(ms).toISOString().slice(0, 10);

/** Our text about stored ones. It starts by saying that those are data. */
export function fenced(pieces: readonly string[], ...notes: readonly string[]): string {
  const text = [...pieces, ...notes].join("\n");
  return pieces.length > 0 || text.includes("\n> ") ? `${PREAMBLE}\n${text}` : text;
}
