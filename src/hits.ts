/** Hits: from what was found to what is answered. RAM and indexes give references; content is read here, at the end. */
import { spaceName } from "./buffers/lane-name.js";
import type { Meaning, MeaningHit } from "./buffers/meaning.js";
import { HoldfastError } from "./errors.js";
import type { ParsedQuery } from "./input/query.js";
import type { ParsedScope } from "./input/scope.js";
import type { KeyedItem, RowFilter, Scored, Store } from "./stores/store.js";
import type { Hit, Hits, SpaceRef } from "./types.js";

/** Found by words, or by meaning. */
export type Found = Scored | MeaningHit;

export interface HitsRequest {
  readonly spaces: readonly SpaceRef[];
  readonly filter: RowFilter;
  readonly now: number;
}

/** The best `count` of what was found that is still as it was found, and how many were not. */
export async function readHits(
  store: Store,
  ranked: readonly Found[],
  request: HitsRequest,
  count: number,
  place: ParsedScope,
): Promise<{ readonly hits: readonly Hit[]; readonly dropped: number }> {
  const hits: Hit[] = [];
  let dropped = 0;
  for (let at = 0; at < ranked.length && hits.length < count; at += count) {
    const slice = ranked.slice(at, at + count);
    const items = await store.read({ ...request, keys: slice.map(({ key }) => key) });
    const byKey = new Map(items.map((item) => [item.key, item]));
    for (const found of slice) {
      const item = byKey.get(found.key);
      if (item?.version === found.version) hits.push(hitOf(item, found, place));
      else dropped++;
    }
  }
  return { hits: hits.slice(0, count), dropped };
}

function hitOf({ key: _key, ...item }: KeyedItem, found: Found, place: ParsedScope): Hit {
  const inSession =
    place.session !== undefined && item.session === place.session && spaceName(item.space) === spaceName(place.space);
  const level = "level" in found ? found.level : "store";
  return { ...item, score: found.score, level, scope: inSession ? "in_session" : "cross_session" };
}

/** The hits that score best, in the order asked for; frozen, because answers are shared. */
export function answer(hits: readonly Hit[], { sortBy, order }: ParsedQuery, { partial, degraded }: Meaning): Hits {
  const sorted = sortBy === "timestamp" ? [...hits].sort((a, b) => b.occurredAt - a.occurredAt) : [...hits];
  if (order === "asc") sorted.reverse();
  const said = { partial, ...(degraded !== undefined && { degraded }) };
  return Object.freeze(Object.assign(sorted.map(Object.freeze) as Hit[], said));
}

/** The filter of a question, with what `within` adds to it. */
export function narrow({ filter, within }: ParsedQuery, { session, agent }: ParsedScope): ParsedQuery["filter"] {
  if (within === "space") return filter;
  const own = within === "session" ? session : agent;
  if (own === undefined) {
    throw new HoldfastError("invalid_input", `within "${within}" needs a ${within} in the scope`, {
      hint: `name the ${within} when you make the session object`,
    });
  }
  return within === "session" ? { ...filter, sessions: [own] } : { ...filter, agents: [own] };
}
