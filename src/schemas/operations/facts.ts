/** Operations on facts. */

import { z } from "zod";
import {
  EndFactSchema,
  FactPageSchema,
  FactQuerySchema,
  FactSchema,
  FactsOptionsSchema,
  NewFactSchema,
} from "../fact.js";
import { IdsSchema } from "../item.js";
import { operation } from "../operation.js";
import { ROUTES } from "../routes.js";
import { Name, whole } from "../scope.js";

const identified = z.strictObject({ id: Name });

export const FACTS = {
  upsertFact: operation({
    ...ROUTES.upsertFact,
    tag: "Facts",
    summary: "Record that a fact holds.",
    access: "write",
    scope: "own",
    body: NewFactSchema,
    data: z.object({
      outcome: z.enum(["added", "updated", "unchanged", "revived", "retracted"]),
      fact: FactSchema,
      ended: z.array(z.string()),
    }),
    status: 200,
  }),
  getFacts: operation({
    ...ROUTES.getFacts,
    tag: "Facts",
    summary: "Get facts by id, in any state.",
    access: "read",
    scope: "own",
    body: IdsSchema,
    data: z.array(FactSchema),
    status: 200,
  }),
  listFacts: operation({
    ...ROUTES.listFacts,
    tag: "Facts",
    summary: "List current facts, facts in other states, or facts that held at a given time.",
    access: "read",
    scope: "own",
    body: FactsOptionsSchema,
    data: FactPageSchema,
    status: 200,
  }),
  queryFacts: operation({
    ...ROUTES.queryFacts,
    tag: "Facts",
    summary: "Find the facts that answer a question, best first.",
    access: "read",
    scope: "own",
    body: FactQuerySchema,
    data: z.array(FactSchema),
    status: 200,
  }),
  retractFact: operation({
    ...ROUTES.retractFact,
    tag: "Facts",
    summary: "Retract a fact that was never right.",
    access: "write",
    scope: "own",
    params: identified,
    data: FactSchema,
    status: 200,
  }),
  endFact: operation({
    ...ROUTES.endFact,
    tag: "Facts",
    summary: "End a fact that no longer holds, now or at a given time.",
    access: "write",
    scope: "own",
    params: identified,
    body: EndFactSchema,
    data: FactSchema,
    status: 200,
  }),
  extractFacts: operation({
    ...ROUTES.extractFacts,
    tag: "Facts",
    summary: "Run the extractor on the session's messages since its last run.",
    access: "write",
    scope: "own",
    body: z.strictObject({ limit: whole(1).exactOptional() }),
    data: z.object({
      messages: z.number(),
      facts: z.array(FactSchema),
      refused: z.array(z.object({ why: z.string() })),
    }),
    status: 200,
  }),
} as const;
