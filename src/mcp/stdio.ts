/**
 * MCP over stdin and stdout: one client, one scope, one process. It ends when the client does: stdin is closed, or the
 * process that started it has gone.
 */
import type { Readable, Writable } from "node:stream";
import type { McpRequestContext, McpServer } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { type Clock, systemClock } from "../clock.js";
import { type BlockChanges, BlockWatch } from "./block-watch.js";
import { watchParent } from "./parent.js";
import { type McpParts, mcpServerOf } from "./server.js";
import { SpareMemory } from "./spare-memory.js";
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

/** Whoever asks for these wants to know when they change. */
const WATCHING = /^(resources\/|subscriptions\/listen$)/;
/** How long the last answers wait for a client that does not read. */
const READ_WITHIN_MS = 1_000;
const FOREVER_MS = 2 ** 31 - 1;

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
  const spare = new SpareMemory(clock);
  const seen = (method: string) => {
    spare.used();
    return WATCHING.test(method) ? watch.start() : undefined;
  };
  const wire = new Wire({ stdin, stdout, seen });
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
  const parent = watchParent(clock);
  // An open stdin keeps the process alive; when it has ended, what is under way still has to be answered.
  const awake = setInterval(() => {}, FOREVER_MS);
  const stopped = new Promise<void>((resolve) => {
    signal.addEventListener("abort", () => resolve(), { once: true });
    if (signal.aborted) resolve();
  });
  try {
    await Promise.race([wire.ended, parent.gone, stopped]);
  } finally {
    parent.cancel();
    watch.stop();
    spare.stop();
    await handle.close();
    await letOut(stdout, clock);
    clearInterval(awake);
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

/** A client that does not read its answers must not keep the process for ever. To others it looks as if it had gone. */
async function letOut(stdout: Writable, clock: Clock): Promise<void> {
  if (stdout.writableLength === 0 || stdout.destroyed) return;
  await new Promise<void>((resolve) => {
    const cancel = clock.after(READ_WITHIN_MS, () => {
      stdout.destroy(Object.assign(new Error("nobody reads the answers"), { code: "EPIPE" }));
      resolve();
    });
    stdout.write("", () => {
      cancel(); // all before it is out, or cannot be
      resolve();
    });
  });
}
