/**
 * Emoji; each is a word. A joined sequence (a family, a profession) is a term as a whole, without its joiners, and so
 * is each of its parts: 👩 finds 👩‍🚀. Folding has already removed skin tones and variation selectors.
 */
import { afterCharacter, classAt, EMOJI, FLAG } from "./characters.js";
import { addTerm, TERM_UNITS_MAX } from "./terms.js";

const JOINER = 0x200d;
/** Tag characters are invisible ASCII that spells the region after a flag: 🏴 followed by gbsct is Scotland. */
const TAGS = 0xe0000;
const isTag = (codePoint: number): boolean => codePoint >= TAGS + 0x20 && codePoint <= TAGS + 0x7f;
const LETTER_OR_DIGIT = /^[0-9a-z]$/;

/** Counts the emoji that starts at `start`, and returns where it ends. */
export function readEmoji(text: string, start: number, counts: Map<string, number>): number {
  let at = afterCharacter(text, start);
  const first = text.slice(start, at);
  let whole = first;
  addTerm(counts, first);
  while (text.charCodeAt(at) === JOINER && classAt(text, at + 1) === EMOJI) {
    const end = afterCharacter(text, at + 1);
    const part = text.slice(at + 1, end);
    addTerm(counts, part);
    if (whole.length < TERM_UNITS_MAX) whole += part;
    at = end;
  }
  for (let tag = text.codePointAt(at) ?? 0; isTag(tag); tag = text.codePointAt(at) ?? 0) {
    const letter = String.fromCharCode(tag - TAGS);
    if (whole.length < TERM_UNITS_MAX && LETTER_OR_DIGIT.test(letter)) whole += letter;
    at += 2;
  }
  if (whole !== first) addTerm(counts, whole);
  return at;
}

/**
 * Counts the flag at `start` (two regional indicators), and returns where it ends. A single indicator is a term of its
 * own.
 */
export function readFlag(text: string, start: number, counts: Map<string, number>): number {
  const half = afterCharacter(text, start);
  const end = classAt(text, half) === FLAG ? afterCharacter(text, half) : half;
  addTerm(counts, text.slice(start, end));
  return end;
}

/**
 * Counts the keycap at `at` with the character before it, and returns where it ends. A digit has already been counted
 * as a number.
 */
export function readKeycap(text: string, at: number, counts: Map<string, number>): number {
  const key = at === 0 ? "" : text.charAt(at - 1);
  // Terms must not contain an asterisk; the asterisk operator looks alike.
  if (/^[0-9#*]$/.test(key)) addTerm(counts, `${key === "*" ? "\u2217" : key}\u20E3`);
  return at + 1;
}
