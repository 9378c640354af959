/**
 * MCP over stdin and stdout: one client, one scope, one process. It ends when the client does: stdin is closed, or the
 * process that started it has gone.
 */
import type { Readable, Writable } from "node:stream";
import type { McpRequestContext, McpServer } from "@modelcontextprotocol/server";
import { StdioServerTransport, serveStdio } from "@modelcontextprotocol/server/stdio";
import { type Clock, systemClock } from "../clock.js";
import { type BlockChanges, BlockWatch } from "./block-watch.js";
import { type McpParts, mcpServerOf } from "./server.js";
import { Wire } from "./wire.js";

export interface StdioParts extends Pick<McpParts, "groups" | "may" | "open"> {
  readonly stdin: Readable;
  readonly stdout: Writable;
  /** Ends it from this side. */
  readonly signal: AbortSignal;
  /** What went wrong and is no answer to anybody, for stderr. */
  readonly failed: (what: string, error: unknown) => void;
  readonly clock?: Clock;
}

const PARENT_EVERY_MS = 2_000;
/** Whoever asks for these wants to know when they change. */
const WATCHING = /^(resources\/|subscriptions\/listen$)/;
/** One message of a client. More than any text that can be saved. */
const MESSAGE_BYTES_MAX = 32 * 1024 * 1024;

interface Connection {
  readonly server: McpServer;
  readonly era: McpRequestContext["era"];
  /** Of the 2025 era: later ones filter by themselves. */
  readonly subscribed: ReadonlySet<string>;
}

/** Resolves when the client has gone, or the signal said so. */
export async function serveOverStdio(parts: StdioParts): Promise<void> {
  const { groups, may, open, stdin, stdout, signal, failed, clock = systemClock } = parts;
  let connection: Connection | undefined;
  const watch = new BlockWatch({
    blocks: async () => (await open()).session.blocks.list(),
    clock,
    changed: (changes) => connection && tell(connection, changes),
    failed: (error) => failed("looking for changed blocks", error),
  });
  const transport = new StdioServerTransport(stdin, stdout, { maxBufferSize: MESSAGE_BYTES_MAX });
  const wire = new Wire(transport, (method) => {
    return WATCHING.test(method) ? watch.start() : undefined;
  });
  const handle = serveStdio(
    ({ era }) => {
      const touched = (uris: readonly string[]): void => {
        void watch.look();
        if (connection) tell(connection, { list: false, uris });
      };
      const server = mcpServerOf({ groups, may, open, subscribes: true, touched, onFailure: failed });
      connection = { server, era, subscribed: keepSubscriptions(server, era) };
      return server;
    },
    { transport: wire, onerror: (error) => failed("reading a message", error) },
  );
  const orphaned = watchParent(clock);
  const stopped = new Promise<void>((resolve) => {
    signal.addEventListener("abort", () => resolve(), { once: true });
    if (signal.aborted) resolve();
  });
  try {
    await Promise.race([wire.ended, orphaned.promise, stopped]);
  } finally {
    orphaned.cancel();
    watch.stop();
    await handle.close();
  }
}

/** In the 2025 era the server keeps the list of what a client wants to be told of. */
function keepSubscriptions({ server }: McpServer, era: McpRequestContext["era"]): ReadonlySet<string> {
  const uris = new Set<string>();
  if (era !== "legacy") return uris;
  server.setRequestHandler("resources/subscribe", ({ params }) => {
    uris.add(params.uri);
    return {};
  });
  server.setRequestHandler("resources/unsubscribe", ({ params }) => {
    uris.delete(params.uri);
    return {};
  });
  return uris;
}

function tell({ server, era, subscribed }: Connection, { list, uris }: BlockChanges): void {
  if (!server.isConnected()) return;
  if (list) server.sendResourceListChanged();
  for (const uri of uris) {
    if (era === "modern" || subscribed.has(uri)) void server.server.sendResourceUpdated({ uri });
  }
}

/** Most ends of a parent close stdin; not if somebody else holds the other side of the pipe. */
function watchParent(clock: Clock): { readonly promise: Promise<void>; cancel(): void } {
  const parent = process.ppid;
  let cancel = (): void => {};
  const promise = new Promise<void>((resolve) => {
    const look = (): void => {
      if (process.ppid === parent) cancel = clock.after(PARENT_EVERY_MS, look);
      else resolve();
    };
    cancel = clock.after(PARENT_EVERY_MS, look);
  });
  return { promise, cancel: () => cancel() };
}
