/** Operations that stream: lines in, lines out, events. */
import { z } from "zod";
import { operation } from "./operation.js";
import { ROUTES } from "./routes.js";
import { SpaceRefSchema } from "./scope.js";

const NDJSON = "application/x-ndjson";

export const STREAMS = {
  export: operation({
    route: ROUTES.export,
    tag: "Transfer",
    summary: "Everything of the scope's space (or session), or of all spaces, as lines of JSON.",
    description:
      "A line of type cursor comes now and then: give it back as `cursor` to go on after an interruption. The last line has type end; without it something is missing.",
    access: "read",
    scope: "optional",
    query: z.strictObject({ cursor: z.string().min(1).exactOptional() }),
    data: z.looseObject({ type: z.string() }),
    status: 200,
    media: { response: NDJSON },
  }),
  import: operation({
    route: ROUTES.import,
    tag: "Transfer",
    summary: "Lines as `export` gives them, or plain messages for the scope. Repeated, it adds nothing twice.",
    access: "write",
    scope: "open",
    query: z.strictObject({
      onConflict: z
        .enum(["stop", "skip"])
        .exactOptional()
        .meta({ description: "What an item that is there with other content does; stop if left out." }),
      into: z
        .literal("scope")
        .exactOptional()
        .meta({ description: "Put all that the lines hold into the scope's space, whatever space they name." }),
    }),
    data: z.looseObject({ lines: z.number().int(), complete: z.boolean() }).meta({ id: "ImportReport" }),
    status: 200,
    media: { request: NDJSON },
  }),
  events: operation({
    route: ROUTES.events,
    tag: "Buffers",
    summary: "What moves through the buffers, as it happens (server-sent events): ids and counts, never content.",
    description:
      "With a scope: its space, other processes on the same file included. Without: all that this server does in the spaces that the key covers.",
    access: "read",
    scope: "open",
    data: z
      .looseObject({ type: z.string(), at: z.number(), space: SpaceRefSchema.exactOptional() })
      .meta({ id: "MemoryEvent" }),
    status: 200,
    media: { response: "text/event-stream" },
  }),
} as const;
