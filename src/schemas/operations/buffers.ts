/** What waits, and how it all fares. */

import { z } from "zod";
import { operation } from "../operation.js";
import { BuffersSchema, FlushReportSchema, ParkedPageSchema, StatsSchema } from "../report.js";
import { ROUTES } from "../routes.js";
import { Name, PageFields } from "../scope.js";

const page = z.strictObject(PageFields);

export const BUFFERS = {
  flush: operation({
    route: ROUTES.flush,
    tag: "Buffers",
    summary: "Answers when all that was added is embedded and written: of the scope's session, or everywhere.",
    access: "write",
    scope: "optional",
    data: FlushReportSchema,
    status: 200,
  }),
  buffers: operation({
    route: ROUTES.buffers,
    tag: "Buffers",
    summary: "The state of the buffers: of one session, or of all.",
    access: "read",
    scope: "optional",
    data: BuffersSchema,
    status: 200,
  }),
  parked: operation({
    route: ROUTES.parked,
    tag: "Buffers",
    summary: "Items that could not be embedded, with the reason. Words find them all the same.",
    access: "read",
    scope: "own",
    query: page,
    data: ParkedPageSchema,
    status: 200,
  }),
  replay: operation({
    route: ROUTES.replay,
    tag: "Buffers",
    summary: "Try again to embed them: these, or all of the space.",
    access: "write",
    scope: "own",
    body: z.strictObject({ ids: z.array(Name).exactOptional() }),
    data: z.object({ replayed: z.number().int() }),
    status: 200,
  }),
  stats: operation({
    route: ROUTES.stats,
    tag: "Operation",
    summary: "Counters, latencies and health of all parts.",
    access: "admin",
    scope: "none",
    data: StatsSchema,
    status: 200,
  }),
} as const;
