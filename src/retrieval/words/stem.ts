/** English stems, by Porter's algorithm: walk, walks, walked and walking are one term. */
import { stemmer } from "stemmer";
import { IRREGULAR } from "./irregular.js";

/** Letters of ASCII only, and no more than English words have: the stemmer's expressions are not meant for long text. */
const ENGLISH = /^[a-z]{2,40}$/;

/** The stem of a folded word. A word with other letters than English ones is its own stem. */
export function stem(word: string): string {
  if (!ENGLISH.test(word)) return word;
  const base = IRREGULAR.get(word) ?? word;
  return IRREGULAR.get(base) === base ? base : stemmer(base);
}
