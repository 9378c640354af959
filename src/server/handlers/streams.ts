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
import type { AdmissionControl } from "../admission-control.js";
import { senderOf } from "../attend.js";
import { chunksOf, heldByLine, STREAM_RATE } from "../body.js";
import { eventResponse } from "../event-stream.js";
import type { Imports } from "../imports.js";
import type { ServerLog } from "../log.js";
import { ndjson } from "../ndjson.js";
import { type StreamCaller, whileAuthorized } from "../validity.js";
import { isEmpty } from "./operation.js";

export interface StreamParts {
  readonly admission: AdmissionControl;
  readonly log: ServerLog;
  readonly imports: Imports;
  /** Aborted when the server stops; open streams end. */
  readonly stopping: AbortSignal;
}

type StreamHandlers = {
  readonly [K in keyof typeof STREAMS]: (call: Call<(typeof STREAMS)[K]>, c: Context) => Promise<unknown>;
};

export const streamHandlers = ({ admission, log, imports, stopping }: StreamParts): StreamHandlers => ({
  export: async ({ memory, scope, caller, query: { cursor } }, c) => {
    const signal = AbortSignal.any([stopping, c.req.raw.signal]);
    const { space, session } = isEmpty(scope) ? {} : parseScope(scope);
    const lines = exportLines(memory, {
      signal,
      ...(space && { spaces: [space] }),
      ...(session !== undefined && { session }),
      ...(cursor !== undefined && { cursor }),
    });
    const own = whileAuthorized(lines, streamCallerOf(admission, memory, caller, c));
    return ndjson(own, breaking({ route: STREAMS.export.route, log, signal }, c));
  },
  import: async ({ memory, scope, caller, slot, query: { onConflict, into, id } }, c) => {
    if (into === "scope" && isEmpty(scope)) throw noScope();
    const signer = caller.signer(scope);
    const report = imports.during(caller, id, (tell) => {
      const body = counted(chunksOf(c, memory.service.clock, STREAM_RATE, stopping), (bytes) => tell({ bytes }));
      const sent = heldByLine(body, slot.hold);
      return importLines(memory, splitLines(whileAuthorized(sent, streamCallerOf(admission, memory, caller, c))), {
        ...(!isEmpty(scope) && (into === "scope" ? { into: parseScope(scope).space } : { scope })),
        allow: (space, as) =>
          as === "agent" && "agent" in space ? caller.mayActAs(space.agent) : caller.covers(space),
        ...(signer && { signer }),
        ...(onConflict !== undefined && { onConflict }),
        onProgress: tell,
        signal: AbortSignal.any([stopping, c.req.raw.signal]),
      });
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
      confirm: () => admission.authenticate(senderOf(c)),
      listen: () => slot.listen(),
    }),
});

export const streamCallerOf = (
  admission: AdmissionControl,
  { service: { clock } }: Memory,
  caller: Caller,
  c: Context,
): StreamCaller => ({
  clock,
  caller,
  confirm: () => admission.authenticate(senderOf(c)),
});

interface Stream {
  readonly route: string;
  readonly log: ServerLog;
  readonly signal: AbortSignal;
}

/** Closes the connection in the middle of the response, so that the client notices the truncation. */
export const breaking =
  ({ route, log, signal }: Stream, c: Context) =>
  (error: unknown): void => {
    if (!signal.aborted) log.failed(route, error);
    (c.env as { outgoing?: { destroy(): void } } | undefined)?.outgoing?.destroy();
  };

/** Passes chunks on, and reports the number of bytes so far. */
async function* counted(
  chunks: AsyncIterable<Uint8Array>,
  tell: (bytes: number) => void,
): AsyncGenerator<Uint8Array, void, void> {
  let bytes = 0;
  for await (const chunk of chunks) {
    bytes += chunk.byteLength;
    tell(bytes);
    yield chunk;
  }
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
