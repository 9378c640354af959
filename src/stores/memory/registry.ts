/** Who is known: spaces by kind and name, sessions by their name in their space. */
import { newId } from "../../ids.js";
import type { SessionEntry, SpaceKind, SpaceRef } from "../../types.js";
import type { Attempt } from "./attempt.js";
import { EMPTY_LEDGER } from "./ledgers.js";
import { type Session, Space, spaceName } from "./space.js";

export class Registry {
  readonly #spaces: { readonly [kind in SpaceKind]: Map<string, Space> } = {
    user: new Map(),
    agent: new Map(),
    team: new Map(),
  };
  #registered = 0;

  find(ref: SpaceRef): Space | undefined {
    const { kind, name } = spaceName(ref);
    return this.#spaces[kind].get(name);
  }

  /** The spaces that exist of those given, each once. */
  findAll(refs: readonly SpaceRef[]): Space[] {
    const found = new Set<Space>();
    for (const ref of refs) {
      const space = this.find(ref);
      if (space) found.add(space);
    }
    return [...found];
  }

  ofKind(kind: SpaceKind): Iterable<Space> {
    return this.#spaces[kind].values();
  }

  *all(): Iterable<Space> {
    for (const spaces of Object.values(this.#spaces)) yield* spaces.values();
  }

  ensure(ref: SpaceRef, attempt: Attempt, description?: string): Space {
    const found = this.find(ref);
    if (found) return found;
    const { now } = attempt;
    const entry = { id: newId(now), ...spaceName(ref), createdAt: now, updatedAt: now };
    const space = new Space({ ...entry, ...(description !== undefined && { description }) }, this.#registered++);
    attempt.set(this.#spaces[entry.kind], entry.name, space);
    attempt.touched.add(space);
    return space;
  }

  /** The session of that name; a new one starts with the given agent, who is registered as well. */
  ensureSession(space: Space, name: string, agent: string | undefined, attempt: Attempt): Session {
    const found = space.sessions.get(name);
    if (found) return found;
    const { now } = attempt;
    if (agent !== undefined) this.ensure({ agent }, attempt);
    const entry = { id: newId(now), name, ...(agent !== undefined && { agent }), createdAt: now, updatedAt: now };
    const session: Session = { entry, order: this.#registered++, nextSequence: 1, ledger: EMPTY_LEDGER, extracted: 0 };
    attempt.set(space.sessions, name, session);
    attempt.touched.add(space);
    return session;
  }

  rename(space: Space, name: string, attempt: Attempt): void {
    const { kind, name: before } = space.entry;
    attempt.delete(this.#spaces[kind], before);
    attempt.set(this.#spaces[kind], name, space);
    attempt.assign(space, { entry: { ...space.entry, name } });
  }

  delete(space: Space, attempt: Attempt): void {
    attempt.delete(this.#spaces[space.entry.kind], space.entry.name);
    attempt.touched.add(space);
  }
}

export function toSessionEntry(session: Session, space: Space): SessionEntry {
  return { ...session.entry, space: space.ref };
}
