/** Sessions in MemFuse's schema: of one user with one agent. */
import { z } from "zod";
import { operation } from "../../../schemas/operation.js";
import { Name } from "../../../schemas/scope.js";
import { AgentId, bySession, next, pageFields, TAG, Time } from "./fields.js";

const Session = z
  .object({
    id: z.string(),
    user_id: z.string(),
    agent_id: z.string().nullable().meta({ description: "Null if it has none (any more)." }),
    name: z.string(),
    created_at: Time,
    updated_at: Time,
  })
  .meta({ id: "MemFuseSession" });
export type MemFuseSession = z.output<typeof Session>;

const session = z.object({ session: Session });

export const MEMFUSE_SESSIONS = {
  memfuseListSessions: operation({
    route: "GET /sessions",
    retry: "read",
    tag: TAG,
    summary: "List the sessions of a user, with an agent, by name, or all that the key covers.",
    description: "With a name: 404 if there is none. Names are unique per user.",
    access: "read",
    scope: "none",
    query: z.strictObject({
      name: Name.exactOptional().meta({
        description: "Only user_id and agent_id may follow it: everything else, including &, is part of the name.",
      }),
      user_id: Name.exactOptional(),
      agent_id: AgentId.exactOptional(),
      ...pageFields,
    }),
    rawName: true,
    data: z.object({ sessions: z.array(Session), next }),
    status: 200,
  }),
  memfuseCreateSession: operation({
    route: "POST /sessions",
    retry: "key",
    tag: TAG,
    summary: "Register a session; 409 if the user has one of this name.",
    access: "write",
    scope: "none",
    body: z
      .object({
        user_id: Name,
        agent_id: AgentId,
        name: Name.nullish().meta({ description: "Default: user-agent-xxxxxxxx." }),
      })
      .meta({ id: "MemFuseNewSession" }),
    data: session,
    status: 201,
  }),
  memfuseGetSession: operation({
    route: "GET /sessions/{session_id}",
    retry: "read",
    tag: TAG,
    summary: "Get a session.",
    access: "read",
    scope: "none",
    params: bySession,
    data: session,
    status: 200,
  }),
  memfuseUpdateSession: operation({
    route: "PUT /sessions/{session_id}",
    retry: "key",
    tag: TAG,
    summary: "Rename a session.",
    access: "write",
    scope: "none",
    params: bySession,
    body: z.object({ name: Name.nullish() }),
    data: session,
    status: 200,
  }),
  memfuseDeleteSession: operation({
    route: "DELETE /sessions/{session_id}",
    retry: "noop",
    tag: TAG,
    summary: "Forget a session and all its messages.",
    access: "write",
    scope: "none",
    params: bySession,
    data: z.object({ session_id: z.string() }),
    status: 200,
  }),
} as const;
