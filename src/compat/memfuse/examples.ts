/** Examples of the MemFuse dialect. It names things by their ids. */
import type { Examples } from "../../schemas/example.js";
import { IDS } from "../../schemas/examples/values.js";
import type { MEMFUSE } from "./operations.js";

const TIME = "2026-05-04T09:00:00.000Z";
const byUser = { user_id: IDS.user };
const byAgent = { agent_id: IDS.agent };
const bySession = { session_id: IDS.session };

const times = { created_at: TIME, updated_at: TIME } as const;
const user = { id: IDS.user, name: "ada", description: null, ...times };
const agent = { id: IDS.agent, name: "tutor", description: null, ...times };
const session = { id: IDS.session, user_id: IDS.user, agent_id: IDS.agent, name: "monday", ...times };
const message = {
  id: IDS.message,
  session_id: IDS.session,
  round_id: `${IDS.session}:1`,
  role: "user",
  content: "I moved to Lisbon in May.",
  occurred_at: TIME,
  metadata: { channel: "chat" },
  ...times,
} as const;
const knowledge = {
  id: IDS.knowledge,
  user_id: IDS.user,
  content: "Lisbon is the capital of Portugal.",
  metadata: {},
  ...times,
};
const apiKey = {
  id: IDS.key,
  user_id: IDS.user,
  name: "phone",
  permissions: { read: true, write: false },
  created_at: TIME,
  expires_at: null,
};
const newMessage = { role: "user", content: "The number 28 tram stops at my door." } as const;
const chunk = {
  chunk_id: `${IDS.message}:0`,
  content: message.content,
  metadata: {
    user_id: IDS.user,
    session_id: IDS.session,
    round_id: message.round_id,
    message_id: IDS.message,
    borrowed_ids: [],
    part: 0,
    parts: 1,
    start: 0,
    end: 25,
    store_type: "vector",
    created_at: TIME,
  },
} as const;
const chunks = { chunks: [chunk], total_count: 1, session_id: IDS.session, store_type: "vector" };

export const MEMFUSE_EXAMPLES: Examples<typeof MEMFUSE> = {
  memfuseListUsers: { query: { name: "ada" }, data: { users: [user] } },
  memfuseCreateUser: {
    body: { name: "grace", description: "met at the bakery" },
    data: { user: { ...user, id: "u-Hf6dS2kWq9PzM4tC", name: "grace", description: "met at the bakery" } },
  },
  memfuseGetUser: { params: byUser, data: { user } },
  memfuseUpdateUser: {
    params: byUser,
    body: { description: "a baker" },
    data: { user: { ...user, description: "a baker" } },
  },
  memfuseDeleteUser: { params: byUser, data: { user_id: IDS.user } },

  memfuseListAgents: { query: { name: "tutor" }, data: { agents: [agent] } },
  memfuseCreateAgent: {
    body: { name: "planner" },
    data: { agent: { ...agent, id: "a-Lk5jH8gFd2SaQ1wE", name: "planner" } },
  },
  memfuseGetAgent: { params: byAgent, data: { agent } },
  memfuseUpdateAgent: {
    params: byAgent,
    body: { description: "teaches Portuguese" },
    data: { agent: { ...agent, description: "teaches Portuguese" } },
  },
  memfuseDeleteAgent: { params: byAgent, data: { agent_id: IDS.agent } },

  memfuseListSessions: { query: { user_id: IDS.user }, data: { sessions: [session] } },
  memfuseCreateSession: {
    body: { user_id: IDS.user, agent_id: IDS.agent, name: "tuesday" },
    data: { session: { ...session, id: "s-Qw8eR3tYu1IoP6aS", name: "tuesday" } },
  },
  memfuseGetSession: { params: bySession, data: { session } },
  memfuseUpdateSession: {
    params: bySession,
    body: { name: "moving" },
    data: { session: { ...session, name: "moving" } },
  },
  memfuseDeleteSession: { params: bySession, data: { session_id: IDS.session } },

  memfuseListMessages: { params: bySession, query: { limit: "20" }, data: { messages: [message] } },
  memfuseAddMessages: {
    params: bySession,
    body: { messages: [newMessage] },
    data: {
      message_ids: ["019dd1f0-1c00-7a3e-9b7e-5f0a6c1d2e3f"],
      round_id: `${IDS.session}:2`,
      total_messages: 1,
      repeated: false,
    },
  },
  memfuseReadMessages: { params: bySession, body: { message_ids: [IDS.message] }, data: { messages: [message] } },
  memfuseUpdateMessages: {
    params: bySession,
    body: { message_ids: [IDS.message], new_messages: [newMessage] },
    data: { message_ids: [IDS.message] },
  },
  memfuseDeleteMessages: {
    params: bySession,
    body: { message_ids: [IDS.message] },
    data: { message_ids: [IDS.message] },
  },

  memfuseListKnowledge: { params: byUser, data: { knowledge: [knowledge] } },
  memfuseAddKnowledge: {
    params: byUser,
    body: { knowledge: ["Porto is three hours north of Lisbon."] },
    data: { knowledge_ids: ["019dd1f0-1c00-7a3e-9b7e-5f0a6c1d2e3f"], repeated: false },
  },
  memfuseReadKnowledge: { params: byUser, body: { knowledge_ids: [IDS.knowledge] }, data: { knowledge: [knowledge] } },
  memfuseUpdateKnowledge: {
    params: byUser,
    body: { knowledge_ids: [IDS.knowledge], new_knowledge: ["Lisbon has seven hills."] },
    data: { knowledge_ids: [IDS.knowledge] },
  },
  memfuseDeleteKnowledge: {
    params: byUser,
    body: { knowledge_ids: [IDS.knowledge] },
    data: { knowledge_ids: [IDS.knowledge] },
  },

  memfuseQuery: {
    params: byUser,
    body: { query: "Where does Ada live?", session_id: IDS.session, top_k: 5 },
    data: {
      results: [
        {
          id: IDS.message,
          content: message.content,
          score: 0.82,
          type: "message",
          role: "user",
          metadata: {
            user_id: IDS.user,
            agent_id: IDS.agent,
            session_id: IDS.session,
            session_name: "monday",
            scope: "in_session",
            level: 0,
            retrieval: { source: "store", method: "hybrid" },
            source: "store",
          },
          ...times,
        },
      ],
      total: 1,
      partial: false,
    },
  },

  memfuseSessionChunks: { params: bySession, data: chunks },
  memfuseRoundChunks: {
    params: { round_id: message.round_id },
    data: { ...chunks, round_id: message.round_id },
  },
  memfuseChunkStats: {
    query: { user_id: IDS.user },
    data: {
      total_chunks: 1,
      by_store: { vector: { total_chunks: 1 } },
      filters: { user_id: IDS.user, session_id: null, store_type: "all" },
    },
  },

  memfuseListApiKeys: { params: byUser, data: { api_keys: [apiKey] } },
  memfuseCreateApiKey: {
    params: byUser,
    body: { name: "phone", permissions: { write: false } },
    data: { api_key: { ...apiKey, key: `hf_${IDS.key}_QyJ8sVb2kXw0Zt5nRc7mLd1pFg3hTu6eAi9oYq4xWzE` } },
  },
  memfuseDeleteApiKey: { params: { ...byUser, key_id: IDS.key }, data: { key_id: IDS.key } },
  memfuseHealth: { data: { status: "ok", version: "0.1.0" } },
};
