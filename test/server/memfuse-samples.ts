/** A request to every operation of the MemFuse dialect. It names things by their ids. */
import type { Sample } from "./sample.js";
import type { World } from "./world.js";

const byUser = ({ userId }: World) => ({ params: { user_id: userId } });
const byAgent = ({ agentId }: World) => ({ params: { agent_id: agentId } });
const bySession = ({ sessionId }: World) => ({ params: { session_id: sessionId } });
const message = { role: "user", content: "I like plums." };

export const MEMFUSE_SAMPLES = {
  memfuseListUsers: ({ user }) => ({ query: { name: user } }),
  memfuseCreateUser: ({ user }) => ({ body: { name: `${user}-new`, description: "new" } }),
  memfuseGetUser: byUser,
  memfuseUpdateUser: (world) => ({ ...byUser(world), body: { name: null, description: "changed" } }),
  memfuseDeleteUser: byUser,

  memfuseListAgents: ({ agent }) => ({ query: { name: agent } }),
  memfuseCreateAgent: ({ agent }) => ({ body: { name: `${agent}-new`, description: null } }),
  memfuseGetAgent: byAgent,
  memfuseUpdateAgent: (world) => ({ ...byAgent(world), body: { description: "changed" } }),
  memfuseDeleteAgent: byAgent,

  memfuseListSessions: ({ userId }) => ({ query: { user_id: userId } }),
  memfuseCreateSession: ({ userId, agentId }) => ({ body: { user_id: userId, agent_id: agentId, name: "third" } }),
  memfuseGetSession: bySession,
  memfuseUpdateSession: (world) => ({ ...bySession(world), body: { name: "renamed" } }),
  memfuseDeleteSession: bySession,

  memfuseListMessages: (world) => ({ ...bySession(world), query: { limit: "5", buffer_only: "false" } }),
  memfuseAddMessages: (world) => ({ ...bySession(world), body: { messages: [message] } }),
  memfuseReadMessages: (world) => ({ ...bySession(world), body: { message_ids: [world.item] } }),
  memfuseUpdateMessages: (world) => ({
    ...bySession(world),
    body: { message_ids: [world.item], new_messages: [message] },
  }),
  memfuseDeleteMessages: (world) => ({ ...bySession(world), body: { message_ids: [world.item] } }),

  memfuseListKnowledge: byUser,
  memfuseAddKnowledge: (world) => ({ ...byUser(world), body: { knowledge: ["Plums are blue."] } }),
  memfuseReadKnowledge: (world) => ({ ...byUser(world), body: { knowledge_ids: [world.knowledge] } }),
  memfuseUpdateKnowledge: (world) => ({
    ...byUser(world),
    body: { knowledge_ids: [world.knowledge], new_knowledge: ["It is a city."] },
  }),
  memfuseDeleteKnowledge: (world) => ({ ...byUser(world), body: { knowledge_ids: [world.knowledge] } }),

  memfuseQuery: (world) => ({
    ...byUser(world),
    body: { query: "Where did I move in May?", session_id: world.sessionId, agent_id: null },
  }),

  memfuseSessionChunks: bySession,
  memfuseRoundChunks: ({ sessionId }) => ({ params: { round_id: `${sessionId}:1` } }),
  memfuseChunkStats: ({ userId, sessionId }) => ({ query: { user_id: userId, session_id: sessionId } }),

  memfuseListApiKeys: byUser,
  memfuseCreateApiKey: (world) => ({ ...byUser(world), body: { name: "phone", permissions: { write: false } } }),
  memfuseDeleteApiKey: ({ userId, key }) => ({ params: { user_id: userId, key_id: key } }),
  memfuseHealth: () => ({}),
} as const satisfies { readonly [name: string]: (world: World) => Sample };
