/**
 * Words with an apostrophe. It is left out (don't: dont), as people leave it out. What follows it is a word of its own
 * where the apostrophe stands for an article or a particle (l'avion: avion, O'Brien: brien), and none where it shortens
 * an English word (they've, we'll).
 */

const ENDINGS: ReadonlySet<string> = new Set(["re", "ve", "ll", "em", "RE", "VE", "LL", "EM"]);
/** Fewer letters before the apostrophe are an article or a particle. */
const HEAD_UNITS_MIN = 4;

/** Where the word ends without its possessive s. */
export function possessorUnits(word: string): number {
  let end = word.length;
  while (end > 2 && word.charAt(end - 2) === "'" && (word.charAt(end - 1) === "s" || word.charAt(end - 1) === "S")) {
    end -= 2;
  }
  return end;
}

/** The words inside a word with apostrophes, besides the word as a whole. */
export function apostropheParts(word: string): readonly string[] {
  const first = word.indexOf("'");
  if (first === word.lastIndexOf("'") && isEnding(word.slice(first + 1))) return [];
  const parts = word
    .slice(first + 1)
    .split("'")
    .filter((part) => !isEnding(part));
  return parts.length > 0 && first >= HEAD_UNITS_MIN ? [word.slice(0, first), ...parts] : parts;
}

/** One letter is an ending (don't, I'm, she'd) or a filler (rock'n'roll). */
function isEnding(part: string): boolean {
  return part.length < 2 || ENDINGS.has(part);
}
