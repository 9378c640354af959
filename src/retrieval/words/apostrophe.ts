/**
 * Words with an apostrophe. The apostrophe is dropped (don't: dont), because people often omit it. What follows it is a
 * word of its own if the apostrophe belongs to an article or a particle (l'avion: avion, O'Brien: brien), and not if it
 * shortens an English word (they've, we'll).
 */

const ENDINGS: ReadonlySet<string> = new Set(["re", "ve", "ll", "em", "RE", "VE", "LL", "EM"]);
/** With fewer letters before the apostrophe, these are an article or a particle. */
const HEAD_UNITS_MIN = 4;

/** The length of the word without its possessive s. */
export function possessorUnits(word: string): number {
  let end = word.length;
  while (end > 2 && word.charAt(end - 2) === "'" && (word.charAt(end - 1) === "s" || word.charAt(end - 1) === "S")) {
    end -= 2;
  }
  return end;
}

/** The words inside a word with apostrophes, without the word as a whole. */
export function apostropheParts(word: string): readonly string[] {
  const first = word.indexOf("'");
  if (first === word.lastIndexOf("'") && isEnding(word.slice(first + 1))) return [];
  const parts = word
    .slice(first + 1)
    .split("'")
    .filter((part) => !isEnding(part));
  return parts.length > 0 && first >= HEAD_UNITS_MIN ? [word.slice(0, first), ...parts] : parts;
}

/** A single letter is an ending (don't, I'm, she'd) or a filler (rock'n'roll). */
function isEnding(part: string): boolean {
  return part.length < 2 || ENDINGS.has(part);
}
