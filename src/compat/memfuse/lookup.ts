/**
 * Resolves ids for callers. An id that the key does not cover is reported as missing, so that no one learns which ids exist.
 * Names are not secret: a name that the key does not cover is `forbidden`.
 */

import type { Caller } from "../../calls/caller.js";
import { HoldfastError } from "../../errors.js";
import { parseIdentity } from "../../input/identity.js";
import type { Memory } from "../../memory.js";
import type { Entry, Item, SessionEntry } from "../../types.js";

/** The parts of a call that a lookup needs. */
export interface Asking {
  readonly memory: Memory;
  readonly caller: Caller;
}

/** A session of a user, the only kind in MemFuse. */
export interface UserSession extends SessionEntry {
  readonly space: { readonly user: string };
}

export async function userById({ memory, caller }: Asking, id: string): Promise<Entry> {
  const found = await memory.users.byId(id);
  if (found && caller.covers({ user: found.name })) return found;
  throw absent("user_id", "no such user", "GET /api/v1/users lists them");
}

/**
 * An agent is also an attribute: a caller that is bound to no agent may act as any. Such a caller gets an agent by the given
 * name, whether or not it exists, because a registry entry would reveal that others use it. A message registers it.
 */
export async function agentById({ memory, caller }: Asking, id: string): Promise<Entry> {
  const name = id.startsWith(NAMED) ? id.slice(NAMED.length) : undefined;
  if (name !== undefined && isByNameOnly(caller, name)) return agentByNameOnly(name);
  const found = await memory.agents.byId(id);
  if (found && caller.covers({ agent: found.name })) return found;
  throw absent("agent_id", "no such agent", "GET /api/v1/agents lists them");
}

export const isByNameOnly = (caller: Caller, agent: string): boolean =>
  !caller.covers({ agent }) && caller.mayActAs(agent);

export const agentByNameOnly = (name: string): Entry => ({
  id: idOfName(name),
  kind: "agent",
  name: parseIdentity(name, "name"),
  createdAt: 0,
  updatedAt: 0,
});

export const idOfName = (name: string): string => NAMED + name;
const NAMED = "name:";

export async function sessionById({ memory, caller }: Asking, id: string): Promise<UserSession> {
  const found = await memory.sessions.byId(id);
  if (found && isOfUser(found) && caller.covers(found.space)) return found;
  throw absent("session_id", "no such session", "GET /api/v1/sessions lists them");
}

export const isOfUser = (session: SessionEntry): session is UserSession => "user" in session.space;

/** The items in the order of the ids. `not_found` names all that are missing. */
export function allOf(items: readonly Item[], ids: readonly string[], field: string): readonly Item[] {
  const byId = new Map(items.map((item) => [item.id, item]));
  const missing = ids.filter((id) => !byId.has(id));
  if (missing.length === 0) return ids.flatMap((id) => byId.get(id) ?? []);
  const message = missing.length === 1 ? "one of the ids does not exist" : `${missing.length} of the ids do not exist`;
  throw new HoldfastError("not_found", message, {
    hint: "details.missing lists them; remove them and retry. Nothing was done",
    details: { missing, fields: missing.map((id) => ({ field, message: `${id} does not exist` })) },
  });
}

export const absent = (field: string, message: string, hint: string): HoldfastError =>
  new HoldfastError("not_found", message, { hint, details: { field } });
