/**
 * Names in a question. `namesIn` lists candidates, of which the store selects those that are speakers; `speakerIn`
 * finds the one speaker whom the question names. Names match case-sensitively, unless the question contains no capital
 * letter.
 */

import { isStopWord } from "../words/stop.js";

/** Names occur at the beginning; a longer text is not a question. */
const READ_CHARACTERS = 1_000;
const NAMES_MAX = 40;
const WORDS_MAX = 3;

/** Scripts that put no spaces between words. */
const UNSPACED =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u;
/** A word, with the apostrophes and hyphens inside it. */
const WORD = /[\p{L}\p{M}\p{N}]+(?:['’.-][\p{L}\p{M}\p{N}]+)*/gu;
const POSSESSIVE = /['’]s$/i;
/** Names that are verbs in lower case. */
const SMALL_VERBS = new Set(["will", "may", "mark"]);

interface Word {
  readonly start: number;
  readonly end: number;
}

/** Runs of one to three words that may be names, without the possessive; at most 40. */
export function namesIn(text: string): readonly string[] {
  const read = text.slice(0, READ_CHARACTERS);
  const words = UNSPACED.test(read) ? segments(read) : wordsOf(read);
  const mayName = /\p{Lu}/u.test(read) ? (word: string) => !/^\p{Ll}/u.test(word) : () => true;
  const names = new Set<string>();
  for (let count = 1; count <= WORDS_MAX; count++) {
    for (let at = 0; at + count <= words.length; at++) {
      const [first, last] = [words[at], words[at + count - 1]];
      if (!first || !last) continue;
      const run = read.slice(first.start, last.end);
      if (!isRun(words.slice(at, at + count), read)) continue;
      if (!mayName(run) || !mayName(read.slice(last.start, last.end))) continue;
      if (run.split(" ").every(isNoName)) continue;
      names.add(run.replace(POSSESSIVE, ""));
      if (names.size === NAMES_MAX) return [...names];
    }
  }
  return [...names];
}

/** "What", "I": a word that is never a name. */
const isNoName = (word: string): boolean => isStopWord(word) && !SMALL_VERBS.has(word.toLowerCase());

/** The speaker whom the text names; undefined if it names none or several. */
export function speakerIn(text: string, speakers: readonly string[]): string | undefined {
  const read = text.slice(0, READ_CHARACTERS);
  const places = speakers.flatMap((speaker) => placesOf(speaker, read).map((place) => ({ speaker, ...place })));
  const named = new Set<string>();
  for (const { speaker, start, end } of places) {
    const isPart = places.some(
      (other) => other.end - other.start > end - start && other.start <= start && other.end >= end,
    );
    if (!isPart) named.add(speaker);
  }
  const [one] = named;
  return named.size === 1 ? one : undefined;
}

/** Where a name occurs as a whole word, possessive included. */
export function placesOf(name: string, text: string): readonly Word[] {
  if (name.trim() === "") return [];
  const isSmall = !/\p{Lu}/u.test(text) && /\p{Ll}/u.test(text);
  if (isSmall && SMALL_VERBS.has(name.toLowerCase())) return [];
  const literal = name.replace(/[\\^$.*+?()[\]{}|/-]/g, "\\$&").replace(/['’]/g, "['’]");
  const whole = UNSPACED.test(name)
    ? literal
    : `(?<![\\p{L}\\p{M}\\p{N}])${literal}(?:['’]s|(?<=s)['’])?(?![\\p{L}\\p{M}\\p{N}])`;
  const matches = text.matchAll(new RegExp(whole, isSmall ? "giu" : "gu"));
  return [...matches].map((match) => ({ start: match.index, end: match.index + match[0].length }));
}

function wordsOf(text: string): Word[] {
  return [...text.matchAll(WORD)].map((match) => ({ start: match.index, end: match.index + match[0].length }));
}

let segmenter: Intl.Segmenter | undefined;

function segments(text: string): Word[] {
  segmenter ??= new Intl.Segmenter(undefined, { granularity: "word" });
  const words: Word[] = [];
  for (const { segment, index, isWordLike } of segmenter.segment(text)) {
    if (isWordLike) words.push({ start: index, end: index + segment.length });
  }
  return words;
}

/** Whether the words are separated only by a space, the dot of an initial, or nothing. */
function isRun(words: readonly Word[], text: string): boolean {
  return words.every((word, at) => at === 0 || /^\.? ?$/.test(text.slice(words[at - 1]?.end, word.start)));
}
