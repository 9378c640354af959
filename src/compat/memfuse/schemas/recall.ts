/** Queries in MemFuse's schema. */
import { z } from "zod";
import { KindSchema, RoleSchema } from "../../../schemas/item.js";
import { operation } from "../../../schemas/operation.js";
import { Name } from "../../../schemas/scope.js";
import { AgentId, byUser, STORE_TYPES, TAG, Time } from "./fields.js";

const question = z
  .object({
    query: z.string(),
    session_id: Name.nullish().meta({
      description: "The asking session; results are tagged in_session or cross_session.",
    }),
    agent_id: AgentId.nullish().meta({ description: "Only messages exchanged with this agent; knowledge has none." }),
    top_k: z.number().int().min(1).max(1000).default(5),
    store_type: z.enum(STORE_TYPES).nullish().meta({
      description: "keyword: by words · vector: by meaning · hybrid (default): by both · graph: 501, not supported.",
    }),
    include_messages: z.boolean().default(true),
    include_knowledge: z.boolean().default(true).meta({ description: "Includes facts and the overflow of blocks." }),
  })
  .meta({ id: "MemFuseQuery" });

const Result = z
  .object({
    id: z.string(),
    content: z.string(),
    score: z.number(),
    type: KindSchema,
    role: RoleSchema.nullable(),
    created_at: Time,
    updated_at: Time,
    metadata: z.object({
      user_id: z.string(),
      agent_id: z.string().nullable(),
      session_id: z.string().nullable(),
      session_name: z.string().nullable(),
      scope: z.enum(["in_session", "cross_session"]).nullable().meta({
        description: "Null if no session asks, or if the item belongs to none.",
      }),
      level: z.literal(0).meta({ description: "0: verbatim messages." }),
      retrieval: z.object({
        source: z.enum(["round_buffer", "hybrid_buffer", "store"]),
        method: z.enum(["keyword", "vector", "hybrid"]),
      }),
      source: z.enum(["round_buffer", "hybrid_buffer", "store"]),
    }),
  })
  .meta({ id: "MemFuseResult" });
export type MemFuseResult = z.output<typeof Result>;

export const MEMFUSE_RECALL = {
  memfuseQuery: operation({
    route: "POST /users/{user_id}/query",
    retry: "read",
    tag: TAG,
    summary: "Search a user's memory over all sessions, best hits first.",
    access: "read",
    scope: "none",
    params: byUser,
    body: question,
    data: z.object({
      results: z.array(Result),
      total: z.number().int(),
      partial: z.boolean().meta({ description: "True if some items were searched by words only." }),
      degraded: z.string().exactOptional().meta({ description: "Why it was answered by words only, if it was." }),
    }),
    status: 200,
  }),
} as const;
