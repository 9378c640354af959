/**
 * Finds how much of a text fits a budget of tokens, from its start, in whole graphemes.
 *
 * With `chars4` the head is the longest that fits. With a model's counter it fits, and one more grapheme does not; a
 * still longer head might, because a character that completes a word can merge two tokens. Then the cut moves back to
 * the end of a line, or else of a sentence, if there is one in the last tenth of the head.
 */
import { afterGraphemes, graphemeEnd, graphemeStart, isSureStart } from "../graphemes.js";
import { tokensAtMost } from "./bound.js";
import { CHARS4, GRAPHEMES_PER_TOKEN } from "./chars4.js";
import type { Counter } from "./counters.js";

/** The maximal length of a token of the encodings. */
export const TOKEN_UNITS_MAX = 128;
/** The first guess of a head's length, and the factor between guesses. */
const UNITS_PER_TOKEN = 4;
const GROWTH = 4;
/** One call counts one head fewer than this; the counter merges the words they share only once. */
const PARTS = 8;
/** How far back a cut may move: the last tenth of the head. */
const TENTH = 10;

/** After the closing quotes and brackets of a sentence. Chinese and Japanese have no space between sentences. */
const SENTENCE_END = /(?<=[.!?…]["'”’»)\]]{0,3})(?=\s)|(?<=[。！？][」』”’）]{0,3})(?![。！？」』”’）])/g;

/**
 * The end of the head: the text's length if all of it fits, 0 if not even the first grapheme fits, which happens only
 * with a model's counter or without a budget.
 */
export async function headThatFits(text: string, maxTokens: number, counter: Counter): Promise<number> {
  const end = await longestHead(text, maxTokens, counter);
  if (end === text.length) return end;
  const nicer = [lineEnd(text, end), sentenceEnd(text, end)].filter((at) => at !== undefined);
  return (await fitting(text, nicer, maxTokens, counter))[0] ?? end;
}

async function longestHead(text: string, maxTokens: number, counter: Counter): Promise<number> {
  if (counter.name === CHARS4) return afterGraphemes(text, maxTokens * GRAPHEMES_PER_TOKEN);
  if (await fitsWhole(text, maxTokens, counter)) return text.length;
  let { fits, fails } = await firstBounds(text, maxTokens, counter);
  for (;;) {
    const ends = endsBetween(text, fits, fails);
    if (ends.length === 0) return fits;
    const last = (await fitting(text, ends, maxTokens, counter)).at(-1);
    fails = ends[last === undefined ? 0 : ends.indexOf(last) + 1] ?? fails;
    fits = last ?? fits;
  }
}

/** Counts only if the length alone is inconclusive. */
async function fitsWhole(text: string, maxTokens: number, counter: Counter): Promise<boolean> {
  if (tokensAtMost(text) <= maxTokens) return true;
  if (text.length > maxTokens * TOKEN_UNITS_MAX) return false;
  return (await fitting(text, [text.length], maxTokens, counter)).length > 0;
}

/** A head that fits and a longer one that does not, found without counting much more than the budget. */
async function firstBounds(
  text: string,
  maxTokens: number,
  counter: Counter,
): Promise<{ fits: number; fails: number }> {
  let fits = 0;
  for (let units = Math.max(1, maxTokens) * UNITS_PER_TOKEN; units < text.length; units *= GROWTH) {
    const end = graphemeStart(text, fits, units);
    if ((await fitting(text, [end], maxTokens, counter)).length === 0) return { fits, fails: end };
    fits = end;
  }
  return { fits, fails: text.length };
}

/** The heads that fit, by their ends. */
async function fitting(
  text: string,
  ends: readonly number[],
  maxTokens: number,
  counter: Counter,
): Promise<readonly number[]> {
  if (ends.length === 0) return [];
  const counts = await counter.count(ends.map((end) => text.slice(0, end)));
  return ends.filter((_, index) => (counts[index] ?? Number.POSITIVE_INFINITY) <= maxTokens);
}

/** Grapheme boundaries between two others, about evenly spread; empty only if there are none. */
function endsBetween(text: string, low: number, high: number): readonly number[] {
  const ends: number[] = [];
  let known = low;
  for (let part = 1; part < PARTS; part++) {
    const end = graphemeStart(text, known, low + Math.floor(((high - low) * part) / PARTS));
    if (end > known) ends.push(end);
    known = end;
  }
  if (ends.length > 0) return ends;
  const next = graphemeEnd(text, low);
  return next < high ? [next] : [];
}

/** The last line end in the last tenth of a head, or the head's own end if a line break follows. */
function lineEnd(text: string, end: number): number | undefined {
  if (/^\r?\n/.test(text.slice(end, end + 2))) return end;
  const at = text.lastIndexOf("\n", end - 1) + 1;
  return at > 0 && at >= lastTenth(end) ? at : undefined;
}

function sentenceEnd(text: string, end: number): number | undefined {
  const from = lastTenth(end);
  // The text before the tenth and after the head decides about its first and last position.
  const around = Math.max(0, from - TENTH);
  const ends = [...text.slice(around, end + 1).matchAll(SENTENCE_END)].map(({ index }) => around + index);
  return ends.findLast((at) => at > 0 && at >= from && at <= end && isSureStart(text, at));
}

function lastTenth(end: number): number {
  return end - Math.floor(end / TENTH);
}
