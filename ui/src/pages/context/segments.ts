/**
 * Splits a prompt into the pieces that it was assembled from. In the text, a line that starts with "[" is a heading; text
 * from memory is quoted with "> ", so it can never look like one.
 */
import type { Context } from "holdfast/client";
import type { Part } from "./options.js";

export interface Segment {
  readonly text: string;
  /** Undefined: words of the frame around the pieces. */
  readonly part?: Part;
  readonly id?: string;
  readonly tokens?: number;
  readonly cut?: boolean;
  /** The model has seen an earlier text of this item. */
  readonly isChanged?: boolean;
}

export function prefixSegments({ prefix }: Context): readonly Segment[] {
  if (prefix === "") return [];
  const pieces = prefix.split(/\n(?=\[)/);
  return pieces.map((text) => {
    const kind = /^\[(block|fact)\b/.exec(text)?.[1];
    return { text, ...(kind !== undefined && { part: kind === "fact" ? "facts" : "blocks" }) };
  });
}

export function tailSegments({ tail, added, changed }: Context): readonly Segment[] {
  const items = [
    ...added.map((item) => ({ ...item, isChanged: false })),
    ...changed.map((item) => ({ ...item, isChanged: true })),
  ];
  const taken = new Set<number>();
  const placed = items
    .toSorted((one, other) => other.text.length - one.text.length) // a short text may be the beginning of a long one
    .map((item) => ({ ...item, at: placeOf(item.text, tail, taken) }))
    .filter(({ at }) => at >= 0)
    .toSorted((one, other) => one.at - other.at);
  const segments: Segment[] = [];
  let end = 0;
  for (const { at, text, part, id, tokens, cut, isChanged } of placed) {
    if (at < end) continue;
    frame(segments, tail.slice(end, at));
    segments.push({ text, part, id, tokens, cut, isChanged });
    end = at + text.length;
  }
  frame(segments, tail.slice(end));
  return segments;
}

/** Where these whole lines begin, unless an item with the same text begins there. */
function placeOf(text: string, tail: string, taken: Set<number>): number {
  const isEdge = (at: number): boolean => at < 0 || at >= tail.length || tail[at] === "\n";
  let at = tail.indexOf(text);
  while (at >= 0 && !(isEdge(at - 1) && isEdge(at + text.length) && !taken.has(at))) at = tail.indexOf(text, at + 1);
  taken.add(at);
  return at;
}

/** Neighbours of the same part together. Words of the frame stand alone. */
export function runsOf(segments: readonly Segment[]): readonly (readonly Segment[])[] {
  const runs: Segment[][] = [];
  for (const segment of segments) {
    const run = runs.at(-1);
    if (run && segment.part !== undefined && run[0]?.part === segment.part) run.push(segment);
    else runs.push([segment]);
  }
  return runs;
}

function frame(segments: Segment[], text: string): void {
  const shown = text.replace(/^\n+|\n+$/g, "");
  if (shown !== "") segments.push({ text: shown });
}

/** The tokens of each part of the tail. Counts of parts need not add up to the whole. */
export function tokensByPart({ added, changed }: Context): ReadonlyMap<Part, number> {
  const sums = new Map<Part, number>();
  for (const { part, tokens } of [...added, ...changed]) sums.set(part, (sums.get(part) ?? 0) + tokens);
  return sums;
}
