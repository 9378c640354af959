/// <reference lib="esnext.disposable" preserve="true" />
/**
 * Serves a memory on a port. A stopping server answers the requests it has accepted. It acknowledges only durable writes, so
 * killing it loses nothing.
 */
import { createServer, type Server } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { getRequestListener, type Http2Bindings, type HttpBindings } from "@hono/node-server";
import { loadConfig } from "../config.js";
import { HoldfastError } from "../errors.js";
import { type Memory, type OpenOptions, openMemory } from "../memory.js";
import type { CloseReport } from "../stats.js";
import { createApp, type ServerOptions } from "./app.js";
import { asksForKeys, isLoopback } from "./guard.js";
import { ServerLog } from "./log.js";

/** A server that listens. */
export interface RunningServer extends AsyncDisposable {
  /** The address it listens on: http://127.0.0.1:8000 */
  readonly url: string;
  /** The port that it listens on. */
  readonly port: number;
  /** Refuses new requests, answers those in progress, then closes the memory. */
  stop(): Promise<CloseReport>;
}

/** Limit for a request's headers. The body has a minimum rate (body.ts), so Node's own limit on requests is off. */
const HEADERS_MS = 60_000;
/** The longest time in which the client reads nothing of a response. */
const UNREAD_MS = 60_000;
/** How long accepted requests may take once the server stops. */
const DRAIN_MS = 10_000;
const SWEEP_MS = 20;

/**
 * Opens the memory and serves it. Rejects with `config` if the port is taken, or the address needs a key and none exists.
 *
 * @example
 * const server = await serve({ path: "agent.db", server: { port: 8000 } });
 * console.log(server.url);
 * await server.stop();
 */
export async function serve(options: OpenOptions = {}): Promise<RunningServer> {
  const { config, ...code } = options;
  const { server: settings } = loadConfig({ file: config, env: process.env, code });
  const log = new ServerLog(settings.logLevel);
  const memory = await openMemory(options);
  try {
    if (asksForKeys(settings) && !settings.requireKey) await requireSomeKey(memory, settings);
    logAdvice(memory, log);
    const stopping = new AbortController();
    const app = createApp({ memory, options: settings, log, stopping: stopping.signal });
    const answer = async (request: Request, env: HttpBindings | Http2Bindings): Promise<Response> => {
      const response = await app.fetch(request, env);
      env.outgoing.setTimeout(UNREAD_MS); // Node then closes the connection
      // A client that sends requests without a pause must not keep the server from stopping.
      if (stopping.signal.aborted) response.headers.set("connection", "close");
      return response;
    };
    const server = createServer({ headersTimeout: HEADERS_MS, requestTimeout: 0 }, getRequestListener(answer));
    const silent = silentConnections(server);
    await listen(server, settings.port, settings.host);
    const { port } = server.address() as AddressInfo;
    const stop = async (): Promise<CloseReport> => {
      stopping.abort();
      await drain(server, silent);
      return memory.close();
    };
    const url = `http://${settings.host.includes(":") ? `[${settings.host}]` : settings.host}:${port}`;
    return {
      url,
      port,
      stop,
      [Symbol.asyncDispose]: async () => {
        await stop();
      },
    };
  } catch (error) {
    await memory.close();
    throw error;
  }
}

/** Logs once what the installation lacks. It is known when the model has embedded something. */
function logAdvice({ events, service }: Memory, log: ServerLog): void {
  const stop = events.subscribe(({ type }) => {
    if (type !== "transferred") return;
    stop();
    const { embedder } = service.buffers;
    if (embedder?.advice !== undefined) log.advise(embedder.advice);
  });
}

/** Fails if the server requires keys because others can reach it, but no valid key exists. */
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
    hint: "create one first: holdfast key create --access admin; or listen on 127.0.0.1 with no allowed_hosts",
  });
}

function listen(server: Server, port: number, host: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", (cause: NodeJS.ErrnoException) => {
      if (cause.code === "EADDRINUSE") {
        const message = `port ${port} on ${host} is already in use`;
        reject(new HoldfastError("config", message, { hint: `use another: --port ${port + 1}`, cause }));
        return;
      }
      const hint = "use another address or port: --host, --port";
      reject(
        new HoldfastError("config", `cannot listen on ${host}:${port}: ${cause.code ?? cause.message}`, {
          hint,
          cause,
        }),
      );
    });
    server.listen(port, host, () => resolve());
  });
}

/** Connections without a request so far. Clients open some in advance, and Node does not count them as idle. */
function silentConnections(server: Server): ReadonlySet<Socket> {
  const silent = new Set<Socket>();
  server.on("connection", (socket) => {
    silent.add(socket);
    socket.once("close", () => silent.delete(socket));
  });
  server.on("request", ({ socket }) => silent.delete(socket));
  return silent;
}

/** Waits for accepted requests. Connections are closed as soon as they are idle; keep-alive would otherwise delay the end. */
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
