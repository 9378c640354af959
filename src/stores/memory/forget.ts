/** Forgets a slice of what a target names: items first, then sessions, then the registry entry. */
import { type ForgetDone, type ForgetWrite, NOTHING_FORGOTTEN } from "../store.js";
import { nameAgent } from "./agents.js";
import type { Attempt } from "./attempt.js";
import { forgetBlock } from "./blocks.js";
import { isVisible, type Row } from "./row.js";
import type { Session, Space } from "./space.js";
import type { State } from "./state.js";

export function forget({ target }: ForgetWrite, state: State, attempt: Attempt, itemsMax: number): ForgetDone {
  if ("expired" in target) return forgetExpired(state, attempt, itemsMax);
  const space = state.registry.find(target.space);
  if (!space) return done(0, false);
  if ("ids" in target) return forgetRows(rowsById(space, target.ids), space, state, attempt, itemsMax);
  if ("session" in target) {
    const session = space.sessions.get(target.session);
    if (!session) return done(0, false);
    const slice = forgetRows(rowsOfSession(space, session), space, state, attempt, itemsMax);
    if (slice.remaining || !target.entry) return slice;
    forgetSession(space, session, state, attempt);
    return { ...slice, sessions: 1 };
  }
  if ("block" in target) return { ...NOTHING_FORGOTTEN, blocks: forgetBlock(space, target.block, attempt) ? 1 : 0 };
  const slice = forgetRows(space.rows.values(), space, state, attempt, itemsMax);
  if (slice.remaining || !target.entry) return slice;
  state.registry.delete(space, attempt);
  for (const home of [space, ...space.sessions.values()]) state.leases.end(home, attempt);
  const { kind, name } = space.entry;
  if (kind === "agent") nameAgent(name, undefined, state.registry, attempt);
  return { ...slice, sessions: space.sessions.size, entries: 1 };
}

function forgetExpired(state: State, attempt: Attempt, itemsMax: number): ForgetDone {
  let items = 0;
  for (const space of state.registry.all()) {
    const slice = forgetRows(expiredRows(space, attempt.now), space, state, attempt, itemsMax - items);
    items += slice.items;
    if (slice.remaining) return done(items, true);
  }
  return done(items, false);
}

function forgetRows(rows: Iterable<Row>, space: Space, state: State, attempt: Attempt, itemsMax: number): ForgetDone {
  const slice: Row[] = [];
  let remaining = false;
  for (const row of rows) {
    remaining = slice.length === itemsMax;
    if (remaining) break;
    slice.push(row);
  }
  for (const row of slice) state.remove(space, row, attempt);
  return done(slice.length, remaining);
}

function forgetSession(space: Space, session: Session, { leases }: State, attempt: Attempt): void {
  attempt.delete(space.sessions, session.entry.name);
  leases.end(session, attempt);
  space.answers.forgetSession(session.entry.id, attempt);
  attempt.touched.add(space);
}

function rowsById(space: Space, ids: readonly string[]): Row[] {
  return [...new Set(ids)].flatMap((id) => space.rows.get(id) ?? []);
}

function* rowsOfSession(space: Space, session: Session): Iterable<Row> {
  for (const row of space.rows.values()) if (row.home === session) yield row;
}

function* expiredRows(space: Space, now: number): Iterable<Row> {
  for (const row of space.rows.values()) if (!isVisible(row, space, now)) yield row;
}

function done(items: number, remaining: boolean): ForgetDone {
  return { ...NOTHING_FORGOTTEN, items, remaining };
}
