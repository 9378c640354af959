/** What is asked, and what stands in a model's window. */

import { z } from "zod";
import { operation } from "../operation.js";
import { ContextOptionsSchema, ContextSchema, HitsSchema, LedgerSchema, QuerySchema } from "../query.js";
import { ROUTES } from "../routes.js";

export const RECALL = {
  query: operation({
    route: ROUTES.query,
    tag: "Recall",
    summary: "Find what the space holds on a question, best first.",
    access: "read",
    scope: "own",
    body: QuerySchema,
    data: HitsSchema,
    status: 200,
  }),
  context: operation({
    route: ROUTES.context,
    tag: "Recall",
    summary: "What the model is given before its next turn, within a token budget; noted in the session's ledger.",
    access: "write",
    scope: "own",
    body: ContextOptionsSchema,
    data: ContextSchema,
    status: 200,
  }),
  previewContext: operation({
    route: ROUTES.previewContext,
    tag: "Recall",
    summary: "The same, and nothing is noted (`dryRun`).",
    access: "read",
    scope: "own",
    body: ContextOptionsSchema,
    data: ContextSchema,
    status: 200,
  }),
  ledger: operation({
    route: ROUTES.ledger,
    tag: "Recall",
    summary: "What stands in the window of the session's model.",
    access: "read",
    scope: "own",
    data: LedgerSchema,
    status: 200,
  }),
  windowReset: operation({
    route: ROUTES.windowReset,
    tag: "Recall",
    summary: "The window is empty again, after a compaction for instance.",
    access: "write",
    scope: "own",
    data: z.null(),
    status: 200,
  }),
} as const;
