/** Counts the items that wait to be embedded, in one scope or in the whole memory. */
import type { ParsedScope } from "../input/scope.js";
import type { RowFilter, Store } from "../stores/store.js";
import type { Page } from "../types.js";

export interface WaitingCounts {
  /** Items that are not embedded yet, excluding parked ones. */
  readonly pending: number;
  readonly parked: number;
}

const PAGE = 1_000;

/** Counts one session, the whole space if the scope names no session, or everything if there is no scope. */
export async function waitingIn(store: Store, place: ParsedScope | undefined, now: number): Promise<WaitingCounts> {
  if (!place) {
    const { pending, parked } = await store.indexingStats();
    return { pending, parked };
  }
  const { space, session } = place;
  const filter: RowFilter = { pending: true, ...(session !== undefined && { sessions: [session] }) };
  const request = { spaces: [space], limit: PAGE, now };
  const order = { sortBy: "arrival", order: "asc" } as const;
  const all = await count((cursor) => store.list({ ...request, ...order, filter, ...cursor }));
  const isOurs = (item: { readonly session?: string }): boolean => session === undefined || item.session === session;
  const parked = await count((cursor) => store.parked({ ...request, ...cursor }), isOurs);
  return { pending: Math.max(0, all - parked), parked };
}

async function count<T>(
  read: (cursor: { readonly cursor?: string }) => Promise<Page<T>>,
  isCounted: (item: T) => boolean = () => true,
): Promise<number> {
  let sum = 0;
  for (let cursor: string | undefined, isFirst = true; isFirst || cursor !== undefined; isFirst = false) {
    const { items, next } = await read(cursor === undefined ? {} : { cursor });
    sum += items.filter(isCounted).length;
    cursor = next;
  }
  return sum;
}
