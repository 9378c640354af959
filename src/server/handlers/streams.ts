/** Lines in, lines out, events. */
import type { Context } from "hono";
import { HoldfastError } from "../../errors.js";
import { parseScope } from "../../input/scope.js";
import type { Memory } from "../../memory.js";
import { STREAMS } from "../../schemas/streams.js";
import { exportLines } from "../../transfer/export.js";
import { importLines } from "../../transfer/import.js";
import { splitLines } from "../../transfer/split-lines.js";
import { knockOf } from "../attend.js";
import { chunksIn } from "../body-chunks.js";
import type { Call } from "../call.js";
import type { Caller } from "../caller.js";
import type { Door } from "../door.js";
import { eventResponse } from "../event-stream.js";
import type { ServerLog } from "../log.js";
import { ndjson } from "../ndjson.js";
import { type Standing, whileValid } from "../validity.js";
import { isEmpty } from "./operation.js";

export interface StreamParts {
  readonly door: Door;
  readonly log: ServerLog;
  /** The server stops: what is open ends. */
  readonly stopping: AbortSignal;
}

type StreamHandlers = {
  readonly [K in keyof typeof STREAMS]: (call: Call<(typeof STREAMS)[K]>, c: Context) => Promise<unknown>;
};

export const streamHandlers = ({ door, log, stopping }: StreamParts): StreamHandlers => ({
  export: async ({ memory, scope, caller, query: { cursor } }, c) => {
    const signal = AbortSignal.any([stopping, c.req.raw.signal]);
    const { space, session } = isEmpty(scope) ? {} : parseScope(scope);
    const lines = exportLines(memory, {
      signal,
      ...(space && { spaces: [space] }),
      ...(session !== undefined && { session }),
      ...(cursor !== undefined && { cursor }),
    });
    return ndjson(whileValid(lines, standingOf(door, memory, caller, c)), (error) => {
      if (!signal.aborted) log.failed(STREAMS.export.route, error);
      breakOff(c);
    });
  },
  import: async ({ memory, scope, caller, query: { onConflict, into } }, c) => {
    if (into === "scope" && isEmpty(scope)) throw noScope();
    const chunks = whileValid(chunksIn(c.req.raw.body, stopping), standingOf(door, memory, caller, c));
    const report = importLines(memory, splitLines(chunks), {
      ...(!isEmpty(scope) && (into === "scope" ? { into: parseScope(scope).space } : { scope })),
      allow: (space, as) => (as === "agent" && "agent" in space ? caller.mayActAs(space.agent) : caller.covers(space)),
      ...(onConflict !== undefined && { onConflict }),
      signal: AbortSignal.any([stopping, c.req.raw.signal]),
    });
    return report.catch((error: unknown) => {
      throw stopping.aborted ? stopped(error) : error;
    });
  },
  events: async ({ memory, scope, caller }, c) =>
    eventResponse({
      memory,
      scope,
      caller,
      signal: AbortSignal.any([stopping, c.req.raw.signal]),
      confirm: () => door.recognise(knockOf(c)),
      listen: () => door.listen(),
    }),
});

const standingOf = (door: Door, { service: { clock } }: Memory, caller: Caller, c: Context): Standing => ({
  clock,
  caller,
  confirm: () => door.recognise(knockOf(c)),
});

/** Ends the connection in the midst of the answer. */
function breakOff(c: Context): void {
  (c.env as { outgoing?: { destroy(): void } } | undefined)?.outgoing?.destroy();
}

const stopped = (cause: unknown): HoldfastError =>
  new HoldfastError("closed", "the server stops; a part of the lines may be imported", {
    hint: "import the same lines again: what is there is not added twice",
    cause,
  });

const noScope = (): HoldfastError =>
  new HoldfastError("invalid_input", "into=scope needs a scope", {
    hint: "name it in the query string: ?into=scope&user=ada",
    details: { field: "into" },
  });
