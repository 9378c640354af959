/** Questions to a user's memory, as MemFuse asks them. */
import { z } from "zod";
import { KindSchema, RoleSchema } from "../item.js";
import { operation } from "../operation.js";
import { Name } from "../scope.js";
import { byUser, STORE_TYPES, TAG, Time } from "./fields.js";

const question = z
  .object({
    query: z.string(),
    session_id: Name.nullish().meta({ description: "Who asks: results are tagged in_session or cross_session." }),
    agent_id: Name.nullish().meta({ description: "Only messages exchanged with this agent; knowledge has none." }),
    top_k: z.number().int().min(1).max(1000).default(5),
    store_type: z.enum(STORE_TYPES).nullish().meta({
      description: "keyword: by words · vector: by meaning · hybrid, or left out: by both · graph: 501, there is none.",
    }),
    include_messages: z.boolean().default(true),
    include_knowledge: z.boolean().default(true).meta({ description: "Facts, too, and what overflowed from blocks." }),
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
        description: "Null if no session asks, or if it belongs to none.",
      }),
      level: z.literal(0).meta({ description: "0: what was said, as it was said." }),
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
    tag: TAG,
    summary: "What a user's memory holds on a question, over all sessions, best first.",
    access: "read",
    scope: "none",
    params: byUser,
    body: question,
    data: z.object({
      results: z.array(Result),
      total: z.number().int(),
      partial: z.boolean().meta({ description: "True: some items were searched by words only." }),
      degraded: z.string().exactOptional().meta({ description: "Why it was answered by words alone, if it was." }),
    }),
    status: 200,
  }),
} as const;
