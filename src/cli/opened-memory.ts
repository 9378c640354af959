/** OpenedMemory: a memory as commands use it, in a file or behind a server. */
import type { ApiKeys } from "../keys/api-keys.js";
import type { MemoryHandle } from "../memory.js";
import type { ImportReport, OnConflict } from "../transfer/report.js";
import type { Scope } from "../types.js";
import { type FilePlace, type Need, openFile, type Place, type ServerPlace } from "./place.js";
import { spaceOf } from "./scope-flags.js";

export interface ExportRequest {
  /** Default: everything. */
  readonly scope?: Scope;
  readonly cursor?: string;
  readonly signal: AbortSignal;
}

export interface ImportRequest {
  readonly scope: Scope;
  readonly onConflict?: OnConflict;
  readonly signal: AbortSignal;
}

export interface OpenedMemory {
  readonly handle: MemoryHandle;
  readonly keys: Pick<ApiKeys, "create" | "list" | "revoke">;
  /** Events in the scope's space from now on, by any process. */
  events(scope: Scope, signal: AbortSignal): AsyncIterable<{ readonly type: string }>;
  /** Lines of JSON. */
  export(request: ExportRequest): AsyncIterable<string>;
  import(lines: AsyncIterable<string>, request: ImportRequest): Promise<ImportReport>;
  /** What this installation lacks, if the command has found out. */
  readonly advice: string | undefined;
  close(): Promise<void>;
}

export function openMemoryAt(place: Place, need: Need): Promise<OpenedMemory> {
  return place.kind === "file" ? openedFile(place, need) : openedServer(place);
}

async function openedFile(place: FilePlace, need: Need): Promise<OpenedMemory> {
  const memory = await openFile(place, need);
  return {
    handle: memory,
    keys: memory.keys,
    events: (scope, signal) => memory.events.stream({ spaces: [spaceOf(scope)], signal }),
    export: async function* ({ scope, ...request }) {
      const { exportLines } = await import("../transfer/export.js");
      const { session } = scope ?? {};
      const part = scope && { spaces: [spaceOf(scope)], ...(session !== undefined && { session }) };
      yield* exportLines(memory, { ...part, ...request });
    },
    import: async (lines, request) => {
      const { importLines } = await import("../transfer/import.js");
      return importLines(memory, lines, request);
    },
    get advice() {
      return memory.service.buffers.embedder?.advice;
    },
    close: async () => void (await memory.close()),
  };
}

async function openedServer({ url, key }: ServerPlace): Promise<OpenedMemory> {
  const { connect } = await import("../client/index.js");
  const memory = connect(url, key === undefined ? {} : { key });
  return {
    handle: memory,
    keys: memory.keys,
    events: (scope, signal) => memory.events({ scope, signal }),
    export: (request) => memory.export(request),
    import: (lines, request) => memory.import(lines, request),
    advice: undefined, // the server says it
    close: () => memory.close(),
  };
}
