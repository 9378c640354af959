/**
 * Forgets a slice of what a target names: items first, then facts that have none, then sessions, then the registry entry.
 * What goes with an item goes in the same slice (cascade.ts).
 */
import { Gone } from "../gone.js";
import { type ForgetDone, type ForgetWrite, NOTHING_FORGOTTEN } from "../store.js";
import { nameAgent } from "./agents.js";
import type { Attempt } from "./attempt.js";
import { forgetBlock } from "./blocks.js";
import { forgetThing, leaveSession } from "./cascade.js";
import { isKept } from "./fact-records.js";
import { forgetLedger } from "./ledgers.js";
import { isVisible } from "./row.js";
import type { Session, Space } from "./space.js";
import type { State } from "./state.js";

/** An item or a fact, by its id. */
interface Thing {
  readonly space: Space;
  readonly id: string;
}

export function forget({ target }: ForgetWrite, state: State, attempt: Attempt, itemsMax: number): ForgetDone {
  const gone = new Gone();
  const forgetSome = (things: Iterable<Thing>): ForgetDone => forgetThings(things, state, attempt, itemsMax, gone);
  if ("expired" in target) return forgetSome(expiredThings(state, attempt.now));
  const space = state.registry.find(target.space);
  if (!space) return NOTHING_FORGOTTEN;
  if ("ids" in target) return forgetSome(thingsById(space, target.ids));
  if ("session" in target) {
    const session = space.sessions.get(target.session);
    if (!session) return NOTHING_FORGOTTEN;
    const { remaining } = forgetSome(rowsOfSession(space, session));
    if (remaining) return done(gone, true);
    leaveSession(session, space, state, attempt, gone);
    forgetLedger(session, attempt);
    if (!target.entry) return done(gone, false);
    forgetSession(space, session, state, attempt);
    return { ...done(gone, false), sessions: 1 };
  }
  if ("block" in target) return { ...NOTHING_FORGOTTEN, blocks: forgetBlock(space, target.block, attempt) ? 1 : 0 };
  // No fact is left in the end, whatever one slice says.
  const slice = { ...forgetSome(thingsOfSpace(space)), factsLeft: [] };
  if (slice.remaining || !target.entry) return slice;
  return { ...slice, ...forgetSpace(space, state, attempt) };
}

function forgetThings(
  things: Iterable<Thing>,
  state: State,
  attempt: Attempt,
  itemsMax: number,
  gone: Gone,
): ForgetDone {
  const slice: Thing[] = [];
  let remaining = false;
  for (const thing of things) {
    remaining = slice.length === itemsMax;
    if (remaining) break;
    slice.push(thing);
  }
  for (const { space, id } of slice) forgetThing(id, space, state, attempt, gone);
  return done(gone, remaining);
}

function forgetSession(space: Space, session: Session, { leases }: State, attempt: Attempt): void {
  attempt.delete(space.sessions, session.entry.name);
  leases.end(session, attempt);
  space.answers.forgetSession(session.entry.id, attempt);
  attempt.touched.add(space);
}

/** Its blocks, ledgers and log of promotions go with it. */
function forgetSpace(space: Space, state: State, attempt: Attempt): Partial<ForgetDone> {
  state.registry.delete(space, attempt);
  for (const home of [space, ...space.sessions.values()]) state.leases.end(home, attempt);
  const { kind, name } = space.entry;
  if (kind === "agent") nameAgent(name, undefined, state.registry, attempt);
  return { blocks: space.blocks.size, sessions: space.sessions.size, entries: 1 };
}

function thingsById(space: Space, ids: readonly string[]): Thing[] {
  const known = [...new Set(ids)].filter((id) => space.rows.has(id) || space.facts.has(id));
  return known.map((id) => ({ space, id }));
}

function* thingsOfSpace(space: Space): Iterable<Thing> {
  for (const id of space.rows.keys()) yield { space, id };
  for (const id of space.facts.keys()) if (!space.rows.has(id)) yield { space, id };
}

function* rowsOfSession(space: Space, session: Session): Iterable<Thing> {
  for (const { home, id } of space.rows.values()) if (home === session) yield { space, id };
}

function* expiredThings({ registry }: State, now: number): Iterable<Thing> {
  for (const space of registry.all()) {
    for (const row of space.rows.values()) if (!isVisible(row, space, now)) yield { space, id: row.id };
    for (const fact of space.facts.values()) if (!isKept(fact, space, now)) yield { space, id: fact.id };
  }
}

function done({ items, facts, factsLeft, copiesLeft }: Gone, remaining: boolean): ForgetDone {
  return { ...NOTHING_FORGOTTEN, items, facts, factsLeft, copiesLeft, remaining };
}
