/** One turn of a conversation: who spoke, what, and when. Frozen; its content is sound text. */
import { parseChoice } from "../input/choice.js";
import { parseText } from "../input/content.js";
import { wrongType } from "../input/refusal.js";

export const SPEAKERS = ["user", "assistant"] as const;
export type Speaker = (typeof SPEAKERS)[number];

export interface TurnRecord {
  readonly role: Speaker;
  readonly content: string;
  /** Epoch milliseconds. Turns stand in the order in which they were recorded, whatever their times say. */
  readonly timestamp: number;
}

/** `prefix` is where the fields stand, for a refusal: "", or such as "turns[3].". */
export function makeTurn(role: unknown, content: unknown, timestamp: number, prefix = ""): TurnRecord {
  const speaker = parseChoice(role, SPEAKERS, `${prefix}role`);
  if (typeof content !== "string") throw wrongType(`${prefix}content`, "a string", content);
  return Object.freeze({ role: speaker, content: parseText(content, `${prefix}content`), timestamp });
}
