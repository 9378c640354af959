/**
 * The HTTP application: every operation of the schemas with its handler, plus /mcp, the system routes and the dashboard. It
 * runs on any runtime that Hono supports; `serve` (serve.ts) binds it to a port.
 */
import { Hono } from "hono";
import { Registry } from "prom-client";
import { memfuseHandlers } from "../compat/memfuse/handlers.js";
import { HoldfastError } from "../errors.js";
import type { Memory } from "../memory.js";
import { Sampler } from "../metrics/history.js";
import { Metrics } from "../metrics/metrics.js";
import type { ResolvedOptions } from "../options.js";
import { type Operation, partsOf } from "../schemas/operation.js";
import { VERSION } from "../version.js";
import { AdmissionControl } from "./admission-control.js";
import { failure } from "./answer.js";
import { allowReading, senderOf } from "./attend.js";
import { Dashboard, isForBrowser } from "./dashboard.js";
import { type AnyHandler, dispatch } from "./dispatch.js";
import { asksForKeys, Guard } from "./guard.js";
import { itemHandlers, recallHandlers } from "./handlers/items.js";
import { bufferHandlers, keyHandlers } from "./handlers/operation.js";
import { registryHandlers } from "./handlers/registry.js";
import { streamHandlers } from "./handlers/streams.js";
import { upkeepHandlers } from "./handlers/upkeep.js";
import { blockHandlers, factHandlers, pointHandlers, sharingHandlers } from "./handlers/working-memory.js";
import { Imports } from "./imports.js";
import { KeyRing } from "./key-ring.js";
import { ServerLog } from "./log.js";
import { addMcpRoute } from "./mcp/route.js";
import { openApiOf } from "./openapi.js";
import { ALL_EXAMPLES, ALL_OPERATIONS } from "./operations.js";
import { addSystemRoutes } from "./system.js";
import { Traffic } from "./traffic.js";

/** The options of the server. */
export type ServerOptions = ResolvedOptions["server"];

/** The parts of a server. */
export interface AppParts {
  /** The memory that it serves. */
  readonly memory: Memory;
  /** The options of the server. */
  readonly options: ServerOptions;
  /** Where failures are reported. Never content, names or keys. */
  readonly log?: ServerLog;
  /** Aborted when the server stops; open streams end. */
  readonly stopping?: AbortSignal;
}

export const PREFIX = "/api/v1";

const METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE"] as const;

/** The HTTP server as a Hono application, to mount in a server of your own. */
export function createApp({ memory, options, log = new ServerLog(options.logLevel), ...more }: AppParts): Hono {
  const { stopping = new AbortController().signal } = more;
  const keys = new KeyRing(memory.keys, asksForKeys(options));
  const guard = new Guard({
    host: options.host,
    allowedHosts: listOf(options.allowedHosts),
    allowedOrigins: listOf(options.allowedOrigins),
  });
  const { maxRequests, maxBodyBytes, ratePerSecond } = options;
  const admission = new AdmissionControl({ guard, keys, maxRequests, maxBodyBytes, ratePerSecond });
  const registry = new Registry();
  const traffic = new Traffic(admission, registry);
  const metrics = new Metrics(memory, registry);
  const sampler = new Sampler(memory);
  const end = (): void => {
    metrics.close();
    sampler.stop();
  };
  stopping.addEventListener("abort", end, { once: true });
  const parts = { memory, admission, log, traffic, maxBodyBytes };
  const streamParts = { admission, log, imports: new Imports(), stopping };
  const app = new Hono({ strict: false });

  const handlers = {
    ...itemHandlers,
    ...recallHandlers,
    ...blockHandlers,
    ...factHandlers,
    ...pointHandlers,
    ...sharingHandlers,
    ...bufferHandlers(sampler),
    ...registryHandlers,
    ...keyHandlers,
    ...streamHandlers(streamParts),
    ...upkeepHandlers({ ...streamParts, options }),
    ...memfuseHandlers,
  } satisfies { readonly [name in keyof typeof ALL_OPERATIONS]: unknown };

  for (const [name, operation] of plainFirst(entriesOf(ALL_OPERATIONS))) {
    const { method, path } = partsOf(operation.route);
    app.on(method, pathOf(path), dispatch(parts, operation, handlers[name] as unknown as AnyHandler));
  }

  addMcpRoute(app, { ...parts, stopping });
  const dashboard = new Dashboard(admission);
  dashboard.addRoutes(app);
  const described = { operations: ALL_OPERATIONS, examples: ALL_EXAMPLES, prefix: PREFIX, version: VERSION };
  addSystemRoutes(app, { memory, admission, registry, describe: () => openApiOf(described) });
  app.options("*", (c) => {
    try {
      const origin = admission.checkOrigin(senderOf(c));
      const response = new Response(null, { status: 204 });
      if (origin === undefined) return response;
      allowReading(response, origin);
      response.headers.set("access-control-allow-methods", METHODS.join(", "));
      response.headers.set(
        "access-control-allow-headers",
        "Authorization, Content-Type, Idempotency-Key, Last-Event-ID, Mcp-Protocol-Version, Mcp-Method, Mcp-Name, Mcp-Session-Id, Holdfast-User, Holdfast-Agent, Holdfast-Team, Holdfast-Session, Holdfast-Space",
      );
      response.headers.set("access-control-max-age", "600");
      return response;
    } catch (error) {
      return failure(error);
    }
  });
  app.notFound((c) => {
    if (isForBrowser(c)) return dashboard.answer(c);
    const { path, method } = c.req;
    const allowed = METHODS.filter((other) => app.router.match(other, path)[0].length > 0);
    if (allowed.length === 0) return failure(noRoute(path));
    const response = failure(noMethod(method, path, allowed), 405);
    response.headers.set("allow", allowed.join(", "));
    return response;
  });
  app.onError((error) => {
    log.failed("(unknown)", error);
    return failure(error);
  });
  return app;
}

const entriesOf = (table: typeof ALL_OPERATIONS) => Object.entries(table) as [keyof typeof ALL_OPERATIONS, Operation][];

/** Hono takes the first route that matches, so `/registry/sessions` must come before `/registry/{kind}`. */
const plainFirst = <T>(entries: readonly (readonly [T, Operation])[]) =>
  entries.toSorted(([, one], [, other]) => Number(one.route.includes("{")) - Number(other.route.includes("{")));

/** Converts `{name}` to Hono's `:name`. */
const pathOf = (path: string): string => PREFIX + path.replaceAll(/\{(\w+)\}/g, ":$1");

const listOf = (text: string | undefined): readonly string[] => (text ? text.split(",") : []);

const noRoute = (path: string): HoldfastError =>
  new HoldfastError("not_found", `no such route: ${path.slice(0, 100)}`, { hint: "GET /docs lists all routes" });

const noMethod = (method: string, path: string, allowed: readonly string[]): HoldfastError =>
  new HoldfastError("not_found", `no such route: ${method.slice(0, 20)} ${path.slice(0, 100)}`, {
    hint: `this path supports ${allowed.join(", ")}; GET /docs lists all routes`,
  });
