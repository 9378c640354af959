/** Lanes by the names that callers give, and back. */
import { type Lane, OUTBOX } from "../indexing.js";
import type { Leasable } from "./leases.js";
import type { Home, Mark } from "./marks.js";
import type { Registry } from "./registry.js";

/** The lane of that name; undefined if there is none (any more). */
export function findHome({ space: ref, session }: Lane, registry: Registry): Home | undefined {
  const space = registry.find(ref);
  return session === undefined ? space : space?.sessions.get(session);
}

export function findLeasable(lane: Lane | typeof OUTBOX, registry: Registry): Leasable | undefined {
  return lane === OUTBOX ? OUTBOX : findHome(lane, registry);
}

/** The lane in which an item is. */
export function laneOf({ space, home }: Mark): Lane {
  return { space: space.ref, ...(home !== space && { session: home.entry.name }) };
}
