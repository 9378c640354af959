/** What is known. */

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
import { Name } from "../scope.js";

const identified = z.strictObject({ id: Name });

export const FACTS = {
  upsertFact: operation({
    route: ROUTES.upsertFact,
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
    route: ROUTES.getFacts,
    tag: "Facts",
    summary: "Facts by id, whether they hold or not.",
    access: "read",
    scope: "own",
    body: IdsSchema,
    data: z.array(FactSchema),
    status: 200,
  }),
  listFacts: operation({
    route: ROUTES.listFacts,
    tag: "Facts",
    summary: "Those that hold, or in other states, or that held at a time.",
    access: "read",
    scope: "own",
    body: FactsOptionsSchema,
    data: FactPageSchema,
    status: 200,
  }),
  queryFacts: operation({
    route: ROUTES.queryFacts,
    tag: "Facts",
    summary: "The facts that a question is about, best first.",
    access: "read",
    scope: "own",
    body: FactQuerySchema,
    data: z.array(FactSchema),
    status: 200,
  }),
  retractFact: operation({
    route: ROUTES.retractFact,
    tag: "Facts",
    summary: "It was never right.",
    access: "write",
    scope: "own",
    params: identified,
    data: FactSchema,
    status: 200,
  }),
  endFact: operation({
    route: ROUTES.endFact,
    tag: "Facts",
    summary: "It holds no longer: from now on, or from then.",
    access: "write",
    scope: "own",
    params: identified,
    body: EndFactSchema,
    data: FactSchema,
    status: 200,
  }),
  extractFacts: operation({
    route: ROUTES.extractFacts,
    tag: "Facts",
    summary: "Have the extractor read what was said in the session since the last time.",
    access: "write",
    scope: "own",
    body: z.strictObject({ limit: z.number().int().min(1).exactOptional() }),
    data: z.object({
      messages: z.number(),
      facts: z.array(FactSchema),
      refused: z.array(z.object({ why: z.string() })),
    }),
    status: 200,
  }),
} as const;
