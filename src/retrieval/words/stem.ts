/** English stems, by Porter's algorithm: walk, walks, walked and walking are one term. */
import { stemmer } from "stemmer";
import { IRREGULAR } from "./irregular.js";

/**
 * ASCII letters only, and no longer than English words are: the stemmer's regular expressions are not made for long
 * text.
 */
const ENGLISH = /^[a-z]{2,40}$/;

/** The stem of a folded word. A word that is not made of ASCII letters is its own stem. */
export function stem(word: string): string {
  if (!ENGLISH.test(word)) return word;
  const base = IRREGULAR.get(word) ?? word;
  return IRREGULAR.get(base) === base ? base : stemmer(base);
}
