/** Reads what waits to be embedded. Costs what waits, not what is stored; only neighbours are looked for in the space. */
import type { Neighbour, PendingItem, PendingRequest, Tail, TailRequest, WaitingLane } from "../indexing.js";
import { passes } from "./filter.js";
import { findHome, laneOf } from "./lanes.js";
import type { Home, Marked } from "./marks.js";
import { isVisible, type Row } from "./row.js";
import type { Space } from "./space.js";
import type { State } from "./state.js";

export function waitingLanes(state: State, owner: string, limit: number, now: number): readonly WaitingLane[] {
  const lanes: WaitingLane[] = [];
  for (const home of state.marks.waitingHomes()) {
    const items = visibleIn(home, state, now);
    const newest = items.at(-1);
    if (!newest) continue;
    const holder = state.leases.holder(home, owner);
    lanes.push({ lane: laneOf(newest.mark), items: items.length, newest: newest.key, ...(holder && { holder }) });
  }
  return lanes.sort((a, b) => b.newest - a.newest).slice(0, limit);
}

export function pendingItems({ lanes, limit, maxBytes, now }: PendingRequest, state: State): PendingItem[] {
  const items: PendingItem[] = [];
  let bytes = 0;
  for (const { lane, after = 0 } of lanes) {
    const home = findHome(lane, state.registry);
    for (const found of home ? visibleIn(home, state, now) : []) {
      if (found.key <= after) continue;
      bytes += Buffer.byteLength(found.row.content);
      if (items.length === limit || (items.length > 0 && bytes > maxBytes)) return items;
      items.push(toPending(found));
    }
  }
  return items;
}

export function tail({ spaces, filter, limit, now }: TailRequest, { marks, registry }: State): Tail {
  const asked = new Set(registry.findAll(spaces));
  const found: Marked[] = [];
  for (const home of marks.waitingHomes()) {
    for (const item of marks.waiting(home)) {
      const { mark, row } = item;
      if (!asked.has(mark.space)) break;
      if (isVisible(row, mark.space, now) && passes(row, filter, marks)) found.push(item);
    }
  }
  found.sort((a, b) => b.key - a.key);
  return { items: found.slice(0, limit).map(toPending), more: found.length > limit };
}

export function earlier(keys: readonly number[], count: number, now: number, { marks }: State): Neighbour[][] {
  const sessions = new Map<Home, readonly Row[]>();
  return keys.map((key) => {
    const found = marks.find(key);
    if (!found || found.mark.home === found.mark.space || count <= 0) return [];
    const { space, home } = found.mark;
    const rows = sessions.get(home) ?? sessionRows(space, home, now);
    sessions.set(home, rows);
    const before = rows.filter((row) => row.arrival < key);
    return before.slice(-count).map(toNeighbour);
  });
}

/** The rows of a session, oldest first. */
function sessionRows(space: Space, home: Home, now: number): readonly Row[] {
  const rows = [...space.rows.values()].filter((row) => row.home === home && isVisible(row, space, now));
  return rows.sort((a, b) => a.arrival - b.arrival);
}

function visibleIn(home: Home, { marks }: State, now: number): Marked[] {
  return marks.waiting(home).filter(({ row, mark }) => isVisible(row, mark.space, now));
}

export function toPending({ key, mark, row }: Marked): PendingItem {
  const { id, version, name, content, round, recordedAt } = row;
  return {
    key,
    lane: laneOf(mark),
    id,
    version,
    ...(name !== undefined && { name }),
    content,
    ...(round !== undefined && { round }),
    recordedAt,
  };
}

function toNeighbour({ arrival: key, version, name, content }: Row): Neighbour {
  return { key, version, ...(name !== undefined && { name }), content };
}
