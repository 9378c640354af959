/** Operations that stream: export, import, events. */
import { z } from "zod";
import { operation } from "./operation.js";
import { ROUTES } from "./routes.js";
import { Name, SpaceRefSchema } from "./scope.js";

const NDJSON = "application/x-ndjson";

const count = z.number().int();

const ImportReportSchema = z.looseObject({ lines: count, items: count }).meta({ id: "ImportReport" });

export const STREAMS = {
  export: operation({
    ...ROUTES.export,
    tag: "Transfer",
    summary: "Export the scope's space or session, or all spaces, as lines of JSON.",
    description:
      "Lines of type cursor come in between: pass one as `cursor` to resume after an interruption. The last line has type end; without it the export is incomplete.",
    access: "read",
    scope: "optional",
    query: z.strictObject({ cursor: z.string().min(1).exactOptional() }),
    data: z.looseObject({ type: z.string() }),
    status: 200,
    media: { response: NDJSON },
  }),
  import: operation({
    ...ROUTES.import,
    tag: "Transfer",
    summary: "Import the lines of an export, or plain messages into the scope. Importing again adds nothing twice.",
    description:
      "200 means that the file was complete and every line was read. Otherwise `details.line` is the line that is wrong or missing, and `details.report` says what was imported. A key that is bound to agents cannot import edits and promotions of others.",
    access: "write",
    scope: "open",
    query: z.strictObject({
      onConflict: z
        .enum(["stop", "skip"])
        .exactOptional()
        .meta({ description: "What to do with an item that exists with other content. Default: stop." }),
      into: z
        .literal("scope")
        .exactOptional()
        .meta({ description: "Import everything into the scope's space, whatever space the lines name." }),
      id: Name.exactOptional().meta({ description: "An id of your choice, under which `GET /imports` lists it." }),
    }),
    data: ImportReportSchema,
    status: 200,
    media: { request: NDJSON },
  }),
  events: operation({
    ...ROUTES.events,
    tag: "Buffers",
    summary: "Stream events of the buffers (server-sent events): ids and counts, never content.",
    description:
      "With a scope: events of its space, including those of other processes on the same file. Without: events of this server in the spaces that the key covers.",
    access: "read",
    scope: "open",
    data: z
      .looseObject({ type: z.string(), at: z.number(), space: SpaceRefSchema.exactOptional() })
      .meta({ id: "MemoryEvent" }),
    status: 200,
    media: { response: "text/event-stream" },
  }),
} as const;
