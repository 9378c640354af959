/** Renames and describes registry entries. What carries a name carries the new one at once. */
import { HoldfastError } from "../../errors.js";
import type { Entry } from "../../types.js";
import type { AmendWrite, Done } from "../store.js";
import { nameAgent } from "./agents.js";
import type { Attempt } from "./attempt.js";
import { nameTaken } from "./register.js";
import { toSessionEntry } from "./registry.js";
import { type Session, type Space, spaceRef } from "./space.js";
import type { State } from "./state.js";

export function amend(write: AmendWrite, state: State, attempt: Attempt): Done {
  const { entry } = write;
  if (entry.kind === "session") {
    const space = state.registry.find(entry.space);
    const session = space?.sessions.get(entry.name);
    if (!space || !session) throw noSuchEntry(entry.kind, entry.name);
    if (write.name !== undefined) renameSession(session, space, write.name, attempt);
    return { op: "amend", entry: toSessionEntry(session, space) };
  }
  const space = state.registry.find(spaceRef(entry.kind, entry.name));
  if (!space) throw noSuchEntry(entry.kind, entry.name);
  if (write.name !== undefined) renameSpace(space, write.name, state, attempt);
  describe(space, write, attempt);
  return { op: "amend", entry: { ...space.entry } };
}

function renameSession(session: Session, space: Space, name: string, attempt: Attempt): void {
  const before = session.entry.name;
  if (name === before) return;
  const taken = space.sessions.get(name);
  if (taken) throw nameTaken("session", taken.entry);
  attempt.delete(space.sessions, before);
  attempt.set(space.sessions, name, session);
  attempt.assign(session, { entry: { ...session.entry, name, updatedAt: attempt.now } });
  attempt.touched.add(space);
}

function renameSpace(space: Space, name: string, { registry, removals }: State, attempt: Attempt): void {
  const { kind, name: before } = space.entry;
  if (name === before) return;
  const after = spaceRef(kind, name);
  const taken = registry.find(after);
  if (taken) throw nameTaken(kind, taken.entry);
  removals.rename(space.ref, after, attempt);
  registry.rename(space, name, attempt);
  attempt.assign(space, { entry: { ...space.entry, updatedAt: attempt.now } });
  attempt.touched.add(space);
  if (kind === "agent") nameAgent(before, name, registry, attempt);
}

function describe(space: Space, write: AmendWrite, attempt: Attempt): void {
  const { description: oldDescription, retentionMs: oldRetention, ...kept } = space.entry;
  const description = write.description === undefined ? oldDescription : (write.description ?? undefined);
  const retentionMs = write.retentionMs === undefined ? oldRetention : (write.retentionMs ?? undefined);
  if (description === oldDescription && retentionMs === oldRetention) return;
  const entry: Entry = {
    ...kept,
    updatedAt: attempt.now,
    ...(description !== undefined && { description }),
    ...(retentionMs !== undefined && { retentionMs }),
  };
  attempt.assign(space, { entry });
  attempt.touched.add(space);
}

function noSuchEntry(kind: string, name: string): HoldfastError {
  return new HoldfastError("not_found", `There is no ${kind} "${name}".`, {
    hint: "Check the name; list the registry to see what there is.",
    details: { kind, name },
  });
}
