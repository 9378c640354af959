/** Knowledge of a user, as MemFuse has it; here it is indexed, and found by queries. */
import { z } from "zod";
import { MetadataSchema } from "../item.js";
import { operation } from "../operation.js";
import { byUser, Ids, next, pageFields, TAG, Time } from "./fields.js";

const Knowledge = z
  .object({
    id: z.string(),
    user_id: z.string(),
    content: z.string(),
    created_at: Time,
    updated_at: Time,
    metadata: MetadataSchema,
  })
  .meta({ id: "MemFuseKnowledge" });
export type MemFuseKnowledge = z.output<typeof Knowledge>;

const texts = z.array(z.string().min(1));
const knowledgeIds = z.object({ knowledge_ids: z.array(z.string()) });
const someIds = z.object({ knowledge_ids: Ids }).meta({ id: "MemFuseKnowledgeIds" });

export const MEMFUSE_KNOWLEDGE = {
  memfuseListKnowledge: operation({
    route: "GET /users/{user_id}/knowledge",
    tag: TAG,
    summary: "Knowledge of a user, in the order in which it came.",
    access: "read",
    scope: "none",
    params: byUser,
    query: z.strictObject(pageFields),
    data: z.object({ knowledge: z.array(Knowledge), next }),
    status: 200,
  }),
  memfuseAddKnowledge: operation({
    route: "POST /users/{user_id}/knowledge",
    tag: TAG,
    summary: "Add knowledge. When it answers it is durable and searchable.",
    access: "write",
    scope: "none",
    params: byUser,
    body: z.object({ knowledge: texts.min(1) }),
    data: knowledgeIds.extend({ repeated: z.boolean() }),
    status: 201,
    idempotent: true,
  }),
  memfuseReadKnowledge: operation({
    route: "POST /users/{user_id}/knowledge/read",
    tag: TAG,
    summary: "Knowledge by id, in the order asked for; 404 names what is missing.",
    access: "read",
    scope: "none",
    params: byUser,
    body: someIds,
    data: z.object({ knowledge: z.array(Knowledge) }),
    status: 200,
  }),
  memfuseUpdateKnowledge: operation({
    route: "PUT /users/{user_id}/knowledge",
    tag: TAG,
    summary: "Replace knowledge, each by the new one in its place; 404 if one is missing, and nothing is replaced.",
    access: "write",
    scope: "none",
    params: byUser,
    body: z
      .object({ knowledge_ids: Ids, new_knowledge: texts })
      .refine(({ knowledge_ids, new_knowledge }) => knowledge_ids.length === new_knowledge.length, {
        path: ["new_knowledge"],
        message: "There must be one for each of knowledge_ids",
      }),
    data: knowledgeIds,
    status: 200,
  }),
  memfuseDeleteKnowledge: operation({
    route: "DELETE /users/{user_id}/knowledge",
    tag: TAG,
    summary: "Forget knowledge by id; 404 if one is missing, and nothing is forgotten.",
    access: "write",
    scope: "none",
    params: byUser,
    body: someIds,
    data: knowledgeIds,
    status: 200,
  }),
} as const;
