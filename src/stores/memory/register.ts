/** Creates registry entries. A session brings its space and its agent with it, as an add does. */
import { HoldfastError } from "../../errors.js";
import type { Done, RegisterWrite } from "../store.js";
import type { Attempt } from "./attempt.js";
import { toSessionEntry } from "./registry.js";
import { spaceRef } from "./space.js";
import type { State } from "./state.js";

export function register({ entry, create }: RegisterWrite, { registry }: State, attempt: Attempt): Done {
  if (entry.kind === "session") {
    const found = registry.find(entry.space)?.sessions.get(entry.name);
    if (found && create === "new") throw nameTaken(entry.kind, found.entry);
    const space = registry.ensure(entry.space, attempt);
    const session = registry.ensureSession(space, entry.name, entry.agent, attempt);
    return { op: "register", entry: toSessionEntry(session, space), created: !found };
  }
  const ref = spaceRef(entry.kind, entry.name);
  const found = registry.find(ref);
  if (found && create === "new") throw nameTaken(entry.kind, found.entry);
  const space = registry.ensure(ref, attempt, entry.description);
  return { op: "register", entry: { ...space.entry }, created: !found };
}

export function nameTaken(kind: string, { id, name }: { readonly id: string; readonly name: string }): HoldfastError {
  return new HoldfastError("conflict", `There is a ${kind} "${name}" already.`, {
    hint: "Choose another name, or use the one that exists.",
    details: { id },
  });
}
