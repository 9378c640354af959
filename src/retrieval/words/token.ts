/**
 * Tokens of scripts that separate words by spaces: a plain word, or an identifier with the joiners that hold it
 * together. A token is read once, and the character classes seen in it decide how it is counted. Most tokens are plain
 * words and cost one cache lookup.
 */
import { possessorUnits } from "./apostrophe.js";
import { classAt, DIGIT, JOINER, LOWER, MARK, startsWord, UPPER } from "./characters.js";
import { addIdentifier, addWord } from "./identifier.js";
import { addTerm } from "./terms.js";
import { wordTerm } from "./word.js";

/** The character classes seen in a token, as bits. */
const SMALL = 1;
const CAPITAL = 2;
const NUMERAL = 4;
const APOSTROPHE = 8;
const SIGN = 16;
/** A capital at the start. On its own it does not make an identifier. */
const INITIAL = 32;

/** The maximal number of joiners in a row, as in http://; more are decoration. */
const JOINERS_MAX = 3;
/**
 * Joiners that may be doubled: a__b, std::map, C++17, the slashes of a URL. Other doubled joiners are ellipses and
 * dashes.
 */
const DOUBLED = "_:+/\\";

/** Counts the token that starts at `start`, and returns where it ends. */
export function readToken(text: string, start: number, counts: Map<string, number>): number {
  const first = classAt(text, start);
  let seen = first === UPPER ? INITIAL : first === DIGIT ? NUMERAL : SMALL;
  let end = start + 1;
  for (;;) {
    const kind = classAt(text, end);
    if (kind === LOWER) seen |= SMALL;
    else if (kind === UPPER) seen |= CAPITAL;
    else if (kind === DIGIT) seen |= NUMERAL;
    else if (kind !== MARK) {
      const joiners = kind === JOINER ? joinersAt(text, end) : 0;
      if (joiners === 0) break;
      end += joiners;
      if (text.charAt(end - 1) === "'") seen |= APOSTROPHE;
      if (joiners > 1 || text.charAt(end - 1) !== "'") seen |= SIGN;
      continue;
    }
    end++;
  }
  const ending = endingAt(text, end);
  addToken(counts, text.slice(start, end + ending), ending > 0 ? seen | SIGN : seen);
  return end + ending;
}

/** Where the token that starts at `start` ends, without an ending such as ++. */
export function tokenEnd(text: string, start: number): number {
  let end = start + 1;
  for (;;) {
    const kind = classAt(text, end);
    const units = startsWord(kind) || kind === MARK ? 1 : kind === JOINER ? joinersAt(text, end) : 0;
    if (units === 0) return end;
    end += units;
  }
}

function addToken(counts: Map<string, number>, token: string, seen: number): void {
  const isMixed = (seen & SMALL) !== 0 && (seen & CAPITAL) !== 0;
  const possessor = (seen & APOSTROPHE) === 0 ? token.length : possessorUnits(token);
  if ((seen & (NUMERAL | APOSTROPHE | SIGN)) === 0 && !isMixed) addTerm(counts, wordTerm(token));
  else if (seen === NUMERAL) addTerm(counts, token);
  else if (possessor < token.length) readToken(token.slice(0, possessor), 0, counts);
  else if ((seen & SIGN) === 0) addWord(counts, token);
  else addIdentifier(counts, token);
}

/** The number of joiners at `at` that hold both sides together; 0 if they separate them. */
function joinersAt(text: string, at: number): number {
  let end = at;
  let hasComma = false;
  while (classAt(text, end) === JOINER) {
    const joiner = text.charAt(end);
    if (end - at === JOINERS_MAX) return 0;
    if (joiner === text.charAt(end - 1) && !DOUBLED.includes(joiner)) return 0;
    hasComma ||= joiner === ",";
    end++;
  }
  const next = classAt(text, end);
  // A comma joins only the digits of a number.
  if (hasComma) return end - at === 1 && next === DIGIT && classAt(text, at - 1) === DIGIT ? 1 : 0;
  return startsWord(next) ? end - at : 0;
}

/** The number of units of the ending of C++, C# or Google+, which belongs to the name though nothing follows it. */
function endingAt(text: string, at: number): number {
  if (text.startsWith("++", at)) return 2;
  const sign = text.charAt(at);
  return sign === "+" || sign === "#" ? 1 : 0;
}
