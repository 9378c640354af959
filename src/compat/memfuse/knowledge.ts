/** Knowledge of a user. */

import { type Handlers, keyed } from "../../calls/call.js";
import type { Session } from "../../session.js";
import type { Item } from "../../types.js";
import { allOf, userById } from "./lookup.js";
import type { MEMFUSE_KNOWLEDGE } from "./schemas/knowledge.js";
import { knowledgeView } from "./view.js";

export const memfuseKnowledgeHandlers: Handlers<typeof MEMFUSE_KNOWLEDGE> = {
  memfuseListKnowledge: async (call) => {
    const { id, name } = await userById(call, call.params.user_id);
    const { items, ...page } = await call.memory
      .session({ user: name })
      .list({ kind: "knowledge", order: "asc", ...call.query });
    return { knowledge: items.map((item) => knowledgeView(item, id)), ...page };
  },
  memfuseAddKnowledge: async (call) => {
    const { body, idempotencyKey } = call;
    const { name } = await userById(call, call.params.user_id);
    const { ids, repeated } = await call.memory.session({ user: name }).addItems(
      body.knowledge.map((content) => ({ kind: "knowledge", content })),
      keyed(idempotencyKey),
    );
    return { knowledge_ids: [...ids], repeated };
  },
  memfuseReadKnowledge: async (call) => {
    const { id, name } = await userById(call, call.params.user_id);
    const items = await knowledgeOf(call.memory.session({ user: name }), call.body.knowledge_ids);
    return { knowledge: items.map((item) => knowledgeView(item, id)) };
  },
  memfuseUpdateKnowledge: async (call) => {
    const { knowledge_ids, new_knowledge } = call.body;
    const { name } = await userById(call, call.params.user_id);
    const session = call.memory.session({ user: name });
    await knowledgeOf(session, knowledge_ids);
    for (const [at, content] of new_knowledge.entries())
      await session.update(knowledge_ids[at] ?? "", { content }, keyed(call.idempotencyKey, at));
    return { knowledge_ids };
  },
  memfuseDeleteKnowledge: async (call) => {
    const { knowledge_ids } = call.body;
    const { name } = await userById(call, call.params.user_id);
    const session = call.memory.session({ user: name });
    await knowledgeOf(session, knowledge_ids);
    await session.delete(knowledge_ids);
    return { knowledge_ids };
  },
};

/** These knowledge items. Throws if one is missing. */
async function knowledgeOf(session: Session, ids: readonly string[]): Promise<readonly Item[]> {
  const items = await session.get(ids);
  return allOf(
    items.filter(({ kind }) => kind === "knowledge"),
    ids,
    "knowledge_ids",
  );
}
