/**
 * Exact terms: the same term for every spelling of an identifier (an order number, a phone number, an IBAN, an address, a
 * version), and another term for every identifier that is merely similar.
 *
 * An identifier is a span of text (spans.ts). It has two forms, the strictest first: as written, and solid, which is its
 * letters and digits alone. Both leave out prefixes that do not distinguish identifiers, such as the scheme of a URL or the
 * v of a version. Other prefixes (the A of A-1043-77, a country code) may be missing on one side. So the part behind the
 * prefix is a form of its own, with another mark: A-1043-77 matches 1043-77, but not B-1043-77.
 *
 * Exact terms are indexed beside the terms of `analyse`. They are looked up (question/lookups.ts), not scored, and do not
 * count for the length of a text.
 */
import { createHash } from "node:crypto";
import { foldCase, foldText } from "./fold.js";
import { ADDRESS, digitsIn, runsIn, SOLID_MIN, solidOf, spansOf, type TokenSpan } from "./spans.js";
import { own, TERM_UNITS_MAX } from "./terms.js";

/** The prefixes of exact terms, which no word starts with: a whole identifier, and the part behind a prefix. */
const WHOLE = "#";
const BEHIND = "#~";

/** A term is rare if at most this many items of a space contain it. Only rare terms are looked up. */
export const RARE_MAX = 32;

/** About the maximal number of exact terms of a text, so that a table or a log does not fill the index. */
const TERMS_MAX = 4_096;
const DIGEST_UNITS = 32;

const MAY_IDENTIFY = /[\p{Nd}@]|:\/\/|www\./iu;
const NO_TERM = /[^\p{L}\p{M}\p{N}#&+./:@_~-]/gu;
/** An address, a path or a host is an identifier even without a digit. */
const NAMED = /[@/.]/;
const PIECES = /[/\\:&+#~]+/;
const TRAILING = /(?:'s|[^\p{L}\p{N}]{1,8})$/iu;

/** Prefixes that do not distinguish identifiers: the scheme of a URL, the v of a version, the 0x of a number. */
const NEUTRAL_PREFIX = /^(?:[a-z][a-z0-9+.-]{0,15}:\/\/(?:www\.)?|www\.|mailto:|tel:|0x(?=[\da-f]+$)|v(?=\d))/i;
/** Letters before something that has none, and a unit after it. The first group is the rest. */
const LETTERED = /^[a-z]{1,5}[^a-z0-9@]*(\d[^a-z]*)$/i;
const MEASURED = /^([^a-z]*\d)[a-z]{1,3}$/i;

const PHONE = /^\+?[\d ()[\]/.–-]+$/;
const PHONE_DIGITS = { least: 7, most: 17 };
const NATIONAL_MIN = 5;
/** The trunk prefix of a number without its country code. */
const TRUNK = /^(?:0|[18](?=\d{10}$))/;
/** The country codes of the ITU: none is the start of another. */
const COUNTRY = /^(?:1|7|2[07]|3[0-469]|4[013-9]|5[1-8]|6[0-6]|8[1246]|9[0-58]|\d{3})/;

/** The ways to write an identifier. */
interface Forms {
  /** The strictest first. */
  readonly whole: readonly string[];
  /** The same without its prefix; empty if it has none. */
  readonly rest: readonly string[];
  /** It may also be written without its prefix: a phone number without its country, a number without its letters. */
  readonly isOpen: boolean;
}

/** The exact terms of a text. */
export function exactTerms(text: string): ReadonlySet<string> {
  const terms = new Set<string>();
  if (!MAY_IDENTIFY.test(text)) return terms;
  const folded = foldText(text);
  for (const run of runsIn(folded)) {
    for (const span of spansOf(folded, run)) {
      const { whole, rest } = formsOf(span);
      for (const form of whole) terms.add(termOf(span.isBehind ? BEHIND : WHOLE, form));
      for (const form of rest) terms.add(termOf(BEHIND, form));
      for (const form of pieceForms(span)) terms.add(termOf(WHOLE, form));
    }
    if (terms.size >= TERMS_MAX) break;
  }
  return terms;
}

/** The exact terms by which an identifier is looked up, the strictest first. */
export function exactTermsOf(span: TokenSpan): readonly string[] {
  const { whole, rest, isOpen } = formsOf(span);
  const local = !isOpen && phoneOf(span.text) ? rest.map((form) => `0${form}`) : [];
  const behind = isOpen ? [...whole, ...rest] : [];
  return [
    ...[...whole, ...rest, ...local].map((form) => termOf(WHOLE, form)),
    ...behind.map((form) => termOf(BEHIND, form)),
    ...pieceForms(span).map((form) => termOf(WHOLE, form)),
  ];
}

function formsOf({ text, isToken }: TokenSpan): Forms {
  const phone = phoneOf(text);
  if (phone?.country) return { whole: [phone.country + phone.national], rest: [phone.national], isOpen: false };
  const distinctive = distinctivePart(text);
  const whole = spellings(distinctive, isToken);
  if (phone) return { whole, rest: [phone.national], isOpen: true };
  const rest = isToken ? (LETTERED.exec(distinctive) ?? MEASURED.exec(distinctive))?.[1] : undefined;
  return { whole, rest: rest === undefined ? [] : spellings(rest, true), isOpen: rest === undefined };
}

/** An identifier without prefixes and trailing signs that do not distinguish it. */
export const distinctivePart = (text: string): string =>
  text.replace(/^\+/, "").replace(TRAILING, "").replace(NEUTRAL_PREFIX, "");

/** The form as written, if it is one token, and the solid form. */
function spellings(text: string, isToken: boolean): readonly string[] {
  const solid = foldCase(solidOf(text));
  const digits = digitsIn(solid);
  const written = foldCase(text).replaceAll("\\", "/").replace(NO_TERM, "~");
  const isDistinctive = written !== solid && (digits > 1 || NAMED.test(written));
  const forms = isToken && isDistinctive ? [written] : [];
  return digits > 0 && solid.length >= SOLID_MIN ? [...forms, solid] : forms;
}

/** The forms of identifiers within a token: sha256:9f86d081, 10.0.0.1:8080, Order:A-1043-77. */
function pieceForms({ text, isToken }: TokenSpan): readonly string[] {
  if (!isToken || ADDRESS.test(text) || !PIECES.test(text)) return [];
  return text.split(PIECES).flatMap((piece) => spellings(piece.replace(TRAILING, ""), true));
}

interface Phone {
  /** The country code; empty if there is none. */
  readonly country: string;
  readonly national: string;
}

/**
 * +49 (0)171 2345678, 0049 171 2345678, 0171/2345678, 1-415-555-0132; undefined if the text does not start in one of
 * these ways.
 */
function phoneOf(text: string): Phone | undefined {
  if (!PHONE.test(text)) return undefined;
  const digits = text.replace(/\D/g, "");
  if (digits.length < PHONE_DIGITS.least || digits.length > PHONE_DIGITS.most) return undefined;
  if (!text.startsWith("+") && !digits.startsWith("00"))
    return TRUNK.test(digits) ? { country: "", national: digits.replace(TRUNK, "") } : undefined;
  const full = digits.replace(/^00/, "");
  const country = COUNTRY.exec(full)?.[0] ?? "";
  const national = full.slice(country.length).replace(/^0/, "");
  return national.length >= NATIONAL_MIN ? { country, national } : undefined;
}

/** The term of a form. A form that is too long is replaced by its digest. */
function termOf(mark: string, form: string): string {
  if (mark.length + form.length <= TERM_UNITS_MAX) return own(mark + form);
  return mark + createHash("sha256").update(form).digest("hex").slice(0, DIGEST_UNITS);
}
