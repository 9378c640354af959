/**
 * Three-way merge by lines: what both sides made of the same base, in one text.
 *
 * Edits of the two sides may not overlap nor touch, unless they are the same: two edits side by side are most likely about
 * the same thing. There is no result with marks in it: either both wishes are met, or there is no merge.
 */
import { type ArrayChange, diffArrays } from "diff";
import { DIFF_EDITS_MAX } from "./diff.js";

/** Lines `start` to `end` (not included) of the base become these. */
interface LineEdit {
  readonly start: number;
  readonly end: number;
  readonly lines: readonly string[];
}

/** Undefined if the edits are at odds, or too many to compare. The sides can be exchanged. */
export function merge3(base: string, mine: string, theirs: string): string | undefined {
  if (mine === base || mine === theirs) return theirs;
  if (theirs === base) return mine;
  const lines = base.split("\n");
  const ours = editsOf(lines, mine.split("\n"));
  const others = editsOf(lines, theirs.split("\n"));
  const edits = ours && others && interleave(ours, others);
  return edits && withEdits(lines, edits).join("\n");
}

/** Compares only what lies between the first and the last line that differ: among equal lines there are many answers. */
function editsOf(base: readonly string[], side: readonly string[]): LineEdit[] | undefined {
  const shorter = Math.min(base.length, side.length);
  let head = 0;
  while (head < shorter && base[head] === side[head]) head++;
  let tail = 0;
  while (tail < shorter - head && base.at(-1 - tail) === side.at(-1 - tail)) tail++;
  const changes = diffArrays(base.slice(head, base.length - tail), side.slice(head, side.length - tail), {
    maxEditLength: DIFF_EDITS_MAX,
  });
  return changes && gathered(changes, head);
}

/** What is added and removed between two lines that stay is one edit. */
function gathered(changes: readonly ArrayChange<string>[], from: number): LineEdit[] {
  const edits: { start: number; end: number; lines: string[] }[] = [];
  let at = from;
  for (const { added, removed, value } of changes) {
    if (added || removed) {
      const last = edits.at(-1);
      const edit = last?.end === at ? last : { start: at, end: at, lines: [] };
      if (edit !== last) edits.push(edit);
      if (added) edit.lines.push(...value);
      else edit.end += value.length;
    }
    if (!added) at += value.length;
  }
  return edits;
}

/** The edits of both sides in the order of the base; undefined if two of them are at odds. */
function interleave(ours: readonly LineEdit[], others: readonly LineEdit[]): LineEdit[] | undefined {
  const edits = [...ours, ...others].sort((a, b) => a.start - b.start);
  const merged: LineEdit[] = [];
  for (const edit of edits) {
    const last = merged.at(-1);
    if (!last || last.end < edit.start) merged.push(edit);
    else if (!isSame(last, edit)) return undefined;
  }
  return merged;
}

function isSame(a: LineEdit, b: LineEdit): boolean {
  return (
    a.start === b.start &&
    a.end === b.end &&
    a.lines.length === b.lines.length &&
    a.lines.every((line, index) => line === b.lines[index])
  );
}

function withEdits(base: readonly string[], edits: readonly LineEdit[]): string[] {
  let at = 0;
  const kept = edits.map(({ start, end, lines }) => {
    const part = base.slice(at, start).concat(lines);
    at = end;
    return part;
  });
  return kept.concat([base.slice(at)]).flat();
}
