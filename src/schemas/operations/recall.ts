/** Operations for recall: query, context and ledger. */

import { z } from "zod";
import { operation } from "../operation.js";
import { ContextOptionsSchema, ContextSchema, HitsSchema, LedgerSchema, QuerySchema } from "../query.js";
import { ROUTES } from "../routes.js";

export const RECALL = {
  query: operation({
    ...ROUTES.query,
    tag: "Recall",
    summary: "Search the space, best hits first.",
    access: "read",
    scope: "own",
    body: QuerySchema,
    data: HitsSchema,
    status: 200,
  }),
  anticipate: operation({
    ...ROUTES.anticipate,
    tag: "Recall",
    summary: "Announce what the user is typing, so that its answer can be ready when it is asked.",
    access: "read",
    scope: "own",
    body: QuerySchema,
    data: z.null(),
    status: 200,
  }),
  context: operation({
    ...ROUTES.context,
    tag: "Recall",
    summary:
      "Assemble the context for the model's next turn, within a token budget, and record it in the session's ledger.",
    access: "write",
    scope: "own",
    body: ContextOptionsSchema,
    data: ContextSchema,
    status: 200,
  }),
  previewContext: operation({
    ...ROUTES.previewContext,
    tag: "Recall",
    summary: "Assemble a context without recording it (`dryRun`).",
    access: "read",
    scope: "own",
    body: ContextOptionsSchema,
    data: ContextSchema,
    status: 200,
  }),
  ledger: operation({
    ...ROUTES.ledger,
    tag: "Recall",
    summary: "Get the ledger: what the model's window contains.",
    access: "read",
    scope: "own",
    data: LedgerSchema,
    status: 200,
  }),
  windowReset: operation({
    ...ROUTES.windowReset,
    tag: "Recall",
    summary: "Clear the ledger, for example after a compaction.",
    access: "write",
    scope: "own",
    data: z.null(),
    status: 200,
  }),
} as const;
