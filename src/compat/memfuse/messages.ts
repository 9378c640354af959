/** Messages of a session. */

import { type Handlers, keyed } from "../../calls/call.js";
import type { Session } from "../../session.js";
import type { Item } from "../../types.js";
import { type Asking, allOf, sessionById, type UserSession } from "./lookup.js";
import { LIMIT_MAX } from "./schemas/fields.js";
import type { MEMFUSE_MESSAGES } from "./schemas/messages.js";
import { messageView, roundId } from "./view.js";

export const memfuseMessageHandlers: Handlers<typeof MEMFUSE_MESSAGES> = {
  memfuseListMessages: async (call) => {
    const entry = await sessionById(call, call.params.session_id);
    const { limit, sort_by, order, buffer_only } = call.query;
    const { items } = await handleOf(call, entry).list({
      kind: "message",
      limit: Math.min(limit, LIMIT_MAX),
      sortBy: sort_by === "id" ? "arrival" : "timestamp",
      order,
      bufferOnly: buffer_only,
    });
    return { messages: items.map((item) => messageView(item, entry.id)) };
  },
  memfuseAddMessages: async (call) => {
    const { caller, body, idempotencyKey } = call;
    const entry = await sessionById(call, call.params.session_id);
    if (entry.agent !== undefined) caller.requireAgent(entry.agent);
    const { ids, sequences, repeated } = await handleOf(call, entry).add(body.messages, keyed(idempotencyKey));
    return {
      message_ids: [...ids],
      round_id: roundId(entry.id, sequences[0] ?? 0),
      total_messages: repeated ? 0 : ids.length,
      repeated,
    };
  },
  memfuseReadMessages: async (call) => {
    const entry = await sessionById(call, call.params.session_id);
    const items = await messagesOf(handleOf(call, entry), entry, call.body.message_ids);
    return { messages: items.map((item) => messageView(item, entry.id)) };
  },
  memfuseUpdateMessages: async (call) => {
    const { message_ids, new_messages } = call.body;
    const entry = await sessionById(call, call.params.session_id);
    const session = handleOf(call, entry);
    await messagesOf(session, entry, message_ids);
    for (const [at, { id: _id, ...patch }] of new_messages.entries())
      await session.update(message_ids[at] ?? "", patch, keyed(call.idempotencyKey, at));
    return { message_ids };
  },
  memfuseDeleteMessages: async (call) => {
    const { message_ids } = call.body;
    const entry = await sessionById(call, call.params.session_id);
    const session = handleOf(call, entry);
    await messagesOf(session, entry, message_ids);
    await session.delete(message_ids);
    return { message_ids };
  },
};

function handleOf({ memory }: Asking, { space, name, agent }: UserSession): Session {
  return memory.session({ ...space, session: name, ...(agent !== undefined && { agent }) });
}

/** These messages of the session. Throws if one is missing. */
async function messagesOf(session: Session, { id }: UserSession, ids: readonly string[]): Promise<readonly Item[]> {
  const items = await session.get(ids);
  const own = items.filter(({ kind, sessionId }) => kind === "message" && sessionId === id);
  return allOf(own, ids, "message_ids");
}
