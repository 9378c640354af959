/**
 * Serve: a memory on a port. It answers what it has accepted before it stops, and acknowledges nothing that is not durable,
 * so it can be ended in any way without loss.
 */
import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { getRequestListener } from "@hono/node-server";
import { loadConfig } from "../config.js";
import { HoldfastError } from "../errors.js";
import { type Memory, type OpenOptions, openMemory } from "../memory.js";
import type { CloseReport } from "../reports.js";
import { createApp, PREFIX, type ServerOptions } from "./app.js";
import { asksForKeys, isLoopback } from "./guard.js";
import { ServerLog } from "./log.js";

export interface RunningServer {
  /** Where it listens: http://127.0.0.1:8000 */
  readonly url: string;
  readonly port: number;
  /** Takes no more requests, answers those it has, then closes the memory. */
  stop(): Promise<CloseReport>;
}

/** How long a request's headers may take to come, and the whole of it. Of an import: how long nothing may come of it. */
const HEADERS_MS = 60_000;
const WHOLE_MS = 300_000;
/** How long requests that were accepted may take when the server stops. */
const DRAIN_MS = 10_000;
const SWEEP_MS = 20;

/** Opens the memory and serves it. Rejects with `config` if the port is taken or the address needs a key that is not there. */
export async function serve(options: OpenOptions = {}): Promise<RunningServer> {
  const { config, ...code } = options;
  const { server: settings } = loadConfig({ file: config, env: process.env, code });
  const log = new ServerLog(settings.logLevel);
  const memory = await openMemory(options);
  try {
    if (asksForKeys(settings) && !settings.requireKey) await requireSomeKey(memory, settings);
    const stopping = new AbortController();
    const app = createApp({ memory, options: settings, log, stopping: stopping.signal });
    const answer = async (request: Request, env: object): Promise<Response> => {
      const response = await app.fetch(request, env);
      // The last one on its connection: whoever sends without a pause must not keep a server from stopping.
      if (stopping.signal.aborted) response.headers.set("connection", "close");
      return response;
    };
    const listener = getRequestListener(answer);
    const server = createServer({ headersTimeout: HEADERS_MS, requestTimeout: 0 }, (incoming, outgoing) => {
      limitTime(incoming);
      return listener(incoming, outgoing);
    });
    const silent = silentConnections(server);
    await listen(server, settings.port, settings.host);
    const { port } = server.address() as AddressInfo;
    const url = `http://${settings.host.includes(":") ? `[${settings.host}]` : settings.host}:${port}`;
    return {
      url,
      port,
      stop: async () => {
        stopping.abort();
        await drain(server, silent);
        return memory.close();
      },
    };
  } catch (error) {
    await memory.close();
    throw error;
  }
}

/**
 * Half a request must not keep its place for ever. Imports are streams, and take as long as they take, so that Node's own
 * limit, which knows no exceptions, is off.
 */
function limitTime(incoming: IncomingMessage): void {
  if (incoming.url?.startsWith(`${PREFIX}/import`)) {
    incoming.setTimeout(WHOLE_MS, () => incoming.destroy());
    return;
  }
  const { "content-length": length, "transfer-encoding": encoding } = incoming.headers;
  if (length === undefined && encoding === undefined) return;
  const late = setTimeout(() => {
    if (!incoming.complete) incoming.destroy();
  }, WHOLE_MS).unref();
  incoming.once("close", () => clearTimeout(late));
}

/** Where others can reach it nobody gets in without a key; a server to which nobody has a valid one is a mistake. */
async function requireSomeKey({ keys, service: { clock } }: Memory, { host }: ServerOptions): Promise<void> {
  let cursor: string | undefined;
  do {
    const page = await keys.list(cursor === undefined ? {} : { cursor });
    if (page.items.some(({ revokedAt, expiresAt = Infinity }) => revokedAt === undefined && expiresAt > clock.now()))
      return;
    cursor = page.next;
  } while (cursor !== undefined);
  const how = isLoopback(host)
    ? "allowed_hosts lets others call the server"
    : `${host} can be reached from other machines`;
  throw new HoldfastError("config", `${how}, and there is no API key yet`, {
    hint: "make one first: holdfast key create --access admin; or listen at 127.0.0.1, under no other name",
  });
}

function listen(server: Server, port: number, host: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", (cause: NodeJS.ErrnoException) => {
      if (cause.code === "EADDRINUSE") {
        const message = `port ${port} at ${host} is taken by another program`;
        reject(new HoldfastError("config", message, { hint: `choose another: --port ${port + 1}`, cause }));
        return;
      }
      const hint = "choose another address or port: --host, --port";
      reject(
        new HoldfastError("config", `cannot listen at ${host}:${port}: ${cause.code ?? cause.message}`, {
          hint,
          cause,
        }),
      );
    });
    server.listen(port, host, () => resolve());
  });
}

/** Connections on which nothing was asked yet. Clients open some in advance, and Node does not count them as idle. */
function silentConnections(server: Server): ReadonlySet<Socket> {
  const silent = new Set<Socket>();
  server.on("connection", (socket) => {
    silent.add(socket);
    socket.once("close", () => silent.delete(socket));
  });
  server.on("request", ({ socket }) => silent.delete(socket));
  return silent;
}

/** Answers what was accepted. A connection is closed as soon as it waits for nothing, or keep-alive would hold up the end. */
function drain(server: Server, silent: ReadonlySet<Socket>): Promise<void> {
  return new Promise((resolve) => {
    const sweep = setInterval(() => {
      server.closeIdleConnections();
      for (const socket of silent) socket.destroy();
    }, SWEEP_MS);
    const late = setTimeout(() => server.closeAllConnections(), DRAIN_MS);
    server.close(() => {
      clearInterval(sweep);
      clearTimeout(late);
      resolve();
    });
    server.closeIdleConnections();
  });
}
