/**
 * Formats a conversation as text: a header, then a line for each turn.
 *
 * - The text keeps both budgets, header and line breaks included, and is cut only between graphemes.
 * - Turns are taken newest first until one does not fit, and printed in order. If not even the newest fits, its end is
 *   cut off. The text is empty only if the budget has no room for the header, the speaker and one grapheme.
 * - A line that does not start with a blank is ours: further lines of a turn are indented by two blanks, so that no
 *   content can speak for someone else.
 */
import { afterGraphemes, countGraphemes } from "../graphemes.js";
import { rendered } from "../rendered.js";
import type { MemoryConfig } from "./memory-config.js";
import type { Speaker, TurnRecord } from "./turn-record.js";

/** ASCII, like the speakers, so units are graphemes. */
const HEADER = "[Conversation Context]\n";
const SPEAKERS: { readonly [role in Speaker]: string } = { user: "User: ", assistant: "Assistant: " };
const LINE_END = "\n";
/**
 * Every character that some reader takes for a line break: Unicode's, and the separators at which Python splits lines.
 */
const LINE_ENDS = "\n\v\f\r\x1C\x1D\x1E\x85\u2028\u2029";
const LINE_BREAKS = new RegExp(`\r\n|[${LINE_ENDS}]`, "g");
const INDENT = "  ";

/** Requires turns in order, oldest first. */
export function contextText(turns: readonly TurnRecord[], config: MemoryConfig): string {
  const { budgetChars, budgetTokens, countTokens } = config;
  const newest = turns.at(-1);
  if (!newest) return "";
  const fits = budgetTokens === undefined ? undefined : (text: string) => countTokens(text) <= budgetTokens;
  const chars = budgetChars - HEADER.length;
  const lines = wholeLines(turns, chars);
  const whole = (count: number): string => HEADER + lines.slice(-count).join("");
  const count = most(1, lines.length, (some) => fits?.(whole(some)) ?? true);
  return count === undefined ? cutText(newest, chars, fits) : whole(count);
}

/** The lines of the newest turns that fit into `chars` characters together, in order. */
function wholeLines(turns: readonly TurnRecord[], chars: number): readonly string[] {
  const lines: string[] = [];
  let left = chars;
  for (let at = turns.length - 1; at >= 0; at--) {
    const line = bodyOf(turns[at] as TurnRecord) + LINE_END;
    // Checked first, because a turn may be a thousand times as long as its budget.
    if (left <= 0 || afterGraphemes(line, left) < line.length) break;
    left -= countGraphemes(line);
    lines.push(line);
  }
  return lines.reverse();
}

/** The turn alone, cut to `chars` characters, and to the token budget if there is one. */
function cutText(turn: TurnRecord, chars: number, fits: ((text: string) => boolean) | undefined): string {
  const body = bodyOf(turn);
  const room = Math.min(chars - LINE_END.length, body.length);
  const least = leastGraphemes(body, SPEAKERS[turn.role]);
  if (room < least) return "";
  const cut = (count: number): string => HEADER + body.slice(0, afterGraphemes(body, count)) + LINE_END;
  const count = fits ? most(least, room, (some) => fits(cut(some))) : room;
  return count === undefined ? "" : cut(count);
}

/** The speaker and one grapheme of the content. A leading mark may combine with the blank after the speaker. */
function leastGraphemes(body: string, speaker: string): number {
  const isEnough = body.length === speaker.length || afterGraphemes(body, speaker.length) > speaker.length;
  return isEnough ? speaker.length : speaker.length + 1;
}

function bodyOf({ role, content }: TurnRecord): string {
  return SPEAKERS[role] + rendered(content.replace(LINE_BREAKS, "\n")).replaceAll("\n", `\n${INDENT}`);
}

/**
 * The largest number from `least` to `max` that fits; undefined if `least` does not. Assumes that a smaller number fits
 * if a larger one does; with a counter that violates this, the result may be too small but always fits. The steps grow,
 * so that no attempt is much longer than what fits.
 */
function most(least: number, max: number, fits: (count: number) => boolean): number | undefined {
  if (least > max || !fits(least)) return undefined;
  let good = least;
  let bad = max + 1;
  for (let step = 1; good + step < bad; step *= 2) {
    if (fits(good + step)) good += step;
    else bad = good + step;
  }
  while (bad - good > 1) {
    const middle = good + Math.floor((bad - good) / 2);
    if (fits(middle)) good = middle;
    else bad = middle;
  }
  return good;
}
