/**
 * Spans of text that may be identifiers: one token (token.ts), or up to eight adjacent tokens, as in +49 171 2345678,
 * DE89 3704 0044 and M-AB 1234. Positions refer to folded text.
 */
import { classAt, DIGIT, startsWord } from "./characters.js";
import { isStopWord } from "./stop.js";
import { tokenEnd } from "./token.js";

/** More adjacent tokens are a table. */
const TOKENS_MAX = 8;
/** Longer tokens are not identifiers. */
const UNITS_MAX = 2_048;
/** As long as the longest IBAN. */
const SOLID_MAX = 34;
/** A shorter one is ambiguous without its separators: 1.23 is not 12.3. */
export const SOLID_MIN = 5;
/** The longest word that may belong to a number (PROJ 1234), and the longest unit (100 km). */
const WORD_UNITS_MAX = 5;
const UNIT_UNITS_MAX = 3;
/** The most joiners in such a word: M-AB. */
const SIGNS_MAX = 2;
/** The most words before the first number of a run. */
const WORDS_MAX = 2;
const DIGITS_MIN = 3;
const GAP_UNITS_MAX = 4;

export const ADDRESS = /@|:\/\/|^www\./i;
const ADDRESS_SIGN = /[@/.]/;
const URL_START = /:\/\/|^www\.|^[a-z0-9.-]{1,255}\.[a-z]{2,24}\//i;
const AFTER_URL = /[\s<>"`\p{Cc}]/u;
const GAP = /^[ ()[\]/,+#–-]{1,4}$/;
const LETTER = /\p{L}/u;
/** SW1A, VB85. */
const CODE = /^\p{L}[\p{L}\p{N}]*$/u;
const NUMERAL = /[0-9]/;
/** Every run contains one of these. Text that is far from any of them is skipped. */
const MARKS = "[0-9@]|://|www\\.|WWW\\.";
/** How many words on each side of a mark are read. */
const WORDS_BESIDE = 3;
const SEPARATORS = /[^\p{L}\p{M}\p{N}]/gu;

/** Letters, digits and the joiners between them. */
export interface Token {
  readonly start: number;
  readonly end: number;
  readonly text: string;
  readonly hasDigit: boolean;
  readonly isAddress: boolean;
}

/** One token or several adjacent ones, with the + before them. */
export interface TokenSpan {
  readonly start: number;
  readonly end: number;
  readonly text: string;
  readonly isToken: boolean;
  /** It continues another number or group of capitals: 2345678 in 0171 2345678. */
  readonly isBehind: boolean;
}

/** The tokens of a text, or of a part of it between white space. A URL extends to the next white space. */
export function* tokensIn(text: string, from = 0, to = text.length): Generator<Token> {
  for (let at = from; at < to; ) {
    if (!startsWord(classAt(text, at))) {
      at++;
      continue;
    }
    const start = at;
    at = tokenEnd(text, start);
    if (at - start > UNITS_MAX) continue;
    const mayBeAddress = ADDRESS_SIGN.test(text.slice(start, at)); // few are
    if (mayBeAddress && URL_START.test(text.slice(start, at))) at = urlEnd(text, at);
    const token = text.slice(start, at);
    const isAddress = mayBeAddress && ADDRESS.test(token);
    yield { start, end: at, text: token, hasDigit: NUMERAL.test(token), isAddress };
  }
}

function urlEnd(text: string, from: number): number {
  const most = Math.min(text.length, from + UNITS_MAX);
  let end = from;
  while (end < most && !AFTER_URL.test(text.charAt(end))) end++;
  while (end > from && !startsWord(classAt(text, end - 1)) && text.charAt(end - 1) !== "/") end--;
  return end;
}

/** Runs of tokens that may form one identifier. Each run contains a digit or is an address. */
export function* runsIn(text: string): Generator<readonly Token[]> {
  const marks = new RegExp(MARKS, "g");
  for (let at = 0; marks.test(text); marks.lastIndex = at) {
    let start = marks.lastIndex;
    for (let left = WORDS_BESIDE; start > at && left > 0; start--) if (isBlank(text, start - 1)) left--;
    let end = marks.lastIndex;
    for (let left = WORDS_BESIDE; end < text.length && left > 0; end++) {
      if (isBlank(text, end)) left--;
      else if (isDigit(text, end)) left = WORDS_BESIDE;
    }
    yield* runsBetween(text, start, end);
    at = end;
  }
}

const isBlank = (text: string, at: number): boolean => text.charCodeAt(at) <= 0x20;
const isDigit = (text: string, at: number): boolean => classAt(text, at) === DIGIT;

function* runsBetween(text: string, start: number, end: number): Generator<readonly Token[]> {
  let run: Token[] = [];
  let isTable = false;
  const close = (): readonly (readonly Token[])[] => {
    const closed = isTable ? run.map((token) => [token]) : [run];
    run = [];
    return closed.filter((tokens) => tokens.some(({ hasDigit, isAddress }) => hasDigit || isAddress));
  };
  for (const token of tokensIn(text, start, end)) {
    const isPart = mayBePart(token);
    const isNext = isPart && isGap(text, run.at(-1)?.end, token.start) && follows(token, run);
    const isFull = run.length === TOKENS_MAX;
    if (isNext && isFull) isTable = true;
    if (!isNext || isFull) yield* close();
    if (!isNext) isTable = false;
    run.push(token);
    if (run.length > WORDS_MAX && !hasNumber(run)) run.shift();
    if (!isPart) yield* close();
  }
  yield* close();
}

/** Whether a token may be part of a longer identifier. */
function mayBePart({ text, hasDigit, isAddress }: Token): boolean {
  if (hasDigit) return !isAddress;
  if (text.length > WORD_UNITS_MAX + SIGNS_MAX) return false;
  const isLetter = text.length === 1;
  return solidOf(text).length <= WORD_UNITS_MAX && (isLetter || isCapital(text) || !isStopWord(text));
}

/**
 * Whether a token continues a run. A number is continued by numbers, capitals and units, a code by any letters. Short
 * words may precede the first number.
 */
function follows({ text, hasDigit }: Token, run: readonly Token[]): boolean {
  if (hasDigit || !hasNumber(run)) return true;
  const last = run.at(-1);
  return last?.hasDigit === true && (isCode(last) || isCapital(text) || text.length <= UNIT_UNITS_MAX);
}

const hasNumber = (run: readonly Token[]): boolean => run.some(({ hasDigit }) => hasDigit);
const isCode = (token: Token | undefined): boolean => token?.hasDigit === true && CODE.test(token.text);
export const isCapital = (text: string): boolean => text === text.toUpperCase();

const isGap = (text: string, from: number | undefined, to: number): boolean =>
  from !== undefined && to - from <= GAP_UNITS_MAX && GAP.test(text.slice(from, to));

/** All spans of a run that may be identifiers: each token, and adjacent tokens together. */
export function spansOf(text: string, run: readonly Token[]): readonly TokenSpan[] {
  const spans: TokenSpan[] = [];
  for (let from = 0; from < run.length; from++) {
    for (let to = from + 1; to <= run.length; to++) {
      const tokens = run.slice(from, to);
      const span = spanOf(text, tokens, run[from - 1]);
      if (span.isToken || areJoined(tokens, span.text)) spans.push(span);
    }
  }
  return spans;
}

/** These tokens as one span; `before` is the preceding token of the run. Requires at least one token. */
export function spanOf(text: string, tokens: readonly Token[], before?: Token): TokenSpan {
  const [start, end] = [tokens[0]?.start ?? 0, tokens.at(-1)?.end ?? 0];
  const hasPlus = text.charAt(start - 1) === "+";
  const isBehind = before !== undefined && !hasPlus && classAt(text, start) === DIGIT && !isWord(before);
  return { start, end, text: text.slice(hasPlus ? start - 1 : start, end), isToken: tokens.length === 1, isBehind };
}

/** Neither a number nor a group of capital letters. */
export const isWord = ({ text, hasDigit }: Token): boolean => !hasDigit && !isCapital(text);

/**
 * Whether adjacent tokens are more than a word and a number: A 1043 77 and SW1A 1AA are, June 12 is not. `digits` is
 * the number of digits that count.
 */
export function areJoined(tokens: readonly Token[], text: string, digits = digitsIn(text)): boolean {
  const { length } = solidOf(text);
  if (length < SOLID_MIN || length > SOLID_MAX) return false;
  const areCodes = tokens.every((token, at) => !isWord(token) || isCode(tokens[at - 1]));
  return digits >= (areCodes && LETTER.test(text) && length > SOLID_MIN ? DIGITS_MIN - 1 : DIGITS_MIN);
}

/** Only the letters and digits of a text. */
export const solidOf = (text: string): string => text.replace(SEPARATORS, "");

export function digitsIn(text: string): number {
  let digits = 0;
  for (let at = 0; at < text.length; at++) if (classAt(text, at) === DIGIT) digits++;
  return digits;
}
