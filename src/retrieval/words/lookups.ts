/**
 * Lookups: the terms by which the identifiers of a question are looked up. An item that contains one of the identifiers
 * is an exact match and ranks above everything that is merely similar (retrieval/fusion.ts).
 *
 * Most numbers in questions are not identifiers: years, amounts, ordinals. They count only if the question contains
 * nothing else.
 */

import { analyse } from "./analyse.js";
import { distinctivePart, exactTermsOf } from "./exact.js";
import { foldText } from "./fold.js";
import {
  areJoined,
  digitsIn,
  isCapital,
  isWord,
  runsIn,
  spanOf,
  type Token,
  type TokenSpan,
  tokensIn,
} from "./spans.js";
import { isStopWord } from "./stop.js";

/** The store returns the matching terms of an item as the bits of a number, which has 53. */
const LOOKUPS_MAX = 48;

/** One form of an identifier, and the position of that identifier in the question. */
export interface Lookup {
  readonly term: string;
  readonly start: number;
  readonly end: number;
  /** The identifier is part of a longer one, and counts only if the longer one is not found. */
  readonly isPart: boolean;
}

const YEAR = /(?<!\d|\d[.,])(?:19|20)\d\d(?!\d|[.,]\d)/g;
/** An address, a file name, a name with an underscore. */
const NAMED = /[@_\\]|:\/\/|^www\.|[\p{L}\p{N}]{2}\.\p{L}{2}/iu;
const PATH = /^[^@:]*[/\\](?=[^/\\]+$)/;
/** A question that is one capitalised word asks for a name. */
const CAPITAL = /\p{Lu}/u;
const LETTER = /\p{L}/u;
const SEPARATOR = /[^\p{L}\p{M}\p{N}]/u;
/** 100km, 1990s, 27th. */
const AMOUNT = /^\d+\p{L}+$/u;
const AMOUNT_UNITS_MAX = 6;
/** As in 14:30. A number without separators needs one more. */
const DIGITS_MIN = 3;
/** A number this long is not a group of a longer one. */
const LONG_DIGITS_MIN = 9;
/** A12. Beside other numbers: LH442. */
const CODE_UNITS_MIN = 3;
const LONG_CODE_UNITS_MIN = 5;

/** The identifiers of a question, each by its strictest form first. */
export function lookupsIn(question: string): readonly Lookup[] {
  const text = foldText(question);
  const tokens = [...tokensIn(text)];
  const content = contentCount(tokens);
  const lookups: Lookup[] = [];
  const add = (span: TokenSpan, isPart: boolean): void => {
    for (const term of termsOf(span)) lookups.push({ term, start: span.start, end: span.end, isPart });
  };
  for (const run of runsIn(text)) {
    const isAll = contentCount(run) === content;
    const isAlone = contentCount(run.filter((token) => !isWord(token))) === content;
    for (const joined of joinedIn(run)) {
      const span = spanOf(text, joined);
      if (areJoined(joined, span.text, isAll ? undefined : digitsOf(span.text))) add(span, isPartOf(run, joined));
    }
    const numbers = run.filter(({ hasDigit }) => hasDigit);
    for (const token of numbers) {
      const isDistinctive = numbers.length > 1 ? isWhole(text, token) : isAlone || isIdentifier(text, token);
      if (isDistinctive) add(spanOf(text, [token]), isPartOf(run, [token]));
    }
    if (lookups.length >= LOOKUPS_MAX) break;
  }
  for (const token of tokens) {
    if (token.hasDigit || lookups.length >= LOOKUPS_MAX) continue;
    const isName = tokens.length === 1 && CAPITAL.test(token.text);
    if (isName || NAMED.test(token.text) || isTagged(text, token)) add(spanOf(text, [token]), false);
  }
  return lookups.slice(0, LOOKUPS_MAX);
}

/** The number of tokens that are not stop words. */
const contentCount = (tokens: readonly Token[]): number => tokens.filter(({ text }) => !isStopWord(text)).length;

/** The tokens of a run as one identifier, with and without the words at both ends. */
function joinedIn(run: readonly Token[]): readonly (readonly Token[])[] {
  const first = run.findIndex(({ hasDigit }) => hasDigit);
  const last = run.findLastIndex(({ hasDigit }) => hasDigit);
  const joined: (readonly Token[])[] = [];
  for (let from = 0; from <= first; from++) {
    for (let to = run.length; to > last; to--) if (to - from > 1) joined.push(run.slice(from, to));
  }
  return joined;
}

/** Whether the tokens leave out numbers or capitals of their run, which belong to the identifier. */
const isPartOf = (run: readonly Token[], tokens: readonly Token[]): boolean =>
  run.some((token) => !tokens.includes(token) && (token.hasDigit || isCapital(token.text)));

/** The number of digits that do not belong to a year. */
const digitsOf = (text: string): number => digitsIn(text.replace(YEAR, ""));

/** Whether a token with a digit is an identifier, in a question that contains other words. */
function isIdentifier(text: string, token: Token): boolean {
  const { text: written } = token;
  const digits = digitsOf(written);
  if (isTagged(text, token) || NAMED.test(written)) return true;
  if (!LETTER.test(written)) return digits >= (written.includes(".") ? 2 : SEPARATOR.test(written) ? DIGITS_MIN : 4);
  if (AMOUNT.test(written)) return written.length > AMOUNT_UNITS_MAX;
  if (SEPARATOR.test(written)) return digits >= DIGITS_MIN || (digits > 1 && !/^\d/.test(written));
  return written.length >= CODE_UNITS_MIN;
}

/** Whether a token beside other numbers is an identifier itself, rather than a group of a longer one. */
function isWhole(text: string, token: Token): boolean {
  const { text: written } = token;
  if (LETTER.test(written))
    return NAMED.test(written) || (written.length >= LONG_CODE_UNITS_MIN && !AMOUNT.test(written));
  const digits = digitsOf(written);
  const isListed = text.charAt(token.end) === "," || text.slice(token.start - 2, token.start) === ", ";
  return digits >= LONG_DIGITS_MIN || (digits >= DIGITS_MIN && (isListed || written.includes(".")));
}

const isTagged = (text: string, { start }: Token): boolean => text.charAt(start - 1) === "#";

/** The exact terms of an identifier, then the words that find it within a longer one, and the file name of a path. */
function termsOf(span: TokenSpan): readonly string[] {
  const written = span.isToken ? [span.text, distinctivePart(span.text), span.text.replace(PATH, "")] : [];
  const words = written.flatMap((text) => [...analyse(text).keys()].slice(0, 1));
  return [...new Set([...exactTermsOf(span), ...words])];
}

/**
 * The items that contain identifiers of the question, each with its sum over the identifiers: 2 for the strictest form
 * that any item has, 1 for a looser form. An identifier with a word beside it (order 4711) counts in addition to the
 * same identifier without the word. The scores of `found` are those of `WordsRequest.exact`.
 */
export function exactMatches<T extends { readonly score: number }>(
  lookups: readonly Lookup[],
  found: readonly T[],
): ReadonlyMap<T, number> {
  const matches = new Map<T, number>();
  const matched: Lookup[] = [];
  for (const forms of identifiersOf(lookups)) {
    const [{ start, end, isPart }] = forms as readonly [Lookup];
    if (isPart && matched.some((longer) => longer.start <= start && longer.end >= end)) continue;
    const left = new Set(found);
    let worth = 2;
    for (const form of forms) {
      const bit = 2 ** (lookups.length - 1 - lookups.indexOf(form));
      const containing = [...left].filter(({ score }) => Math.floor(score / bit) % 2 === 1);
      for (const item of containing) {
        left.delete(item);
        matches.set(item, (matches.get(item) ?? 0) + worth);
      }
      if (containing.length > 0) worth = 1;
    }
    if (left.size < found.length) matched.push(forms[0] as Lookup);
  }
  return matches;
}

/** The forms of each identifier. */
function identifiersOf(lookups: readonly Lookup[]): readonly (readonly Lookup[])[] {
  const identifiers = new Map<string, Lookup[]>();
  for (const lookup of lookups) {
    const place = `${lookup.start} ${lookup.end}`;
    identifiers.set(place, [...(identifiers.get(place) ?? []), lookup]);
  }
  return [...identifiers.values()];
}
