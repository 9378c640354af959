/** Users and agents in MemFuse's schema. */
import { z } from "zod";
import { operation } from "../../../schemas/operation.js";
import { Name } from "../../../schemas/scope.js";
import { AgentId, byUser, next, pageFields, TAG, Time } from "./fields.js";

const Entry = z
  .object({
    id: z.string(),
    name: z.string(),
    description: z.string().nullable(),
    created_at: Time,
    updated_at: Time,
  })
  .meta({ id: "MemFuseEntry" });
export type MemFuseEntry = z.output<typeof Entry>;

const byName = z.strictObject({
  name: Name.exactOptional().meta({
    description:
      "Get one by name; 404 if there is none. Must be the last parameter: everything after it, including &, is part of the name.",
  }),
  ...pageFields,
});
const newEntry = z.object({ name: Name, description: z.string().nullish() }).meta({ id: "MemFuseNewEntry" });
const change = z
  .object({ name: Name.nullish(), description: z.string().nullish() })
  .meta({ id: "MemFuseEntryChange", description: "Fields that are null or absent are unchanged." });
const byAgent = z.strictObject({ agent_id: AgentId });

const user = z.object({ user: Entry });
const agent = z.object({ agent: Entry });

export const MEMFUSE_USERS = {
  memfuseListUsers: operation({
    route: "GET /users",
    retry: "read",
    tag: TAG,
    summary: "List the users that the key covers, or get one by name.",
    access: "read",
    scope: "none",
    query: byName,
    rawName: true,
    data: z.object({ users: z.array(Entry), next }),
    status: 200,
  }),
  memfuseCreateUser: operation({
    route: "POST /users",
    retry: "key",
    tag: TAG,
    summary: "Register a user; 409 if the name is taken.",
    access: "write",
    scope: "none",
    body: newEntry,
    data: user,
    status: 201,
  }),
  memfuseGetUser: operation({
    route: "GET /users/{user_id}",
    retry: "read",
    tag: TAG,
    summary: "Get a user.",
    access: "read",
    scope: "none",
    params: byUser,
    data: user,
    status: 200,
  }),
  memfuseUpdateUser: operation({
    route: "PUT /users/{user_id}",
    retry: "key",
    tag: TAG,
    summary: "Rename or describe a user.",
    access: "write",
    scope: "none",
    params: byUser,
    body: change,
    data: user,
    status: 200,
  }),
  memfuseDeleteUser: operation({
    route: "DELETE /users/{user_id}",
    retry: "noop",
    tag: TAG,
    summary: "Forget a user and all sessions, messages and knowledge.",
    access: "write",
    scope: "none",
    params: byUser,
    data: z.object({ user_id: z.string() }),
    status: 200,
  }),
} as const;

export const MEMFUSE_AGENTS = {
  memfuseListAgents: operation({
    route: "GET /agents",
    retry: "read",
    tag: TAG,
    summary: "List the agents that the key covers, or get one by name.",
    access: "read",
    scope: "none",
    query: byName,
    rawName: true,
    data: z.object({ agents: z.array(Entry), next }),
    status: 200,
  }),
  memfuseCreateAgent: operation({
    route: "POST /agents",
    retry: "key",
    tag: TAG,
    summary: "Register an agent; 409 if the name is taken.",
    access: "write",
    scope: "none",
    body: newEntry,
    data: agent,
    status: 201,
  }),
  memfuseGetAgent: operation({
    route: "GET /agents/{agent_id}",
    retry: "read",
    tag: TAG,
    summary: "Get an agent.",
    access: "read",
    scope: "none",
    params: byAgent,
    data: agent,
    status: 200,
  }),
  memfuseUpdateAgent: operation({
    route: "PUT /agents/{agent_id}",
    retry: "key",
    tag: TAG,
    summary: "Rename or describe an agent.",
    access: "write",
    scope: "none",
    params: byAgent,
    body: change,
    data: agent,
    status: 200,
  }),
  memfuseDeleteAgent: operation({
    route: "DELETE /agents/{agent_id}",
    retry: "noop",
    tag: TAG,
    summary: "Forget an agent and its own memory. What users said to it stays in their memories.",
    access: "write",
    scope: "none",
    params: byAgent,
    data: z.object({ agent_id: z.string() }),
    status: 200,
  }),
} as const;
