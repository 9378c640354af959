/** Sets items aside that could not be embedded, and takes them up again. */
import type { IndexingDone, ParkWrite, ReplayWrite } from "../indexing.js";
import type { Attempt } from "./attempt.js";
import { findHome } from "./lanes.js";
import type { Marked, Parking } from "./marks.js";
import type { State } from "./state.js";

export function park({ owner, lane, fence, items }: ParkWrite, state: State, attempt: Attempt): IndexingDone {
  const { marks } = state;
  const home = findHome(lane, state.registry);
  if (!home || !state.leases.holds(home, owner, fence)) return { op: "park", parked: 0, fenced: true };
  let parked = 0;
  for (const item of items) {
    const found = marks.find(item.key);
    if (found?.mark.home !== home || found.row.version !== item.version || found.mark.embedding) continue;
    const { error, retryAt } = item;
    const parking = { error, parkedAt: attempt.now, ...(retryAt !== undefined && { retryAt }) };
    marks.put(item.key, { ...found.mark, parking, attempts: found.mark.attempts + 1 }, attempt);
    parked++;
  }
  return { op: "park", parked, fenced: false };
}

/** What is due keeps its count of attempts, so that it waits longer each time; what someone asks for starts anew. */
export function replay({ which }: ReplayWrite, state: State, attempt: Attempt, itemsMax: number): IndexingDone {
  const { marks } = state;
  const found = marks.parked().filter((item) => isMeant(item, which, state, attempt.now));
  const slice = found.slice(0, itemsMax);
  for (const { key, mark } of slice) {
    const { space, home, id, attempts } = mark;
    marks.put(key, { space, home, id, attempts: "due" in which ? attempts : 0 }, attempt);
    attempt.touched.add(space);
  }
  return { op: "replay", replayed: slice.length, remaining: found.length > slice.length };
}

function isMeant({ mark }: Marked, which: ReplayWrite["which"], { registry }: State, now: number): boolean {
  if ("due" in which) return mark.parking !== undefined && isDue(mark.parking, now);
  return mark.space === registry.find(which.space) && (which.ids === undefined || which.ids.includes(mark.id));
}

/** A parking in the future of this clock was written by a clock that ran ahead: its retry may be far off. */
function isDue({ retryAt, parkedAt }: Parking, now: number): boolean {
  return retryAt !== undefined && (retryAt <= now || parkedAt > now);
}
