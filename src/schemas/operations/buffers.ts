/** Operations on buffers, and statistics. */

import { z } from "zod";
import { operation } from "../operation.js";
import {
  BufferedSessionsSchema,
  BuffersSchema,
  FlushReportSchema,
  HistoryQuerySchema,
  ParkedPageSchema,
  StatsHistorySchema,
  StatsSchema,
} from "../report.js";
import { ROUTES } from "../routes.js";
import { Name, PageFields } from "../scope.js";

const page = z.strictObject(PageFields);

export const BUFFERS = {
  flush: operation({
    ...ROUTES.flush,
    tag: "Buffers",
    summary: "Wait until everything added is embedded and written, in the scope's session or everywhere.",
    access: "write",
    scope: "optional",
    data: FlushReportSchema,
    status: 200,
  }),
  buffers: operation({
    ...ROUTES.buffers,
    tag: "Buffers",
    summary: "Get the state of the buffers, for one session or in total.",
    access: "read",
    scope: "optional",
    data: BuffersSchema,
    status: 200,
  }),
  parked: operation({
    ...ROUTES.parked,
    tag: "Buffers",
    summary: "List items that could not be embedded, with the reason. Search by words still finds them.",
    access: "read",
    scope: "own",
    query: page,
    data: ParkedPageSchema,
    status: 200,
  }),
  replay: operation({
    ...ROUTES.replay,
    tag: "Buffers",
    summary: "Retry embedding: the given items, or all of the space.",
    access: "write",
    scope: "own",
    body: z.strictObject({ ids: z.array(Name).exactOptional() }),
    data: z.object({ replayed: z.number().int() }),
    status: 200,
  }),
  bufferedSessions: operation({
    ...ROUTES.bufferedSessions,
    tag: "Buffers",
    summary: "List the sessions with items in the RoundBuffer or the HybridBuffer, longest waiting first.",
    access: "read",
    scope: "optional",
    data: BufferedSessionsSchema,
    status: 200,
  }),
  stats: operation({
    ...ROUTES.stats,
    tag: "Operation",
    summary: "Get counters, latencies and health.",
    access: "admin",
    scope: "none",
    data: StatsSchema,
    status: 200,
  }),
  statsHistory: operation({
    ...ROUTES.statsHistory,
    tag: "Operation",
    summary: "Get what was measured in the last hours: rates, latencies, memory and queues, every ten seconds.",
    access: "admin",
    scope: "none",
    query: HistoryQuerySchema,
    data: StatsHistorySchema,
    status: 200,
  }),
} as const;
