/**
 * Emoji, each a word. What is joined into one picture (a family, a profession) is a term as a whole, written without
 * its joiners, and so is each of its parts: who looks for 👩 finds 👩‍🚀. Skin tones and variation selectors have been
 * folded away.
 */
import { afterCharacter, classAt, EMOJI, FLAG } from "./characters.js";
import { addTerm, TERM_UNITS_MAX } from "./terms.js";

const JOINER = 0x200d;
/** Tag characters spell the region of a flag in invisible ASCII: 🏴 + gbsct. */
const TAG_FIRST = 0xe0020;
const TAG_LAST = 0xe007e;
const TAG_OFFSET = 0xe0000;
const TAG_END = 0xe007f;

/** Counts the emoji that starts at `start`, and says where it ends. */
export function readEmoji(text: string, start: number, counts: Map<string, number>): number {
  let at = start;
  let parts = 0;
  let whole = "";
  for (;;) {
    const end = afterCharacter(text, at);
    const part = text.slice(at, end);
    addTerm(counts, part);
    parts++;
    if (whole.length < TERM_UNITS_MAX) whole += part;
    at = end;
    if (text.charCodeAt(at) !== JOINER || classAt(text, at + 1) !== EMOJI) break;
    at++;
  }
  for (let tag = text.codePointAt(at) ?? 0; tag >= TAG_FIRST && tag <= TAG_END; tag = text.codePointAt(at) ?? 0) {
    if (tag <= TAG_LAST && whole.length < TERM_UNITS_MAX) whole += String.fromCodePoint(tag - TAG_OFFSET).toLowerCase();
    parts++;
    at += 2;
  }
  if (parts > 1) addTerm(counts, whole);
  return at;
}

/** Counts the flag at `start`, two regional indicators, and says where it ends. One alone stands for itself. */
export function readFlag(text: string, start: number, counts: Map<string, number>): number {
  const half = afterCharacter(text, start);
  const end = classAt(text, half) === FLAG ? afterCharacter(text, half) : half;
  addTerm(counts, text.slice(start, end));
  return end;
}

/** Counts the keycap at `at` with the character before it, and says where it ends. A digit has been read by itself. */
export function readKeycap(text: string, at: number, counts: Map<string, number>): number {
  const key = at === 0 ? "" : text.charAt(at - 1);
  // An asterisk is not allowed in a term; its look-alike from mathematics is.
  if (/^[0-9#*]$/.test(key)) addTerm(counts, `${key === "*" ? "\u2217" : key}\u20E3`);
  return at + 1;
}
