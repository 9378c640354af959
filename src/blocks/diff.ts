/**
 * The unified diff of two versions of a block. `applyPatch` applied to the first text and the diff gives the second
 * text, for any two texts.
 */
import { formatPatch, OMIT_HEADERS, type StructuredPatch, structuredPatch } from "diff";
import { countLines } from "../text.js";

export interface DiffLabels {
  /** The block's name. */
  readonly name: string;
  /** The versions compared. */
  readonly from: number;
  readonly to: number;
}

/**
 * Texts that differ in more lines than this are not compared further: time is quadratic (0.1 s for this many,
 * measured), and such a diff is no more useful than the two texts.
 */
export const DIFF_EDITS_MAX = 1_000;
/** Texts that together have more lines than this are not compared at all, at some 6 µs per line. */
export const DIFF_LINES_MAX = 50_000;
const CONTEXT_LINES = 3;

/** Empty if the texts are equal. */
export function unifiedDiff(before: string, after: string, { name, from, to }: DiffLabels): string {
  if (before === after) return "";
  const options = { context: CONTEXT_LINES, maxEditLength: DIFF_EDITS_MAX };
  const isShort = countLines(before) + countLines(after) <= DIFF_LINES_MAX;
  const compared = isShort ? structuredPatch("", "", before, after, "", "", options) : undefined;
  const patch = compared ?? wholeText(before, after);
  return `--- ${label(name, from)}\n+++ ${label(name, to)}\n${formatPatch(patch, OMIT_HEADERS)}`;
}

/** Removes all lines and adds all lines. */
function wholeText(before: string, after: string): StructuredPatch {
  const [removed, added] = [linesOf(before), linesOf(after)];
  const hunk = {
    oldStart: 1,
    oldLines: removed.lines.length,
    newStart: 1,
    newLines: added.lines.length,
    lines: [...signed("-", removed), ...signed("+", added)],
  };
  return { oldFileName: "", newFileName: "", oldHeader: "", newHeader: "", hunks: [hunk] };
}

interface Lines {
  readonly lines: readonly string[];
  /** Whether the last line has a newline. */
  readonly isEnded: boolean;
}

function linesOf(text: string): Lines {
  const lines = text.split("\n");
  const isEnded = lines.at(-1) === "";
  return { lines: isEnded ? lines.slice(0, -1) : lines, isEnded };
}

const signed = (sign: string, { lines, isEnded }: Lines): readonly string[] =>
  lines.map((line) => sign + line).concat(isEnded ? [] : ["\\ No newline at end of file"]);

/** Writes the name as it is, unless it contains control characters. */
function label(name: string, version: number): string {
  return `${/\p{Cc}/u.test(name) ? JSON.stringify(name) : name} (version ${version})`;
}
