/**
 * Folding: maps the many ways of writing a word to one. `foldText` removes what readers do not distinguish (width,
 * accents, invisible characters, kinds of apostrophe) but keeps case, which shows where identifiers are split.
 * `foldCase` then folds the case of a single word.
 *
 * Accents are removed, vowels are not: in Latin, Greek, Cyrillic, Hebrew and Arabic, marks are optional or often
 * omitted; in Indic scripts, Thai and kana they make a different word (कि is not की, は is not ば). So the removed marks
 * are listed explicitly.
 *
 * No regular expression in text analysis repeats a class of code points without a bound: under the `u` flag V8
 * remembers each repetition, and ten million of them overflow the stack.
 */

/**
 * Marks of Latin, Greek and Cyrillic; Hebrew points; Arabic vowel signs, and the tatweel that stretches a word. They
 * are escaped in a string because combining characters in a regular expression literal are easily misread.
 */
const ACCENTS =
  "\\u0300-\\u036F\\u0483-\\u0487\\u1AB0-\\u1AFF\\u1DC0-\\u1DFF\\u20D0-\\u20E2\\u20E4-\\u20F0\\uFE20-\\uFE2F" +
  "\\u0591-\\u05BD\\u05BF\\u05C1\\u05C2\\u05C4\\u05C5\\u05C7" +
  "\\u0610-\\u061A\\u0640\\u064B-\\u065F\\u0670\\u06D6-\\u06DC\\u06DF-\\u06E4\\u06E7\\u06E8\\u06EA-\\u06ED" +
  "\\u08CA-\\u08E1\\u08E3-\\u08FF";

/** Invisible characters (soft hyphen, joiners, direction marks, variation selectors) and the skin tones of emoji. */
const INVISIBLE =
  "\\u00AD\\u061C\\u180B-\\u180F\\u200C\\u200E\\u200F\\u202A-\\u202E\\u2060-\\u2064\\u2066-\\u206F\\uFE00-\\uFE0F" +
  "\\uFEFF\\u{E0100}-\\u{E01EF}\\u{1F3FB}-\\u{1F3FF}";

const DROPPED = new RegExp(`[${ACCENTS}${INVISIBLE}]`, "gu");

/**
 * More marks on one character than any language uses. ICU sorts marks by insertion, in quadratic time: without a limit,
 * one letter with enough marks would block the thread for seconds.
 */
const PILE = /\p{M}{17}/u;
const PILED = /(?<=\p{M}{16})\p{M}/gu;

/** The acute accent used as an apostrophe ("don´t"). NFKD would turn it into a space with an accent. */
const ACUTE = /[\u00B4\u1FFD]/g;

/**
 * Apostrophes, hyphens, the minus sign, the slash of ½ (1⁄2 in NFKD), and the decimal point and thousands separator of
 * Arabic numbers.
 */
const SIGNS = /[\u2018\u2019\u201B\u02B9-\u02BF\u05F3\uA78C\u2010\u2212\u05BE\u2044\u066B\u066C]/g;
const SIGNS_IN_ASCII: ReadonlyMap<string, string> = new Map([
  ["\u2010", "-"],
  ["\u2212", "-"],
  ["\u05BE", "-"],
  ["\u2044", "/"],
  ["\u066B", "."],
  ["\u066C", ","],
]);

const JOINER = "\u200D";
/** A zero-width joiner that is not between two emoji. */
const LOOSE_JOINERS = /(?<!\p{Extended_Pictographic})\u200D|\u200D(?!\p{Extended_Pictographic})/gu;

/** A range that contains the scripts which `foldScripts` handles, and many others. */
const FAR_SCRIPTS = /[\u0590-\u1FFF\uA620-\uABFF\u{10000}-\u{1EFFF}]/u;
/** The mark of Hebrew acronyms, usually typed as a double quote: צה״ל. */
const GERSHAYIM = /(?<=[\u05D0-\u05EA])["\u05F4](?=[\u05D0-\u05EA])/g;
const FAR_DIGITS = /(?![0-9])\p{Nd}/gu;
const DECIMAL = /\p{Nd}/u;
/** Thai and Lao AM. NFKD decomposes it, but the dictionaries of Intl.Segmenter contain it only composed. */
const THAI_AM = /\u0E4D([\u0E48-\u0E4B]?)\u0E32/g;
const LAO_AM = /\u0ECD([\u0EC8-\u0ECB]?)\u0EB2/g;

const NON_ASCII = /[\u0080-\uFFFF]/;

function isAscii(text: string): boolean {
  return !NON_ASCII.test(text);
}

/**
 * Folds everything but case. Guarantees the same result for every normalisation form of a text, and that a word between
 * two spaces is folded as if it stood alone. ASCII text is returned unchanged.
 */
export function foldText(text: string): string {
  if (isAscii(text)) return text;
  const bounded = PILE.test(text) ? text.replace(DROPPED, "").replace(PILED, "") : text;
  const bare = bounded.replace(ACUTE, "'").normalize("NFKD").replace(DROPPED, "");
  const joined = bare.includes(JOINER) ? bare.replace(LOOSE_JOINERS, "") : bare;
  const folded = joined.normalize("NFC").replace(SIGNS, (sign) => SIGNS_IN_ASCII.get(sign) ?? "'");
  return FAR_SCRIPTS.test(folded) ? foldScripts(folded) : folded;
}

function foldScripts(text: string): string {
  return text
    .replace(GERSHAYIM, "")
    .replace(FAR_DIGITS, asciiDigit)
    .replace(THAI_AM, "$1\u0E33")
    .replace(LAO_AM, "$1\u0EB3");
}

/** Unicode encodes the digits of a script in a row from zero to nine; a few scripts have two such rows, end to end. */
function asciiDigit(digit: string): string {
  const code = digit.codePointAt(0) ?? 0;
  let before = 0;
  while (DECIMAL.test(String.fromCodePoint(code - before - 1))) before++;
  return String(before % 10);
}

/** Letters that no normalisation form decomposes, and letters that keyboards encode differently. */
const LETTERS: ReadonlyMap<string, string> = new Map([
  ["ß", "ss"],
  ["æ", "ae"],
  ["œ", "oe"],
  ["ø", "o"],
  ["đ", "d"],
  ["ð", "d"],
  ["þ", "th"],
  ["ł", "l"],
  ["ħ", "h"],
  ["ı", "i"],
  ["ŧ", "t"],
  ["ŋ", "n"],
  ["ς", "σ"],
  ["\u0649", "\u064A"], // alef maksura: yeh
  ["\u06CC", "\u064A"], // Persian yeh: Arabic yeh
  ["\u06A9", "\u0643"], // Persian kaf: Arabic kaf
  ["\u0629", "\u0647"], // teh marbuta: heh
  ["\u0671", "\u0627"], // alef wasla: alef
]);
const FOLDED_LETTERS = new RegExp(`[${[...LETTERS.keys()].join("")}]`, "g");

/** Folds the case of a word of folded text. */
export function foldCase(word: string): string {
  const lower = word.toLowerCase();
  return isAscii(lower) ? lower : lower.replace(FOLDED_LETTERS, (letter) => LETTERS.get(letter) ?? letter);
}
