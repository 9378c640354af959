/** Users and agents. */

import { type Handlers, keyed } from "../../calls/call.js";
import { namedEntries, spaceOf } from "../../calls/named-entries.js";
import { HoldfastError } from "../../errors.js";
import type { Entry, Page } from "../../types.js";
import { type Asking, agentById, agentByNameOnly, isByNameOnly, userById } from "./lookup.js";
import type { MEMFUSE_AGENTS, MEMFUSE_USERS } from "./schemas/entries.js";
import { entryView } from "./view.js";

export const memfuseUserHandlers: Handlers<typeof MEMFUSE_USERS> = {
  memfuseListUsers: async (call) => {
    const { items, ...page } = await entriesOf(call, "users", call.query);
    return { users: items.map(entryView), ...page };
  },
  memfuseCreateUser: async (call) => ({ user: entryView(await create(call, "users", call.body)) }),
  memfuseGetUser: async (call) => ({ user: entryView(await userById(call, call.params.user_id)) }),
  memfuseUpdateUser: async (call) => {
    const { name } = await userById(call, call.params.user_id);
    return { user: entryView(await change(call, "users", name, call.body)) };
  },
  memfuseDeleteUser: async (call) => {
    const { id, name } = await userById(call, call.params.user_id);
    await call.memory.users.delete(name);
    return { user_id: id };
  },
};

export const memfuseAgentHandlers: Handlers<typeof MEMFUSE_AGENTS> = {
  memfuseListAgents: async (call) => {
    const { items, ...page } = await entriesOf(call, "agents", call.query);
    return { agents: items.map(entryView), ...page };
  },
  memfuseCreateAgent: async (call) => ({ agent: entryView(await create(call, "agents", call.body)) }),
  memfuseGetAgent: async (call) => ({ agent: entryView(await agentById(call, call.params.agent_id)) }),
  memfuseUpdateAgent: async (call) => {
    const { name } = await agentById(call, call.params.agent_id);
    return { agent: entryView(await change(call, "agents", name, call.body)) };
  },
  memfuseDeleteAgent: async (call) => {
    const { id, name } = await agentById(call, call.params.agent_id);
    call.caller.requireSpace({ agent: name });
    await call.memory.agents.delete(name);
    return { agent_id: id };
  },
};

type Kind = "users" | "agents";
const KIND = { users: "user", agents: "agent" } as const;

interface Listing {
  readonly name?: string;
  readonly limit: number;
  readonly cursor?: string;
}

async function entriesOf({ memory, caller }: Asking, kind: Kind, { name, ...page }: Listing): Promise<Page<Entry>> {
  const entries = memory[kind];
  if (name !== undefined) {
    if (kind === "agents" && isByNameOnly(caller, name)) return { items: [agentByNameOnly(name)] };
    caller.requireSpace(spaceOf(KIND[kind], name));
    const found = await entries.get(name);
    if (found) return { items: [found] };
    throw new HoldfastError("not_found", `no such ${KIND[kind]}`, {
      hint: `POST /api/v1/${kind} registers one`,
      details: { field: "name" },
    });
  }
  if (caller.coversAll(KIND[kind])) return entries.list(page);
  return { items: await namedEntries(entries, KIND[kind], caller) };
}

interface Changing extends Asking {
  readonly idempotencyKey: string | undefined;
}

interface Described {
  readonly name: string;
  readonly description?: string | null | undefined;
}

async function create(
  { memory, caller, idempotencyKey }: Changing,
  kind: Kind,
  { name, description }: Described,
): Promise<Entry> {
  if (kind === "agents" && isByNameOnly(caller, name)) return agentByNameOnly(name);
  caller.requireSpace(spaceOf(KIND[kind], name));
  return memory[kind].create(name, description ?? undefined, keyed(idempotencyKey));
}

interface Change {
  readonly name?: string | null | undefined;
  readonly description?: string | null | undefined;
}

/** Null leaves a field unchanged: the SDK sends null for missing arguments. */
function change(
  { memory, caller, idempotencyKey }: Changing,
  kind: Kind,
  was: string,
  { name, description }: Change,
): Promise<Entry> {
  caller.requireSpace(spaceOf(KIND[kind], was));
  // A key that names its spaces may not rename one to a name that another key may cover.
  if (typeof name === "string" && !caller.coversAll(KIND[kind])) caller.requireSpace(spaceOf(KIND[kind], name));
  const changed = {
    ...(typeof name === "string" && { name }),
    ...(typeof description === "string" && { description }),
  };
  return memory[kind].amend(was, changed, keyed(idempotencyKey));
}
