/** The messages that carry recalled items into a model's window. */
import { leading } from "../../graphemes.js";
import { rendered } from "../../rendered.js";
import type { SearchItem } from "./contexto-backend.js";

/** A form that the message types of the usual model APIs accept. */
export interface RecalledMessage {
  /** Who appears to speak. */
  readonly role: "user" | "assistant";
  /** The recalled text. */
  readonly content: { readonly type: "text"; readonly text: string }[];
}

const ANNOUNCEMENT = "[Recalled context from previous conversations]";
const HEADER = "## Relevant Context\n";
const CUT = "…";

/**
 * The items that fit into a text of `charsMax`, best first. An item is whole or absent, but the best one is cut if it is longer
 * than all of the room.
 */
export function fitting(
  items: readonly SearchItem[],
  charsMax: number,
): { readonly id: string; readonly line: string }[] {
  const lines: { id: string; line: string }[] = [];
  let room = charsMax - HEADER.length;
  for (const item of items) {
    const whole = lineOf(item);
    const line = lines.length === 0 && whole.length > room ? leading(whole, room - CUT.length) + CUT : whole;
    if (line.length > room) continue;
    lines.push({ id: item.id, line });
    room -= line.length;
  }
  return lines;
}

export const recalledText = (lines: readonly string[]): string => HEADER + lines.join("");

/** Only our own lines begin in the first column. */
const lineOf = ({ content }: SearchItem): string => `\n- ${rendered(content.replace(/\r\n?|\n/g, "\n  "))}`;

export const recalledMessages = (text: string): RecalledMessage[] => [
  { role: "user", content: [{ type: "text", text: ANNOUNCEMENT }] },
  { role: "assistant", content: [{ type: "text", text }] },
];
