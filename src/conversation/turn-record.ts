/** One turn of a conversation: role, content and time. Frozen; its content is well-formed text. */

import { parseText } from "../input/content.js";
import { parseChoice, wrongType } from "../input/refusal.js";

export const SPEAKERS = ["user", "assistant"] as const;
/** Who speaks in a conversation. */
export type Speaker = (typeof SPEAKERS)[number];

/** One turn of a conversation. */
export interface TurnRecord {
  /** Who spoke. */
  readonly role: Speaker;
  /** What was said. */
  readonly content: string;
  /** Epoch milliseconds. Turns keep the order in which they were recorded, whatever their times. */
  readonly timestamp: number;
}

/** `prefix` is the path of the fields in error messages: "", or for instance "turns[3].". */
export function makeTurn(role: unknown, content: unknown, timestamp: number, prefix = ""): TurnRecord {
  const speaker = parseChoice(role, SPEAKERS, `${prefix}role`);
  if (typeof content !== "string") throw wrongType(`${prefix}content`, "a string", content);
  return Object.freeze({ role: speaker, content: parseText(content, `${prefix}content`), timestamp });
}
