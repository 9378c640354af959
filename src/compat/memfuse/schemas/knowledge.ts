/** Knowledge of a user in MemFuse's schema. Here it is indexed, and queries find it. */
import { z } from "zod";
import { MetadataSchema } from "../../../schemas/item.js";
import { operation } from "../../../schemas/operation.js";
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
    retry: "read",
    tag: TAG,
    summary: "List the knowledge of a user, in order of creation.",
    access: "read",
    scope: "none",
    params: byUser,
    query: z.strictObject(pageFields),
    data: z.object({ knowledge: z.array(Knowledge), next }),
    status: 200,
  }),
  memfuseAddKnowledge: operation({
    route: "POST /users/{user_id}/knowledge",
    retry: "key",
    tag: TAG,
    summary: "Add knowledge. It is durable and searchable when the response arrives.",
    access: "write",
    scope: "none",
    params: byUser,
    body: z.object({ knowledge: texts.min(1) }),
    data: knowledgeIds.extend({ repeated: z.boolean() }),
    status: 201,
  }),
  memfuseReadKnowledge: operation({
    route: "POST /users/{user_id}/knowledge/read",
    retry: "read",
    tag: TAG,
    summary: "Get knowledge by id, in the given order; 404 lists missing ids.",
    access: "read",
    scope: "none",
    params: byUser,
    body: someIds,
    data: z.object({ knowledge: z.array(Knowledge) }),
    status: 200,
  }),
  memfuseUpdateKnowledge: operation({
    route: "PUT /users/{user_id}/knowledge",
    retry: "key",
    tag: TAG,
    summary:
      "Replace knowledge, matching ids and new contents by position; 404 if one is missing, and nothing is replaced.",
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
    retry: "noop",
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
