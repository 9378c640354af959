/**
 * Tokens of the scripts that put spaces between words: a plain word, or an identifier with the joiners that hold it
 * together. A token is read once, and what it was seen to contain decides how it is counted; most are plain words and
 * cost one lookup.
 */
import { possessorUnits } from "./apostrophe.js";
import { classAt, DIGIT, JOINER, LOWER, MARK, startsWord, UPPER } from "./characters.js";
import { addIdentifier, addWord } from "./identifier.js";
import { addTerm } from "./terms.js";
import { wordTerm } from "./word.js";

/** What a token was seen to contain, as bits. */
const SMALL = 1;
const CAPITAL = 2;
const NUMERAL = 4;
const APOSTROPHE = 8;
const SIGN = 16;
/** A capital at the start, which alone does not make an identifier. */
const INITIAL = 32;

/** As many joiners in a row as in http://; more are decoration. */
const JOINERS_MAX = 3;
/** Joiners that may stand twice in a row: a__b, std::map, C++17, the slashes of a URL. Others are dots and dashes. */
const DOUBLED = "_:+/\\";

/** Counts the token that starts at `start`, and says where it ends. */
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

function addToken(counts: Map<string, number>, token: string, seen: number): void {
  const isMixed = (seen & SMALL) !== 0 && (seen & CAPITAL) !== 0;
  const possessor = (seen & APOSTROPHE) === 0 ? token.length : possessorUnits(token);
  if ((seen & (NUMERAL | APOSTROPHE | SIGN)) === 0 && !isMixed) addTerm(counts, wordTerm(token));
  else if (seen === NUMERAL) addTerm(counts, token);
  else if (possessor < token.length) readToken(token.slice(0, possessor), 0, counts);
  else if ((seen & SIGN) === 0) addWord(counts, token);
  else addIdentifier(counts, token);
}

/** How many joiners at `at` hold together what stands on both sides of them; 0 if they separate it. */
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
  // A comma joins the digits of a number and nothing else.
  if (hasComma) return end - at === 1 && next === DIGIT && classAt(text, at - 1) === DIGIT ? 1 : 0;
  return startsWord(next) ? end - at : 0;
}

/** How many units of C++, C# or Google+ belong to the name though nothing follows them. */
function endingAt(text: string, at: number): number {
  if (text.startsWith("++", at)) return 2;
  const sign = text.charAt(at);
  return sign === "+" || sign === "#" ? 1 : 0;
}
