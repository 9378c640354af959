/** A valid request to every operation of MemFuse, and invalid ones. */
import type { Caller } from "../../server/started.js";
import type { DataOf, DialectName } from "./dialect.js";

/** A memory as MemFuse sees it: one id of each kind. */
export interface Place {
  readonly name: string;
  readonly user_id: string;
  readonly agent_id: string;
  readonly session_id: string;
  readonly round_id: string;
  readonly message_id: string;
  readonly knowledge_id: string;
  readonly key_id: string;
}

export interface Sample {
  readonly params?: { readonly [name: string]: string };
  readonly query?: { readonly [name: string]: string };
  readonly body?: unknown;
}

/** Everything in it contains the marker. `admin` may do everything. */
export async function makePlace(admin: Caller, name: string, marker = "plain"): Promise<Place> {
  const post = <Name extends DialectName>(path: string, body: unknown) =>
    admin.data<DataOf<Name>>(`POST /api/v1${path}`, { body });
  const description = `about ${marker}`;
  const { user } = await post<"memfuseCreateUser">("/users", { name, description });
  const { agent } = await post<"memfuseCreateAgent">("/agents", { name: `${name}-bot`, description });
  const { session } = await post<"memfuseCreateSession">("/sessions", {
    user_id: user.id,
    agent_id: agent.id,
    name: `${marker} talk`,
  });
  const added = await post<"memfuseAddMessages">(`/sessions/${session.id}/messages`, {
    messages: [{ role: "user", content: `I moved to ${marker} in May.`, metadata: { marker } }],
  });
  const { knowledge_ids } = await post<"memfuseAddKnowledge">(`/users/${user.id}/knowledge`, {
    knowledge: [`${marker} is by the sea.`],
  });
  const { api_key } = await post<"memfuseCreateApiKey">(`/users/${user.id}/api-keys`, { name: marker });
  return {
    name,
    user_id: user.id,
    agent_id: agent.id,
    session_id: session.id,
    round_id: added.round_id,
    message_id: added.message_ids[0] ?? "",
    knowledge_id: knowledge_ids[0] ?? "",
    key_id: api_key.id,
  };
}

const NOBODY = "01900000-0000-7000-8000-000000000000";

/** The same with unknown ids. */
export const nowhere = (place: Place): Place => ({
  name: `not ${place.name}`,
  user_id: NOBODY,
  agent_id: NOBODY,
  session_id: NOBODY,
  round_id: `${NOBODY}:1`,
  message_id: NOBODY,
  knowledge_id: NOBODY,
  key_id: NOBODY,
});

const ofUser = ({ user_id }: Place) => ({ params: { user_id } });
const ofAgent = ({ agent_id }: Place) => ({ params: { agent_id } });
const ofSession = ({ session_id }: Place) => ({ params: { session_id } });
const said = [{ role: "assistant", content: "So you live by the sea now." }];

export const MEMFUSE_SAMPLES: { readonly [name in DialectName]: (place: Place) => Sample } = {
  memfuseListUsers: ({ name }) => ({ query: { name } }),
  memfuseCreateUser: ({ name }) => ({ body: { name: `${name} junior`, description: null } }),
  memfuseGetUser: ofUser,
  memfuseUpdateUser: (place) => ({ ...ofUser(place), body: { name: null, description: "a friend" } }),
  memfuseDeleteUser: ofUser,

  memfuseListAgents: ({ name }) => ({ query: { name: `${name}-bot` } }),
  memfuseCreateAgent: ({ name }) => ({ body: { name: `${name}-bot 2` } }),
  memfuseGetAgent: ofAgent,
  memfuseUpdateAgent: (place) => ({ ...ofAgent(place), body: { name: `${place.name}-bot 3` } }),
  memfuseDeleteAgent: ofAgent,

  memfuseListSessions: ({ user_id, agent_id }) => ({ query: { user_id, agent_id } }),
  memfuseCreateSession: ({ user_id, agent_id }) => ({ body: { user_id, agent_id, name: "second talk" } }),
  memfuseGetSession: ofSession,
  memfuseUpdateSession: (place) => ({ ...ofSession(place), body: { name: "renamed" } }),
  memfuseDeleteSession: ofSession,

  memfuseListMessages: (place) => ({
    ...ofSession(place),
    query: { limit: "10", sort_by: "id", order: "asc", buffer_only: "false" },
  }),
  memfuseAddMessages: (place) => ({ ...ofSession(place), body: { messages: said } }),
  memfuseReadMessages: (place) => ({ ...ofSession(place), body: { message_ids: [place.message_id] } }),
  memfuseUpdateMessages: (place) => ({
    ...ofSession(place),
    body: { message_ids: [place.message_id], new_messages: said },
  }),
  memfuseDeleteMessages: (place) => ({ ...ofSession(place), body: { message_ids: [place.message_id] } }),

  memfuseListKnowledge: ofUser,
  memfuseAddKnowledge: (place) => ({ ...ofUser(place), body: { knowledge: ["Figs grow on trees."] } }),
  memfuseReadKnowledge: (place) => ({ ...ofUser(place), body: { knowledge_ids: [place.knowledge_id] } }),
  memfuseUpdateKnowledge: (place) => ({
    ...ofUser(place),
    body: { knowledge_ids: [place.knowledge_id], new_knowledge: ["Figs are sweet."] },
  }),
  memfuseDeleteKnowledge: (place) => ({ ...ofUser(place), body: { knowledge_ids: [place.knowledge_id] } }),

  memfuseQuery: (place) => ({
    ...ofUser(place),
    body: { query: "What happened in May?", session_id: place.session_id, agent_id: place.agent_id, top_k: 3 },
  }),

  memfuseSessionChunks: (place) => ({ ...ofSession(place), query: { limit: "5", store_type: "hybrid" } }),
  memfuseRoundChunks: ({ round_id }) => ({ params: { round_id }, query: { sort_by: "chunk_id" } }),
  memfuseChunkStats: ({ user_id, session_id }) => ({ query: { user_id, session_id } }),

  memfuseListApiKeys: ofUser,
  memfuseCreateApiKey: (place) => ({ ...ofUser(place), body: { name: "laptop", permissions: { write: false } } }),
  memfuseDeleteApiKey: ({ user_id, key_id }) => ({ params: { user_id, key_id } }),

  memfuseHealth: () => ({}),
};

/** Invalid values, each in place of a sample's. */
export const MEMFUSE_MISTAKES: { readonly [name in DialectName]: readonly Pick<Sample, "query" | "body">[] } = {
  memfuseListUsers: [{ query: { name: "" } }, { query: { limit: "0" } }, { query: { cursor: "" } }],
  memfuseCreateUser: [{ body: {} }, { body: { name: "" } }, { body: { name: 7 } }, { body: "{" }, { body: [] }],
  memfuseGetUser: [{ query: { name: "x" } }],
  memfuseUpdateUser: [{ body: { name: "" } }, { body: { description: 7 } }],
  memfuseDeleteUser: [{ query: { force: "true" } }],
  memfuseListAgents: [{ query: { name: "" } }, { query: { limit: "many" } }],
  memfuseCreateAgent: [{ body: { description: "x" } }, { body: { name: "a\0b" } }],
  memfuseGetAgent: [{ query: { x: "" } }],
  memfuseUpdateAgent: [{ body: { name: ["x"] } }],
  memfuseDeleteAgent: [{ query: { x: "" } }],
  memfuseListSessions: [{ query: { user_id: "" } }, { query: { user: "ada" } }],
  memfuseCreateSession: [{ body: {} }, { body: { user_id: "x" } }],
  memfuseGetSession: [{ query: { x: "" } }],
  memfuseUpdateSession: [{ body: { name: "" } }, { body: { name: "a\u0000b" } }],
  memfuseDeleteSession: [{ query: { x: "" } }],
  memfuseListMessages: [
    { query: { limit: "0" } },
    { query: { limit: "ten" } },
    { query: { limit: "1.5" } },
    { query: { sort_by: "role" } },
    { query: { order: "up" } },
    { query: { buffer_only: "maybe" } },
  ],
  memfuseAddMessages: [
    { body: {} },
    { body: { messages: [] } },
    { body: { messages: "hello" } },
    { body: { messages: [{ role: "user" }] } },
    { body: { messages: [{ role: "narrator", content: "x" }] } },
    { body: { messages: [{ role: "user", content: null }] } },
    { body: { messages: [{ role: "user", content: "x", metadata: "y" }] } },
  ],
  memfuseReadMessages: [{ body: {} }, { body: { message_ids: "x" } }, { body: { message_ids: [""] } }],
  memfuseUpdateMessages: [{ body: {} }, { body: { message_ids: ["x"], new_messages: [] } }],
  memfuseDeleteMessages: [{ body: {} }, { body: { message_ids: [7] } }],
  memfuseListKnowledge: [{ query: { limit: "1001" } }, { query: { cursor: "made up" } }],
  memfuseAddKnowledge: [{ body: {} }, { body: { knowledge: [] } }, { body: { knowledge: [""] } }],
  memfuseReadKnowledge: [{ body: { knowledge_ids: null } }],
  memfuseUpdateKnowledge: [{ body: { knowledge_ids: ["x"], new_knowledge: ["y", "z"] } }],
  memfuseDeleteKnowledge: [{ body: {} }],
  memfuseQuery: [
    { body: {} },
    { body: { query: "x", top_k: 0 } },
    { body: { query: "x", top_k: 1001 } },
    { body: { query: "x", store_type: "table" } },
    { body: { query: "x", include_messages: "yes" } },
  ],
  memfuseSessionChunks: [{ query: { limit: "-1" } }, { query: { sort_by: "role" } }, { query: { store_type: "x" } }],
  memfuseRoundChunks: [{ query: { order: "up" } }],
  memfuseChunkStats: [{ query: {} }],
  memfuseListApiKeys: [{ query: { limit: "0" } }],
  memfuseCreateApiKey: [
    { body: { key: "my own secret" } },
    { body: { user_id: "another" } },
    { body: { permissions: { admin: true } } },
    { body: { expires_at: "yesterday" } },
    { body: { expires_at: "2001-01-01" } },
  ],
  memfuseDeleteApiKey: [{ query: { x: "" } }],
  memfuseHealth: [{ query: { x: "" } }],
};
