/**
 * The unified diff of two versions of a block. `applyPatch` applied to the first text and the diff gives the second
 * text, for any two texts.
 */
import { formatPatch, OMIT_HEADERS, type StructuredPatch, structuredPatch } from "diff";

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
const CONTEXT_LINES = 3;

/** Empty if the texts are equal. */
export function unifiedDiff(before: string, after: string, { name, from, to }: DiffLabels): string {
  if (before === after) return "";
  const options = { context: CONTEXT_LINES, maxEditLength: DIFF_EDITS_MAX };
  const patch = structuredPatch("", "", before, after, "", "", options) ?? wholeText(before, after);
  return `--- ${label(name, from)}\n+++ ${label(name, to)}\n${formatPatch(patch, OMIT_HEADERS)}`;
}

/** Removes all lines and adds all lines. */
function wholeText(before: string, after: string): StructuredPatch {
  const [removed] = structuredPatch("", "", before, "").hunks;
  const [added] = structuredPatch("", "", "", after).hunks;
  const hunk = {
    oldStart: 1,
    oldLines: removed?.oldLines ?? 0,
    newStart: 1,
    newLines: added?.newLines ?? 0,
    lines: [...(removed?.lines ?? []), ...(added?.lines ?? [])],
  };
  return { oldFileName: "", newFileName: "", oldHeader: "", newHeader: "", hunks: [hunk] };
}

/** Writes the name as it is, unless it contains control characters. */
function label(name: string, version: number): string {
  return `${/\p{Cc}/u.test(name) ? JSON.stringify(name) : name} (version ${version})`;
}
