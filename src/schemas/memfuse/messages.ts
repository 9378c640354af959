/** Messages of a session, as MemFuse has them. */
import { z } from "zod";
import { MetadataSchema, NewMessageSchema, RoleSchema } from "../item.js";
import { operation } from "../operation.js";
import { bySession, Ids, order, TAG, Time, upTo100 } from "./fields.js";

const Message = z
  .object({
    id: z.string(),
    session_id: z.string(),
    round_id: z.string().meta({ description: "Of the messages that came in the same call." }),
    role: RoleSchema,
    name: z.string().exactOptional(),
    content: z.string(),
    occurred_at: Time.meta({ description: "When it was said." }),
    created_at: Time.meta({ description: "When it was added." }),
    updated_at: Time,
    metadata: MetadataSchema,
  })
  .meta({ id: "MemFuseMessage" });
export type MemFuseMessage = z.output<typeof Message>;

/** MemFuse's `{role, content}`, and all that a message of ours may have. */
const newMessage = z
  .object(NewMessageSchema.shape)
  .meta({ id: "MemFuseNewMessage", description: "{role, content}, and optionally what NewMessage has." });

const messages = z.object({ messages: z.array(Message) });
const messageIds = z.object({ message_ids: z.array(z.string()) });
const someIds = z.object({ message_ids: Ids }).meta({ id: "MemFuseMessageIds" });

export const MEMFUSE_MESSAGES = {
  memfuseListMessages: operation({
    route: "GET /sessions/{session_id}/messages",
    tag: TAG,
    summary: "Messages of a session.",
    access: "read",
    scope: "none",
    params: bySession,
    query: z.strictObject({
      limit: upTo100,
      sort_by: z.enum(["timestamp", "id"]).default("timestamp").meta({
        description: "timestamp: when they were said · id: the order in which they came.",
      }),
      order,
      buffer_only: z
        .stringbool({ truthy: ["true"], falsy: ["false"] })
        .default(false)
        .meta({ description: "true: only what waits to be embedded." }),
    }),
    data: messages,
    status: 200,
  }),
  memfuseAddMessages: operation({
    route: "POST /sessions/{session_id}/messages",
    tag: TAG,
    summary: "Add messages: one round. When it answers they are durable and searchable.",
    access: "write",
    scope: "none",
    params: bySession,
    body: z.object({ messages: z.array(newMessage).min(1) }),
    data: z.object({
      message_ids: z.array(z.string()),
      round_id: z.string(),
      total_messages: z.number().int().meta({ description: "How many this call has added." }),
      repeated: z.boolean().meta({ description: "True: this was a retry, and nothing new was written." }),
    }),
    status: 201,
    idempotent: true,
  }),
  memfuseReadMessages: operation({
    route: "POST /sessions/{session_id}/messages/read",
    tag: TAG,
    summary: "Messages by id, in the order asked for; 404 names those that are missing.",
    access: "read",
    scope: "none",
    params: bySession,
    body: someIds,
    data: messages,
    status: 200,
  }),
  memfuseUpdateMessages: operation({
    route: "PUT /sessions/{session_id}/messages",
    tag: TAG,
    summary: "Edit messages, each by the new one in its place; 404 if one is missing, and nothing is edited.",
    access: "write",
    scope: "none",
    params: bySession,
    body: z
      .object({ message_ids: Ids, new_messages: z.array(newMessage) })
      .refine(({ message_ids, new_messages }) => message_ids.length === new_messages.length, {
        path: ["new_messages"],
        message: "There must be one for each of message_ids",
      }),
    data: messageIds,
    status: 200,
  }),
  memfuseDeleteMessages: operation({
    route: "DELETE /sessions/{session_id}/messages",
    tag: TAG,
    summary: "Forget messages by id; 404 if one is missing, and nothing is forgotten.",
    access: "write",
    scope: "none",
    params: bySession,
    body: someIds,
    data: messageIds,
    status: 200,
  }),
} as const;
