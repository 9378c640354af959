/**
 * Counts tokens of an OpenAI encoding on the caller's thread. Loading an encoding takes 90 to 210 ms and 40 to 70 MB,
 * and blocks; `TokenCounter` does it in a separate thread.
 *
 * An encoding first splits text into words (letters with a blank before them, punctuation, blanks), then merges the
 * bytes of each word into tokens. Merging is quadratic in the length of the word: 100,000 × "a" would take 9 seconds,
 * as many Chinese characters a minute. So a word of more than `WORD_MAX` characters is cut, and its pieces are counted
 * separately.
 * - A text whose words are all shorter is counted exactly. Even Chinese, which has no blanks, has punctuation.
 * - The count of a longer word is off by about one token per cut, that is, per 512 characters (measured: below 1 %).
 * - Special tokens such as <|endoftext|> are counted as ordinary text.
 */
import type { EncodingName } from "./models.js";

/** In UTF-16 units. At 512, merging costs at most twice as much as for short words; at 2,048, five times. */
export const WORD_MAX = 512;

const WITHOUT_SPECIAL_TOKENS = { disallowedSpecial: new Set<string>() };
/** A word lies within one run of non-blanks and the blanks around it, so without a long run there is no long word. */
const LONG_RUN = new RegExp(`\\S{${WORD_MAX / 2}}|\\s{${WORD_MAX / 2 - 1}}`);

/** The part of the package that is used. Its modules have the same form for every encoding. */
interface Vocabulary {
  countTokens(text: string, options: { readonly disallowedSpecial: Set<string> }): number;
  clearMergeCache(): void;
}

export class Encoding {
  readonly #vocabulary: Vocabulary;
  readonly #word: RegExp;

  private constructor(vocabulary: Vocabulary, word: RegExp) {
    this.#vocabulary = vocabulary;
    this.#word = word;
  }

  static async load(name: EncodingName): Promise<Encoding> {
    const words = await import("gpt-tokenizer/encodingParams/constants");
    if (name === "o200k_base") {
      return new Encoding(await import("gpt-tokenizer/encoding/o200k_base"), words.O200K_TOKEN_SPLIT_REGEX);
    }
    return new Encoding(await import("gpt-tokenizer/encoding/cl100k_base"), words.CL100K_TOKEN_SPLIT_REGEX);
  }

  count(texts: readonly string[]): number[] {
    const counts = texts.map((text) => (LONG_RUN.test(text) ? this.#countWords(text) : this.#countText(text)));
    // The package caches merged words as slices, which keep the original texts in memory.
    this.#vocabulary.clearMergeCache();
    return counts;
  }

  #countText(text: string): number {
    return this.#vocabulary.countTokens(text, WITHOUT_SPECIAL_TOKENS);
  }

  #countWords(text: string): number {
    let count = 0;
    for (const [word] of text.matchAll(this.#word)) {
      for (const piece of piecesOf(word)) count += this.#countText(piece);
    }
    return count;
  }
}

/** The word in pieces of at most `WORD_MAX`, without splitting a character. */
function piecesOf(word: string): readonly string[] {
  if (word.length <= WORD_MAX) return [word];
  const pieces: string[] = [];
  for (let from = 0; from < word.length; ) {
    let to = from + WORD_MAX;
    if (isLowSurrogate(word.charCodeAt(to))) to--;
    pieces.push(word.slice(from, to));
    from = to;
  }
  return pieces;
}

const isLowSurrogate = (unit: number): boolean => unit >= 0xdc00 && unit <= 0xdfff;
