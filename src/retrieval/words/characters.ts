/**
 * Character classes of folded text. Every decision about where a word begins and ends uses these numbers: one table
 * lookup per character, and no regular expression that could backtrack.
 */

/** Ends the token before it: white space, control characters, most punctuation and symbols. */
export const SEPARATOR = 0;
/** A letter that is not a capital: lower case, or of a script without case. */
export const LOWER = 1;
export const UPPER = 2;
export const DIGIT = 3;
/** Belongs to the character before it: matras, vowel signs. Folding has already removed accents. */
export const MARK = 4;
/** Holds an identifier together between letters or digits. */
export const JOINER = 5;
/** Scripts without spaces that are indexed by pairs of characters. */
export const IDEOGRAPH = 6;
export const HANGUL = 7;
/** Scripts without spaces that are segmented by dictionary: Thai, Lao, Khmer, Burmese. */
export const UNSPACED = 8;
export const EMOJI = 9;
/** A regional indicator; two of them make a flag. */
export const FLAG = 10;
/** The combining keycap, which turns the 0-9, # or * before it into an emoji. */
export const KEYCAP = 11;

const JOINERS = ".,_-'/\\:@&+#~";
const KEYCAP_CODE = 0x20e3;
const COPYRIGHT = 0xa9;
const REGISTERED = 0xae;

const LETTER = /\p{L}/u;
const CAPITAL = /[\p{Lu}\p{Lt}]/u;
const NUMBER = /\p{N}/u;
const COMBINING = /\p{M}/u;
const IDEOGRAPHIC = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Bopomofo}\p{sc=Yi}\u30FC]/u;
const HANGUL_LETTER = /\p{sc=Hangul}/u;
const DICTIONARY = /[\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}]/u;
const PICTOGRAPH = /\p{Extended_Pictographic}/u;
const REGIONAL = /\p{Regional_Indicator}/u;

const PAGE_SIZE = 256;
/** Built on first use: no text needs all of Unicode, and building all pages would delay the start. */
const pages: (Uint8Array | undefined)[] = new Array<Uint8Array | undefined>(0x110000 / PAGE_SIZE).fill(undefined);

function classify(codePoint: number): number {
  const character = String.fromCodePoint(codePoint);
  if (codePoint < 0x80 && JOINERS.includes(character)) return JOINER;
  if (codePoint === KEYCAP_CODE) return KEYCAP;
  if (COMBINING.test(character)) return DICTIONARY.test(character) ? UNSPACED : MARK;
  if (LETTER.test(character) || NUMBER.test(character)) {
    if (IDEOGRAPHIC.test(character)) return IDEOGRAPH;
    if (NUMBER.test(character)) return DIGIT;
    if (HANGUL_LETTER.test(character)) return HANGUL;
    if (DICTIONARY.test(character)) return UNSPACED;
    return CAPITAL.test(character) ? UPPER : LOWER;
  }
  if (REGIONAL.test(character)) return FLAG;
  if (PICTOGRAPH.test(character) && codePoint !== COPYRIGHT && codePoint !== REGISTERED) return EMOJI;
  return SEPARATOR;
}

function buildPage(index: number): Uint8Array {
  const page = new Uint8Array(PAGE_SIZE);
  for (let offset = 0; offset < PAGE_SIZE; offset++) page[offset] = classify(index * PAGE_SIZE + offset);
  pages[index] = page;
  return page;
}

const latin = buildPage(0);

function classOf(codePoint: number): number {
  const page = pages[codePoint >>> 8] ?? buildPage(codePoint >>> 8);
  return page[codePoint & 0xff] ?? SEPARATOR;
}

/**
 * The class of the character at `at`; SEPARATOR past the end. Both halves of a surrogate pair have the class of the
 * pair, so runs can be followed unit by unit; a lone surrogate is a separator.
 */
export function classAt(text: string, at: number): number {
  const unit = text.charCodeAt(at);
  return unit < PAGE_SIZE ? (latin[unit] ?? SEPARATOR) : classBeyondLatin(text, at, unit);
}

function classBeyondLatin(text: string, at: number, unit: number): number {
  if (unit < 0xd800 || unit > 0xdfff) return classOf(unit);
  if (Number.isNaN(unit)) return SEPARATOR;
  const before = unit >= 0xdc00 && at > 0 ? (text.codePointAt(at - 1) ?? 0) : 0;
  return classOf(before > 0xffff ? before : (text.codePointAt(at) ?? 0));
}

/** The position after the character at `at`, which has one or two units. */
export function afterCharacter(text: string, at: number): number {
  return at + ((text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1);
}

/** Whether a word can start with this class. */
export function startsWord(kind: number): boolean {
  return kind === LOWER || kind === UPPER || kind === DIGIT;
}
