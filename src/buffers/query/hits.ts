/**
 * Hits: turns a ranking into an answer. A ranking holds references only; content is read here, as the last step.
 *
 * Callers with equal questions share one answer, so the answer is deeply frozen.
 */

import type { Presentation } from "../../input/question.js";
import { spaceKey } from "../../space-key.js";
import type { KeyedItem, ReadRequest, Store } from "../../stores/store.js";
import type { Explanation, Hit, Hits, Level, SpaceRef, Why } from "../../types.js";

/** The asking scope. It decides which hits are `in_session`. */
export interface AskingScope {
  readonly space: SpaceRef;
  readonly session?: string;
}

/** The fields of a ranked item that are copied into its hit. */
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
  /** Number of items that were changed or deleted after they were ranked. */
  readonly dropped: number;
}

export interface HitsRequest extends Omit<ReadRequest, "keys"> {
  readonly offset: number;
  readonly topK: number;
  readonly place: AskingScope;
  /** If present, each hit explains its score. */
  readonly explain?: Presentation["explain"];
}

/**
 * The best `topK` items from `offset` on that have not changed since they were ranked. Lower-ranked items replace the
 * changed ones.
 */
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

/**
 * The item without the store's private fields. The fields are copied by name: rest and spread take five times as long.
 */
function hitOf(item: KeyedItem, found: Found, { place, explain }: HitsRequest): Hit {
  const inSession =
    place.session !== undefined && item.session === place.session && spaceKey(item.space) === spaceKey(place.space);
  const hit: { [name: string]: unknown } = {};
  for (const [name, value] of Object.entries(item)) if (name !== "key" && name !== "until") hit[name] = value;
  hit["score"] = found.score;
  hit["level"] = found.level ?? "store";
  hit["scope"] = inSession ? "in_session" : "cross_session";
  if (explain && found.why) hit["why"] = found.why;
  return hit as unknown as Hit;
}

/** The properties of an answer other than its hits. */
export interface Remarks {
  readonly partial: boolean;
  readonly degraded?: string;
  readonly explanation?: Explanation;
}

/**
 * The answer: the hits of the page, in the requested order. Pages are always cut by score. `timestamp` sorts the best
 * `topK` from `offset` on by time, and `asc` reverses the page.
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

/** Freezes recursively. Input validation bounds the depth. */
function freeze<T extends object>(value: T): T {
  for (const part of Object.values(value)) if (typeof part === "object" && part !== null) freeze(part);
  return Object.freeze(value);
}
