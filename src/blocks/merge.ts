/**
 * Three-way merge by lines: combines what two sides made of the same base.
 *
 * Edits of the two sides may neither overlap nor touch, unless they are equal: adjacent edits are most likely about the
 * same thing. The result never contains conflict markers: either both edits are applied, or there is no merge.
 */
import { type ArrayChange, diffArrays } from "diff";
import { DIFF_EDITS_MAX } from "./diff.js";

/** Replaces lines `start` to `end` (exclusive) of the base. */
interface LineEdit {
  readonly start: number;
  readonly end: number;
  readonly lines: readonly string[];
}

/** Undefined if the edits conflict, or are too many to compare. Symmetric in both sides. */
export function merge3(base: string, mine: string, theirs: string): string | undefined {
  if (mine === base || mine === theirs) return theirs;
  if (theirs === base) return mine;
  const lines = base.split("\n");
  const ours = editsOf(lines, mine.split("\n"));
  const others = editsOf(lines, theirs.split("\n"));
  const edits = ours && others && interleave(ours, others);
  return edits && withEdits(lines, edits).join("\n");
}

/** Compares only what lies between the first and the last line that differ: diffs of equal lines are ambiguous. */
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

/** Additions and removals between two kept lines are one edit. */
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

/** The edits of both sides in the order of the base; undefined if two of them conflict. */
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
