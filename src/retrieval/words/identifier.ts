/**
 * Identifiers: tokens that are more than a plain word. Names (getUserName, user_id, foo-bar), addresses
 * (ada@example.com, /usr/local/bin), versions, dates and numbers (v1.2.3, 2026-11-15, 1,000), C++ and C#. An identifier
 * is indexed as a whole, by its pieces, and by their words: src/userName.ts gives src/username.ts; src and username.ts;
 * username, user, name and ts. Wholes are folded but not stemmed; words give the same terms as if they stood alone.
 */
import { apostropheParts } from "./apostrophe.js";
import { afterCharacter, classAt, DIGIT, LOWER, MARK, UPPER } from "./characters.js";
import { foldCase } from "./fold.js";
import { addTerm, cut } from "./terms.js";
import { wordTerm } from "./word.js";

/** Pieces are separated by the punctuation of addresses and expressions. The ending distinguishes C++ and C# from C. */
const PIECES = /[^/\\:@&+#~]+(?:\+\+|[+#](?=[/\\:@&+#~._'-]|$))?/g;
const ENDING = /[+#]+$/;
const BETWEEN_WORDS = /[._-]+/;
const JOINED = /[/\\:@&+#~._-]/;

const LETTER_OR_DIGIT = /[\p{L}\p{N}]/u;
const NO_LETTER = /[^\p{L}\p{M}]/u;
const NO_LETTER_OR_APOSTROPHE = /[^\p{L}\p{M}']/u;
const INITIALS = /^\p{L}(?:\.\p{L})+$/u;
const HYPHENATED = /^[\p{L}\p{M}]+-[\p{L}\p{M}]+$/u;
const HEXADECIMAL = /^[0-9a-f]+$/i;
const NUMBER_WITH_COMMAS = /[0-9]+(?:,[0-9]+)+/g;
const THOUSANDS = /^[0-9]{1,3}(?:,[0-9]{3})+$/;

/**
 * Longer than any number with commas, and than any word that is also written without its hyphen. Bounds the cost of
 * both patterns.
 */
const SHORT_UNITS_MAX = 64;

/** Counts the terms of an identifier: words with joiners between them, and perhaps an ending. */
export function addIdentifier(counts: Map<string, number>, written: string): void {
  const identifier = written.includes(",") ? withoutCommas(written) : written;
  if (JOINED.test(identifier)) addTerm(counts, wholeTerm(identifier));
  for (const [piece] of identifier.matchAll(PIECES)) {
    const words = piece
      .replace(ENDING, "")
      .split(BETWEEN_WORDS)
      .filter((word) => LETTER_OR_DIGIT.test(word));
    if (words.length === 0) continue;
    if (piece.length < identifier.length && JOINED.test(piece)) addTerm(counts, wholeTerm(piece));
    const solid = writtenSolid(piece);
    if (solid !== undefined) addTerm(counts, wordTerm(solid));
    for (const word of words) addWord(counts, word);
  }
}

/** Writes 1,000 as 1000, and any other comma between digits as a point: 3,14 as 3.14. */
function withoutCommas(text: string): string {
  const solid = (number: string) => (THOUSANDS.test(number) ? number.replaceAll(",", "") : number);
  return (text.length > SHORT_UNITS_MAX ? text : text.replace(NUMBER_WITH_COMMAS, solid)).replaceAll(",", ".");
}

/** The term of a whole identifier. Backslashes become slashes, so Windows paths need no special case in a store. */
function wholeTerm(text: string): string {
  return cut(foldCase(cut(text.replaceAll("'", "")).replaceAll("\\", "/")));
}

/**
 * The form without dots or hyphen, which is common too: USA for U.S.A., email for e-mail, wifi for Wi-Fi. It applies to
 * initials, and to a hyphen next to one or two letters.
 */
function writtenSolid(piece: string): string | undefined {
  if (piece.length > SHORT_UNITS_MAX) return undefined;
  if (INITIALS.test(piece)) return piece.replaceAll(".", "");
  if (!HYPHENATED.test(piece)) return undefined;
  const hyphen = piece.indexOf("-");
  return hyphen <= 2 || piece.length - hyphen <= 3 ? piece.replace("-", "") : undefined;
}

/** Counts the terms of a word of letters, digits and apostrophes, and of its parts. */
export function addWord(counts: Map<string, number>, word: string): void {
  if (word.includes("'")) addWordWithApostrophe(counts, word);
  else if (isCode(word)) addTerm(counts, wholeTerm(word));
  else addSplitWord(counts, word);
}

function addWordWithApostrophe(counts: Map<string, number>, word: string): void {
  if (NO_LETTER_OR_APOSTROPHE.test(word)) {
    addWord(counts, word.replaceAll("'", ""));
  } else {
    addTerm(counts, wordTerm(word));
    for (const part of apostropheParts(word)) addWord(counts, part);
  }
}

function addSplitWord(counts: Map<string, number>, word: string): void {
  const parts = splitWord(word);
  if (parts.length > 1) {
    const whole = wholeTerm(word);
    addTerm(counts, whole);
    // The plain word youtube is stemmed. The stem of the whole is a term too, so that YouTube matches it.
    const stemmed = NO_LETTER.test(word) ? whole : wordTerm(word);
    if (stemmed !== whole) addTerm(counts, stemmed);
  }
  for (const part of parts) addTerm(counts, classAt(part, 0) === DIGIT ? part : wordTerm(part));
}

/**
 * Whether a word is a hash, a key or part of a UUID rather than a name: it alternates often between letters and digits,
 * or may be hexadecimal. Splitting it would give a dozen meaningless terms.
 */
function isCode(word: string): boolean {
  let turns = 0;
  let previous = classAt(word, 0);
  for (let at = 1; at < word.length && turns < 3; at++) {
    const kind = classAt(word, at);
    if (kind === MARK) continue;
    if ((kind === DIGIT) !== (previous === DIGIT)) turns++;
    previous = kind;
  }
  return turns > 2 || (turns === 2 && word.length > 3 && HEXADECIMAL.test(word));
}

/** Splits a word between letters and digits, and between lower and upper case: get|User|Name, HTTP|Server, GPT|4. */
function splitWord(word: string): string[] {
  const parts: string[] = [];
  let start = 0;
  let previous = classAt(word, 0);
  for (let at = afterCharacter(word, 0); at < word.length; at = afterCharacter(word, at)) {
    const kind = classAt(word, at);
    if (kind === MARK) continue;
    if (isSeam(word, at, previous, kind)) {
      parts.push(word.slice(start, at));
      start = at;
    }
    previous = kind;
  }
  parts.push(word.slice(start));
  return parts;
}

function isSeam(word: string, at: number, previous: number, kind: number): boolean {
  if ((kind === DIGIT) !== (previous === DIGIT)) return true;
  if (kind !== UPPER) return false;
  if (previous !== UPPER) return true;
  const next = afterCharacter(word, at);
  const isPlural = word.charAt(next) === "s" && classAt(word, next + 1) !== LOWER; // URLs, APIs
  return classAt(word, next) === LOWER && !isPlural;
}
