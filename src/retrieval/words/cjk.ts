/**
 * Chinese, Japanese and Korean, indexed by characters: each character and each pair of adjacent characters is a term.
 * Pairs find words without a dictionary, which would have to segment messages and questions in the same way. Single
 * characters let a question of one character (猫, 집) match within longer runs, because terms are matched as a whole.
 * They are common, so their idf keeps their weight low when pairs match too. Korean has spaces: its words are terms as
 * well, and pairs find a noun before its particles.
 */
import { afterCharacter, classAt, HANGUL, MARK } from "./characters.js";
import { addTerm } from "./terms.js";

/** Counts the terms of the run of one script that starts at `start`, and returns where it ends. */
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
