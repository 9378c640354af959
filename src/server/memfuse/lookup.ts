/**
 * Who is meant by an id, for callers that may know. An id of somebody whom the key does not cover is answered as one that
 * does not exist, so that nobody learns which ids do. Names are no secret of ours: one that is not covered is `forbidden`.
 */
import { HoldfastError } from "../../errors.js";
import type { Memory } from "../../memory.js";
import type { Entry, Item, SessionEntry } from "../../types.js";
import type { Caller } from "../caller.js";
import { mayName } from "../handlers/registry.js";

/** What a lookup needs of a call. */
export interface Asking {
  readonly memory: Memory;
  readonly caller: Caller;
}

/** A session of a user: the only ones that MemFuse has. */
export interface UserSession extends SessionEntry {
  readonly space: { readonly user: string };
}

export async function userById({ memory, caller }: Asking, id: string): Promise<Entry> {
  const found = await memory.users.byId(id);
  if (found && caller.covers({ user: found.name })) return found;
  throw absent("user_id", "there is no user of this id", "GET /api/v1/users lists them");
}

export async function agentById({ memory, caller }: Asking, id: string): Promise<Entry> {
  const found = await memory.agents.byId(id);
  if (found && mayName(caller, "agent", found.name)) return found;
  throw absent("agent_id", "there is no agent of this id", "GET /api/v1/agents lists them");
}

export async function sessionById({ memory, caller }: Asking, id: string): Promise<UserSession> {
  const found = await memory.sessions.byId(id);
  if (found && isOfUser(found) && caller.covers(found.space)) return found;
  throw absent("session_id", "there is no session of this id", "GET /api/v1/sessions lists them");
}

export const isOfUser = (session: SessionEntry): session is UserSession => "user" in session.space;

/** The items in the order of the ids. `not_found` names all that are not among them. */
export function allOf(items: readonly Item[], ids: readonly string[], field: string): readonly Item[] {
  const byId = new Map(items.map((item) => [item.id, item]));
  const missing = ids.filter((id) => !byId.has(id));
  if (missing.length === 0) return ids.flatMap((id) => byId.get(id) ?? []);
  const message = missing.length === 1 ? "one of the ids is not there" : `${missing.length} of the ids are not there`;
  throw new HoldfastError("not_found", message, {
    hint: "details.missing names them; leave them out. Nothing was done",
    details: { missing, fields: missing.map((id) => ({ field, message: `${id} is not there` })) },
  });
}

export const absent = (field: string, message: string, hint: string): HoldfastError =>
  new HoldfastError("not_found", message, { hint, details: { field } });
