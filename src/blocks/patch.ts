/**
 * Applies a unified diff to a block.
 *
 * Every line that the diff keeps or removes must occur in the block exactly; there is no fuzz. Line numbers are hints:
 * a hunk whose lines are elsewhere is applied at the nearest match after the previous hunk. A hunk that only adds lines
 * is placed by its number alone.
 */
import { parsePatch, type StructuredPatchHunk } from "diff";
import { HoldfastError } from "../errors.js";
import { invalid, tooLarge } from "../input/refusal.js";

/** How many lines the hunks of one patch may be compared with while they are searched for: a tenth of a second. */
const SEARCHED_LINES_MAX = 10_000_000;

interface Hunk {
  /** The index of the line where it should apply. */
  readonly start: number;
  readonly old: readonly string[];
  readonly new: readonly string[];
  /** Whether the diff says that the text, before and after, has no newline at its end. If not, nothing follows. */
  readonly unended: { readonly old: boolean; readonly new: boolean };
}

const FORM_HINT =
  "a unified diff of one text has hunks like: @@ -1,2 +1,2 @@, then lines that start with -, + or a space";

/**
 * Refuses text that is not a diff of one text (`invalid_input`), and a diff that does not apply (`conflict`,
 * details.hunk).
 */
export function applyPatch(content: string, patch: string): string {
  // The diff of equal texts.
  if (patch === "") return content;
  // A diff may be made with another kind of line endings.
  if (hasOnlyCrlf(content) && !patch.includes("\r\n")) {
    return applyHunks(content.replaceAll("\r\n", "\n"), hunksOf(patch)).replaceAll("\n", "\r\n");
  }
  const sameEnds = hasOnlyCrlf(patch) && !content.includes("\r\n") ? patch.replaceAll("\r\n", "\n") : patch;
  return applyHunks(content, hunksOf(sameEnds));
}

function hasOnlyCrlf(text: string): boolean {
  return text.includes("\n") && !/(?<!\r)\n/.test(text);
}

function hunksOf(patch: string): readonly Hunk[] {
  const [file, ...others] = parse(patch).filter(({ hunks }) => hunks.length > 0);
  if (!file) throw invalid("patch", "has no hunks", FORM_HINT);
  if (others.length > 0) throw invalid("patch", "changes several texts", "give one patch for each block");
  return file.hunks.map(hunkOf);
}

function hunkOf({ oldStart, lines }: StructuredPatchHunk): Hunk {
  if (!Number.isSafeInteger(oldStart)) throw invalid("patch", "has a hunk without line numbers", FORM_HINT);
  const unended = { old: false, new: false };
  const hunk = { start: oldStart - 1, old: [] as string[], new: [] as string[], unended };
  let last = "";
  for (const line of lines) {
    const sign = line.charAt(0);
    if (sign === "\\") {
      // "\ No newline at end of file", for the line above.
      unended.old ||= last !== "+";
      unended.new ||= last !== "-";
      continue;
    }
    if (sign !== "+") hunk.old.push(line.slice(1));
    if (sign !== "-") hunk.new.push(line.slice(1));
    last = sign;
  }
  return hunk;
}

/** The package's own messages quote the text, so they are not passed on. */
function parse(patch: string): ReturnType<typeof parsePatch> {
  try {
    return parsePatch(patch);
  } catch {
    throw invalid("patch", "is not a well-formed unified diff", `check the counts in its @@ lines; ${FORM_HINT}`);
  }
}

function applyHunks(content: string, hunks: readonly Hunk[]): string {
  const lines = content.split("\n");
  const isEnded = lines.at(-1) === "";
  if (isEnded) lines.pop();
  const result: string[] = [];
  const search = new LineSearch(lines);
  let done = 0;
  let shift = 0;
  for (const [index, hunk] of hunks.entries()) {
    const at = search.placeOf(hunk, hunk.start + shift, done);
    if (at === undefined) throw conflict(index + 1);
    for (; done < at; done++) result.push(lines[done] ?? "");
    for (const line of hunk.new) result.push(line);
    done = at + hunk.old.length;
    shift = at - hunk.start;
  }
  const { unended } = hunks.at(-1) ?? { unended: { old: false, new: false } };
  if ((unended.old && isEnded) || ((unended.old || unended.new) && done < lines.length)) throw conflict(hunks.length);
  for (; done < lines.length; done++) result.push(lines[done] ?? "");
  const endsAfter = !unended.new && (isEnded || unended.old);
  return result.join("\n") + (endsAfter && result.length > 0 ? "\n" : "");
}

class LineSearch {
  readonly #lines: readonly string[];
  #searched = 0;

  constructor(lines: readonly string[]) {
    this.#lines = lines;
  }

  /** The position of a hunk's old lines that is nearest to `wanted`, at or after `from`. Throws `too_large`. */
  placeOf({ old }: Hunk, wanted: number, from: number): number | undefined {
    const lines = this.#lines;
    if (wanted >= from && wanted + old.length <= lines.length && old.every((line, i) => line === lines[wanted + i])) {
      return wanted;
    }
    return old.length === 0 ? undefined : this.#nearest(old, wanted, from);
  }

  /** Knuth-Morris-Pratt search, so that a text of equal lines does not take quadratic time. */
  #nearest(pattern: readonly string[], wanted: number, from: number): number | undefined {
    const borders = bordersOf(pattern);
    let best: number | undefined;
    let matched = 0;
    for (let index = from; index < this.#lines.length; index++) {
      if (++this.#searched > SEARCHED_LINES_MAX) throw tooFar();
      const line = this.#lines[index];
      while (matched > 0 && line !== pattern[matched]) matched = borders[matched - 1] ?? 0;
      if (line === pattern[matched]) matched++;
      if (matched < pattern.length) continue;
      const at = index + 1 - matched;
      if (best === undefined || Math.abs(at - wanted) < Math.abs(best - wanted)) best = at;
      if (at >= wanted) break; // what follows is farther away
      matched = borders[matched - 1] ?? 0;
    }
    return best;
  }
}

/** For each prefix of the pattern, the length of its longest proper prefix that is also a suffix. */
function bordersOf(pattern: readonly string[]): readonly number[] {
  const borders = [0];
  for (let index = 1, matched = 0; index < pattern.length; index++) {
    while (matched > 0 && pattern[index] !== pattern[matched]) matched = borders[matched - 1] ?? 0;
    if (pattern[index] === pattern[matched]) matched++;
    borders.push(matched);
  }
  return borders;
}

const tooFar = (): HoldfastError =>
  tooLarge("patch", `${SEARCHED_LINES_MAX} lines to search`, "make the patch from the block's current text");

function conflict(hunk: number): HoldfastError {
  return new HoldfastError("conflict", `hunk ${hunk} of the patch does not apply to the block's text`, {
    hint: "read the block again and make the patch from its current text",
    details: { field: "patch", hunk },
  });
}
