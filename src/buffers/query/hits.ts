/**
 * Hits: from what was ranked to what is answered. RAM and indexes give references; content is read here, at the end.
 *
 * Answers are shared by all who ask the same, so they are frozen down to the last object in them.
 */

import type { Presentation } from "../../input/question.js";
import type { KeyedItem, ReadRequest, Store } from "../../stores/store.js";
import type { Explanation, Hit, Hits, Level, Why } from "../../types.js";
import { spaceName } from "../lane-name.js";
import type { Place } from "./question-key.js";

/** What of a found item its hit is made of. */
export interface Found {
  readonly key: number;
  readonly version: number;
  readonly score: number;
  readonly level?: Level;
  readonly why?: Why;
}

export interface ReadHits {
  /** Best first. */
  readonly hits: readonly Hit[];
  /** How many on the way had changed or gone since they were found. */
  readonly dropped: number;
}

export interface HitsRequest extends Omit<ReadRequest, "keys"> {
  readonly offset: number;
  readonly topK: number;
  readonly place: Place;
  /** If given, hits say what their scores are made of. */
  readonly explain?: Presentation["explain"];
}

/** The best `topK` from `offset` on that are still as they were found; the places of others are filled from below. */
export async function readHits(store: Store, ranked: readonly Found[], request: HitsRequest): Promise<ReadHits> {
  const { spaces, filter, now, offset, topK } = request;
  const hits: Hit[] = [];
  let dropped = 0;
  for (let at = offset; at < ranked.length && hits.length < topK; ) {
    const slice = ranked.slice(at, at + topK - hits.length);
    const items = await store.read({ spaces, filter, now, keys: slice.map(({ key }) => key) });
    const byKey = new Map(items.map((item) => [item.key, item]));
    for (const found of slice) {
      const item = byKey.get(found.key);
      if (item?.version === found.version) hits.push(hitOf(item, found, request));
      else dropped++;
    }
    at += slice.length;
  }
  return { hits, dropped };
}

/** All that an item has, but for what is the store's alone. Copied by name: rest and spread take five times as long. */
function hitOf(item: KeyedItem, found: Found, { place, explain }: HitsRequest): Hit {
  const inSession =
    place.session !== undefined && item.session === place.session && spaceName(item.space) === spaceName(place.space);
  const hit: { [name: string]: unknown } = {};
  for (const [name, value] of Object.entries(item)) if (name !== "key" && name !== "until") hit[name] = value;
  hit["score"] = found.score;
  hit["level"] = found.level ?? "store";
  hit["scope"] = inSession ? "in_session" : "cross_session";
  if (explain && found.why) hit["why"] = found.why;
  return hit as unknown as Hit;
}

/** What an answer says beside its hits. */
export interface Remarks {
  readonly partial: boolean;
  readonly degraded?: string;
  readonly explanation?: Explanation;
}

/**
 * The answer: the hits of the page in the order asked for. Pages are cut by score, whatever they are sorted by:
 * `timestamp` shows the best `topK` from `offset` on by their time, and `asc` turns the page round.
 */
export function answer(
  hits: readonly Hit[],
  { sortBy, order }: Pick<Presentation, "sortBy" | "order">,
  { partial, degraded, explanation }: Remarks,
): Hits {
  const sorted = sortBy === "timestamp" ? [...hits].sort((a, b) => b.occurredAt - a.occurredAt) : [...hits];
  if (order === "asc") sorted.reverse();
  const said = { partial, ...(degraded !== undefined && { degraded }), ...(explanation && { explanation }) };
  return freeze(Object.assign(sorted, said));
}

/** Freezes an object with all that is in it. Nesting is bounded by what the input allows. */
function freeze<T extends object>(value: T): T {
  for (const part of Object.values(value)) if (typeof part === "object" && part !== null) freeze(part);
  return Object.freeze(value);
}
