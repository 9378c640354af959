/**
 * Forgets one thing with all that goes with it: an item with the fact that it is, a fact with the facts that rest on it
 * alone, and so on. Facts cannot rest on each other in a circle, so this comes to an end.
 */
import type { Gone } from "../gone.js";
import type { Attempt } from "./attempt.js";
import type { FactRecord, Source } from "./fact-records.js";
import type { Session, Space } from "./space.js";
import type { State } from "./state.js";

/** Whatever has this id in the space: an item, a fact, or both. Says what went in `gone`. */
export function forgetThing(id: string, space: Space, state: State, attempt: Attempt, gone: Gone): void {
  for (let ids: readonly string[] = [id]; ids.length > 0; ) {
    ids = ids.flatMap((next) => forgetOne(next, space, state, attempt, gone));
  }
}

/** No fact rests on this session any more. */
export function leaveSession(session: Session, space: Space, state: State, attempt: Attempt, gone: Gone): void {
  for (const id of loseSource(session, space, attempt, gone)) forgetThing(id, space, state, attempt, gone);
}

/** The ids of the facts that rest on nothing any more because of this. */
function forgetOne(id: string, space: Space, state: State, attempt: Attempt, gone: Gone): readonly string[] {
  const row = space.rows.get(id);
  if (row) {
    state.remove(space, row, attempt);
    gone.items++;
  }
  const fact = space.facts.get(id);
  if (fact) {
    removeFact(fact, space, attempt);
    gone.removedFact(fact.key);
  }
  if (!row && !fact) return [];
  leaveCopies(id, space, attempt, gone);
  return loseSource(id, space, attempt, gone);
}

function removeFact({ id, sources }: FactRecord, space: Space, attempt: Attempt): void {
  for (const source of sources) {
    const ground = groundOf(source);
    if (ground !== undefined) space.resting.delete(ground, id, attempt);
  }
  attempt.delete(space.facts, id);
  attempt.touched.add(space);
}

function leaveCopies(id: string, space: Space, attempt: Attempt, gone: Gone): void {
  for (const target of space.copies.of(id)) {
    gone.leftCopy(id, target.order);
    space.copies.delete(id, target, attempt);
    target.originals.delete(id, space, attempt);
  }
  gone.removedCopy(id, space.order);
  for (const origin of space.originals.of(id)) {
    space.originals.delete(id, origin, attempt);
    origin.copies.delete(id, space, attempt);
  }
}

/** Whatever rests on this message or session does so no more. Which facts rest on nothing now? */
function loseSource(ground: string | Session, space: Space, attempt: Attempt, gone: Gone): readonly string[] {
  return space.resting.of(ground).flatMap((id) => {
    space.resting.delete(ground, id, attempt);
    const fact = space.facts.get(id);
    if (!fact) return [];
    const sources = fact.sources.filter((source) => groundOf(source) !== ground);
    const { now: updatedAt } = attempt;
    attempt.set(space.facts, id, { ...fact, sources, updatedAt, version: fact.version + 1 });
    attempt.touched.add(space);
    if (sources.length === 0) return id;
    gone.lostSource(fact);
    return [];
  });
}

const groundOf = ({ message, session }: Source): string | Session | undefined => message ?? session;
