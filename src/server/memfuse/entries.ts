/** Users and agents. */
import { HoldfastError } from "../../errors.js";
import type { MEMFUSE_AGENTS, MEMFUSE_USERS } from "../../schemas/memfuse/entries.js";
import type { Entry, Page } from "../../types.js";
import type { Handlers } from "../call.js";
import { amended, namedEntries, requireEntry, spaceOf } from "../handlers/registry.js";
import { type Asking, agentById, userById } from "./lookup.js";
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
    // Whoever may act as an agent sees its entry; its memory is another thing.
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
    requireEntry(caller, KIND[kind], name);
    const found = await entries.get(name);
    if (found) return { items: [found] };
    throw new HoldfastError("not_found", `there is no ${KIND[kind]} of this name`, {
      hint: `POST /api/v1/${kind} registers one`,
      details: { field: "name" },
    });
  }
  if (caller.coversAll(KIND[kind])) return entries.list(page);
  return { items: await namedEntries(entries, KIND[kind], caller) };
}

interface Described {
  readonly name: string;
  readonly description?: string | null | undefined;
}

function create({ memory, caller }: Asking, kind: Kind, { name, description }: Described): Promise<Entry> {
  requireEntry(caller, KIND[kind], name);
  return memory[kind].create(name, description ?? undefined);
}

interface Change {
  readonly name?: string | null | undefined;
  readonly description?: string | null | undefined;
}

/** What is null stays as it is: the SDK sends null for what it was not given. */
function change({ memory, caller }: Asking, kind: Kind, was: string, { name, description }: Change): Promise<Entry> {
  caller.requireSpace(spaceOf(KIND[kind], was));
  // A key that names its spaces may not give one a name that others may have been granted.
  if (typeof name === "string" && !caller.coversAll(KIND[kind])) caller.requireSpace(spaceOf(KIND[kind], name));
  return amended(memory, kind, was, {
    ...(typeof name === "string" && { name }),
    ...(typeof description === "string" && { description }),
  });
}
