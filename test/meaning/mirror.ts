/**
 * Search by meaning without a model: a word and its mirror image have the same vector. A question in mirrored words
 * shares no word with the text that answers it, so every hit was found by meaning alone.
 */
import { HashEmbedder, type HashEmbedderOptions } from "holdfast/testing";

export class MirrorEmbedder extends HashEmbedder {
  /** Every text it was given, as it was given. */
  readonly given: string[] = [];

  constructor(options: HashEmbedderOptions = {}) {
    super({ dimensions: 512, ...options });
  }

  override embed(...[texts, options]: Parameters<HashEmbedder["embed"]>): ReturnType<HashEmbedder["embed"]> {
    this.given.push(...texts);
    return super.embed(texts.map(meaningOf), options);
  }
}

const reversed = (word: string): string => [...word].reverse().join("");

const meaningOf = (text: string): string =>
  text.replace(/[\p{L}\p{N}]+/gu, (word) => {
    const plain = word.toLowerCase();
    return String([plain, reversed(plain)].sort()[0]);
  });

/** The same question in other words. */
export const mirrored = (text: string): string => text.split(" ").map(reversed).join(" ");
