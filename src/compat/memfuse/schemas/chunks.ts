/** Chunks in MemFuse's schema: the pieces of messages that have vectors. */
import { z } from "zod";
import { operation } from "../../../schemas/operation.js";
import { Name } from "../../../schemas/scope.js";
import { bySession, order, STORE_TYPES, TAG, Time, upTo100 } from "./fields.js";

const Chunk = z
  .object({
    chunk_id: z.string(),
    content: z.string(),
    metadata: z.object({
      user_id: z.string(),
      session_id: z.string().nullable(),
      round_id: z.string().nullable(),
      message_id: z.string(),
      borrowed_ids: z.array(z.string()).meta({ description: "Other messages whose text was embedded with it." }),
      part: z.number().int().meta({ description: "Index of the piece within the message, from 0." }),
      parts: z.number().int(),
      start: z.number().int().meta({ description: "Start of the piece in the message, in UTF-16 units." }),
      end: z.number().int(),
      store_type: z.literal("vector"),
      created_at: Time,
    }),
  })
  .meta({ id: "MemFuseChunk" });
export type MemFuseChunk = z.output<typeof Chunk>;

const storeType = z
  .enum(STORE_TYPES)
  .exactOptional()
  .meta({ description: "Chunks have vectors. Words are indexed for whole messages, so keyword has no chunks." });

const query = z.strictObject({
  limit: upTo100,
  sort_by: z.enum(["created_at", "chunk_id", "strategy"]).default("created_at").meta({
    description: "strategy: there is only one, so this is the same as created_at.",
  }),
  order,
  store_type: storeType,
});

const chunks = z.object({
  chunks: z.array(Chunk),
  total_count: z.number().int().meta({ description: "Total number, including those beyond the limit." }),
  session_id: z.string(),
  store_type: z.string(),
});
const total = z.object({ total_chunks: z.number().int() });

export const MEMFUSE_CHUNKS = {
  memfuseSessionChunks: operation({
    route: "GET /sessions/{session_id}/chunks",
    retry: "read",
    tag: TAG,
    summary: "List the written chunks of a session.",
    access: "read",
    scope: "none",
    params: bySession,
    query,
    data: chunks,
    status: 200,
  }),
  memfuseRoundChunks: operation({
    route: "GET /rounds/{round_id}/chunks",
    retry: "read",
    tag: TAG,
    summary: "List the chunks of one round, the messages added in one call.",
    access: "read",
    scope: "none",
    params: z.strictObject({ round_id: Name }),
    query,
    data: chunks.extend({ round_id: z.string() }),
    status: 200,
  }),
  memfuseChunkStats: operation({
    route: "GET /chunks/stats",
    retry: "read",
    tag: TAG,
    summary: "Count the chunks of a user or a session.",
    access: "read",
    scope: "none",
    query: z.strictObject({ user_id: Name, session_id: Name.exactOptional(), store_type: storeType }),
    data: z.object({
      total_chunks: z.number().int(),
      by_store: z.object({ vector: total.exactOptional(), keyword: total.exactOptional() }),
      filters: z.object({ user_id: z.string(), session_id: z.string().nullable(), store_type: z.string() }),
    }),
    status: 200,
  }),
} as const;
