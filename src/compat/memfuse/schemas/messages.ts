/** Messages of a session in MemFuse's schema. */
import { z } from "zod";
import { MetadataSchema, NewMessageSchema, RoleSchema } from "../../../schemas/item.js";
import { operation } from "../../../schemas/operation.js";
import { bySession, Ids, order, TAG, Time, upTo100 } from "./fields.js";

const Message = z
  .object({
    id: z.string(),
    session_id: z.string(),
    round_id: z.string().meta({ description: "Shared by the messages of one call." }),
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

/** MemFuse's `{role, content}`, plus our optional fields. */
const newMessage = z
  .object(NewMessageSchema.shape)
  .meta({ id: "MemFuseNewMessage", description: "{role, content}, and optionally the other fields of NewMessage." });

const messages = z.object({ messages: z.array(Message) });
const messageIds = z.object({ message_ids: z.array(z.string()) });
const someIds = z.object({ message_ids: Ids }).meta({ id: "MemFuseMessageIds" });

export const MEMFUSE_MESSAGES = {
  memfuseListMessages: operation({
    route: "GET /sessions/{session_id}/messages",
    retry: "read",
    tag: TAG,
    summary: "List the messages of a session.",
    access: "read",
    scope: "none",
    params: bySession,
    query: z.strictObject({
      limit: upTo100,
      sort_by: z.enum(["timestamp", "id"]).default("timestamp").meta({
        description: "timestamp: by time · id: by order of creation.",
      }),
      order,
      buffer_only: z
        .stringbool({ truthy: ["true"], falsy: ["false"] })
        .default(false)
        .meta({ description: "true: only messages that are not embedded yet." }),
    }),
    data: messages,
    status: 200,
  }),
  memfuseAddMessages: operation({
    route: "POST /sessions/{session_id}/messages",
    retry: "key",
    tag: TAG,
    summary: "Add messages as one round. They are durable and searchable when the response arrives.",
    access: "write",
    scope: "none",
    params: bySession,
    body: z.object({ messages: z.array(newMessage).min(1) }),
    data: z.object({
      message_ids: z.array(z.string()),
      round_id: z.string(),
      total_messages: z.number().int().meta({ description: "Number of messages added by this call." }),
      repeated: z.boolean().meta({ description: "True if this was a retry and nothing was written." }),
    }),
    status: 201,
  }),
  memfuseReadMessages: operation({
    route: "POST /sessions/{session_id}/messages/read",
    retry: "read",
    tag: TAG,
    summary: "Get messages by id, in the given order; 404 lists missing ids.",
    access: "read",
    scope: "none",
    params: bySession,
    body: someIds,
    data: messages,
    status: 200,
  }),
  memfuseUpdateMessages: operation({
    route: "PUT /sessions/{session_id}/messages",
    retry: "key",
    tag: TAG,
    summary: "Edit messages, matching ids and new contents by position; 404 if one is missing, and nothing is edited.",
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
    retry: "noop",
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
