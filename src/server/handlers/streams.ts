/** Handlers for export, import and events. */
import type { Context } from "hono";
import type { Call } from "../../calls/call.js";
import type { Caller } from "../../calls/caller.js";
import { HoldfastError } from "../../errors.js";
import { parseScope } from "../../input/scope.js";
import type { Memory } from "../../memory.js";
import { STREAMS } from "../../schemas/streams.js";
import { exportLines } from "../../transfer/export.js";
import { importLines } from "../../transfer/import.js";
import { splitLines } from "../../transfer/split-lines.js";
import { senderOf } from "../attend.js";
import { chunksOf, heldByLine, STREAM_PACE } from "../body.js";
import type { Door } from "../door.js";
import { eventResponse } from "../event-stream.js";
import type { ServerLog } from "../log.js";
import { ndjson } from "../ndjson.js";
import { type StreamCaller, whileAuthorized } from "../validity.js";
import { isEmpty } from "./operation.js";

export interface StreamParts {
  readonly door: Door;
  readonly log: ServerLog;
  /** Aborted when the server stops; open streams end. */
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
    return ndjson(whileAuthorized(lines, streamCallerOf(door, memory, caller, c)), (error) => {
      if (!signal.aborted) log.failed(STREAMS.export.route, error);
      breakOff(c);
    });
  },
  import: async ({ memory, scope, caller, slot, query: { onConflict, into } }, c) => {
    if (into === "scope" && isEmpty(scope)) throw noScope();
    const sent = heldByLine(chunksOf(c, memory.service.clock, STREAM_PACE, stopping), slot.hold);
    const lines = splitLines(whileAuthorized(sent, streamCallerOf(door, memory, caller, c)));
    const signer = caller.signer(scope);
    const report = importLines(memory, lines, {
      ...(!isEmpty(scope) && (into === "scope" ? { into: parseScope(scope).space } : { scope })),
      allow: (space, as) => (as === "agent" && "agent" in space ? caller.mayActAs(space.agent) : caller.covers(space)),
      ...(signer && { signer }),
      ...(onConflict !== undefined && { onConflict }),
      signal: AbortSignal.any([stopping, c.req.raw.signal]),
    });
    return report.catch((error: unknown) => {
      throw stopping.aborted ? stopped(error) : error;
    });
  },
  events: async ({ memory, scope, caller, slot }, c) =>
    eventResponse({
      memory,
      scope,
      caller,
      signal: AbortSignal.any([stopping, c.req.raw.signal]),
      confirm: () => door.authenticate(senderOf(c)),
      listen: () => slot.listen(),
    }),
});

const streamCallerOf = (door: Door, { service: { clock } }: Memory, caller: Caller, c: Context): StreamCaller => ({
  clock,
  caller,
  confirm: () => door.authenticate(senderOf(c)),
});

/** Closes the connection in the middle of the response, so that the client notices the truncation. */
function breakOff(c: Context): void {
  (c.env as { outgoing?: { destroy(): void } } | undefined)?.outgoing?.destroy();
}

const stopped = (cause: unknown): HoldfastError =>
  new HoldfastError("closed", "the server is shutting down; some of the lines may have been imported", {
    hint: "import the same lines again; those already imported are not added twice",
    cause,
  });

const noScope = (): HoldfastError =>
  new HoldfastError("invalid_input", "into=scope needs a scope", {
    hint: "add the scope to the query string: ?into=scope&user=ada",
    details: { field: "into" },
  });
