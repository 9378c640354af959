/**
 * Chinese, Japanese and Korean, read by characters: each character and each pair of neighbours is a term. Pairs find
 * words wherever they stand without a dictionary that would have to agree with itself on a message and on a question.
 * The single characters are there so that a question of one character (猫, 집) finds it inside longer runs: terms are
 * matched whole, so what is not indexed cannot be found. They are common, so their idf keeps them from mattering when
 * pairs match too. Korean has spaces; its words are terms as well, and pairs find the noun before its particles.
 */
import { afterCharacter, classAt, HANGUL, MARK } from "./characters.js";
import { addTerm } from "./terms.js";

/** Counts the run of one script that starts at `start`, and says where it ends. */
export function readCjk(text: string, start: number, counts: Map<string, number>): number {
  const script = classAt(text, start);
  let characters = 0;
  let previous = start;
  let at = start;
  while (classAt(text, at) === script) {
    let end = afterCharacter(text, at);
    while (classAt(text, end) === MARK) end++;
    addTerm(counts, text.slice(at, end));
    if (characters > 0) addTerm(counts, text.slice(previous, end));
    characters++;
    previous = at;
    at = end;
  }
  if (script === HANGUL && characters > 2) addTerm(counts, text.slice(start, at));
  return at;
}
