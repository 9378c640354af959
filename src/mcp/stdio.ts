/**
 * MCP over stdin and stdout: one client, one scope, one process. It ends with its client: when stdin closes, or when the
 * parent process has ended.
 */
import type { Readable, Writable } from "node:stream";
import type { McpRequestContext, McpServer } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { type Clock, systemClock } from "../clock.js";
import { HoldfastError } from "../errors.js";
import { type BlockChanges, BlockWatch } from "./block-watch.js";
import { IdleCollector } from "./idle-collector.js";
import { watchParent } from "./parent.js";
import { type McpParts, mcpServerOf } from "./server.js";
import { StdioTransport } from "./stdio-transport.js";

export interface StdioParts extends Pick<McpParts, "groups" | "may" | "open"> {
  readonly stdin: Readable;
  readonly stdout: Writable;
  /** Stops the server. */
  readonly signal: AbortSignal;
  /** Errors that are no answer to a request, for stderr. */
  readonly failed: (what: string, error: unknown) => void;
  readonly clock?: Clock;
}

/** A client that calls these wants to be notified of changes. */
const WATCHING = /^(resources\/|subscriptions\/listen$)/;
/** How long to wait at the end for a client that does not read its answers. */
const READ_WITHIN_MS = 1_000;
const FOREVER_MS = 2 ** 31 - 1;

interface Connection {
  readonly server: McpServer;
  readonly era: McpRequestContext["era"];
  /** 2025 era only: in later ones the SDK filters. */
  readonly subscribed: ReadonlySet<string>;
}

/** Resolves when the client has gone or the signal is aborted. */
export async function serveOverStdio(parts: StdioParts): Promise<void> {
  const { groups, may, open, stdin, stdout, signal, failed, clock = systemClock } = parts;
  let connection: Connection | undefined;
  const watch = new BlockWatch({
    blocks: async () => (await open()).session.blocks.list(),
    clock,
    changed: (changes) => connection && tell(connection, changes),
    failed: (error) => failed("looking for changed blocks", error),
  });
  const idle = new IdleCollector(clock);
  const seen = (method: string) => {
    idle.used();
    return WATCHING.test(method) ? watch.start() : undefined;
  };
  const transport = new StdioTransport({ stdin, stdout, seen });
  const handle = serveStdio(
    ({ era }) => {
      const touched = (uris: readonly string[]): void => {
        void watch.look();
        if (connection) tell(connection, { list: false, uris });
      };
      const onFailure = (what: string, error: unknown): unknown => {
        if (!(error instanceof HoldfastError)) failed(what, error);
        return error;
      };
      const server = mcpServerOf({ groups, may, open, subscribes: true, touched, onFailure });
      connection = { server, era, subscribed: keepSubscriptions(server, era) };
      return server;
    },
    { transport, onerror: (error) => failed("reading a message", error) },
  );
  const parent = watchParent(clock);
  // An open stdin keeps the process alive; after its end, requests in progress still have to be answered.
  const awake = setInterval(() => {}, FOREVER_MS);
  const stopped = new Promise<void>((resolve) => {
    signal.addEventListener("abort", () => resolve(), { once: true });
    if (signal.aborted) resolve();
  });
  try {
    await Promise.race([transport.ended, parent.gone, stopped]);
  } finally {
    parent.cancel();
    watch.stop();
    idle.stop();
    await handle.close();
    await letOut(stdout, clock);
    clearInterval(awake);
  }
}

/** In the 2025 era the server keeps the list of a client's subscriptions. */
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

/** A client that does not read its answers must not keep the process alive for ever. It counts as gone. */
async function letOut(stdout: Writable, clock: Clock): Promise<void> {
  if (stdout.writableLength === 0 || stdout.destroyed) return;
  await new Promise<void>((resolve) => {
    const cancel = clock.after(READ_WITHIN_MS, () => {
      stdout.destroy(Object.assign(new Error("the client does not read its answers"), { code: "EPIPE" }));
      resolve();
    });
    stdout.write("", () => {
      cancel(); // everything before it was written, or cannot be
      resolve();
    });
  });
}
