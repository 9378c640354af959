/** Sessions of users. */
import { createHash, randomUUID } from "node:crypto";
import { type Handlers, keyed } from "../../calls/call.js";
import { parseIdentity } from "../../input/identity.js";
import { NAME_UNITS_MAX, RESULTS_MAX } from "../../input/limits.js";
import type { Page, SessionEntry, SpaceRef } from "../../types.js";
import { type Asking, absent, agentById, isOfUser, sessionById, type UserSession, userById } from "./lookup.js";
import type { MEMFUSE_SESSIONS, MemFuseSession } from "./schemas/sessions.js";
import { IdsOf, sessionView } from "./view.js";

export const memfuseSessionHandlers: Handlers<typeof MEMFUSE_SESSIONS> = {
  memfuseListSessions: async (call) => {
    const { name, user_id, agent_id, ...page } = call.query;
    const user = user_id === undefined ? undefined : await userById(call, user_id);
    const agent = agent_id === undefined ? undefined : await agentById(call, agent_id);
    const { items, ...rest } = await sessionsOf(call, {
      ...page,
      ...(name !== undefined && { name: parseIdentity(name, "name") }),
      ...(user && { space: { user: user.name } }),
      ...(agent && { agent: agent.name }),
    });
    if (name !== undefined && items.length === 0) {
      throw absent("name", "no such session", "POST /api/v1/sessions registers one");
    }
    return { sessions: await shown(call, items), ...rest };
  },
  memfuseCreateSession: async (call) => {
    const { memory, caller, body, idempotencyKey } = call;
    const user = await userById(call, body.user_id);
    const agent = await agentById(call, body.agent_id);
    caller.requireAgent(agent.name);
    const name = body.name ?? madeName(user.name, agent.name, idempotencyKey);
    const session = await memory.sessions.create({ user: user.name }, name, agent.name, keyed(idempotencyKey));
    return { session: sessionView(session as UserSession, user.id, agent.id) };
  },
  memfuseGetSession: async (call) => ({ session: await one(call, await sessionById(call, call.params.session_id)) }),
  memfuseUpdateSession: async (call) => {
    const session = await sessionById(call, call.params.session_id);
    const { name } = call.body;
    if (typeof name !== "string" || name === session.name) return { session: await one(call, session) };
    const options = keyed(call.idempotencyKey);
    return { session: await one(call, await call.memory.sessions.rename(session.space, session.name, name, options)) };
  },
  memfuseDeleteSession: async (call) => {
    const { id, space, name } = await sessionById(call, call.params.session_id);
    await call.memory.sessions.delete(space, name);
    return { session_id: id };
  },
};

interface Listing {
  readonly name?: string;
  readonly space?: SpaceRef;
  readonly agent?: string;
  readonly limit: number;
  readonly cursor?: string;
}

/**
 * The sessions that the caller may see: a page, or all of them if its key names individual users. Sessions of teams and agents
 * are excluded, because MemFuse has none.
 */
async function sessionsOf({ memory, caller }: Asking, listing: Listing): Promise<Page<UserSession>> {
  const { store } = memory.service;
  if (listing.space || caller.coversAll("user")) {
    const { items, ...page } = await store.sessions({ kind: "session", ...listing });
    return { items: items.filter(isOfUser), ...page };
  }
  const { cursor: _, ...wanted } = listing;
  const items: SessionEntry[] = [];
  for (const space of caller.named("user")) {
    let cursor: string | undefined;
    do {
      const request = { ...wanted, space, limit: RESULTS_MAX, ...(cursor !== undefined && { cursor }) };
      const page = await store.sessions({ kind: "session", ...request });
      items.push(...page.items);
      cursor = page.next;
    } while (cursor !== undefined);
  }
  return { items: items.filter(isOfUser) };
}

async function shown(call: Asking, sessions: readonly UserSession[]): Promise<readonly MemFuseSession[]> {
  const ids = new IdsOf(call);
  const views = await Promise.all(sessions.map((session) => viewOf(session, ids)));
  return views.filter((view) => view !== undefined);
}

async function one(call: Asking, session: SessionEntry): Promise<MemFuseSession> {
  const view = isOfUser(session) ? await viewOf(session, new IdsOf(call)) : undefined;
  if (view) return view;
  throw absent("session_id", "no such session", "its user was forgotten in the meantime");
}

/** Undefined if its user was forgotten in the meantime. */
async function viewOf(session: UserSession, ids: IdsOf): Promise<MemFuseSession | undefined> {
  const [userId, agentId] = await Promise.all([ids.user(session.space.user), ids.agent(session.agent)]);
  return userId === undefined ? undefined : sessionView(session, userId, agentId);
}

/** A name as MemFuse makes it, deterministic for an idempotency key. If it would be too long, only the random part is used. */
function madeName(user: string, agent: string, key: string | undefined): string {
  const random = key === undefined ? randomUUID() : createHash("sha256").update(key).digest("hex").slice(0, 32);
  const name = `${user}-${agent}-${random.slice(0, 8)}`;
  return name.length <= NAME_UNITS_MAX ? name : random;
}
