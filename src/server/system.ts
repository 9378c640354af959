/** System routes: health, metrics, API description. They are outside /api/v1, where tools expect them. */
import type { Context, Hono } from "hono";
import type { Registry } from "prom-client";
import type { Memory } from "../memory.js";
import { type Readiness, readiness } from "../metrics/readiness.js";
import type { AdmissionControl } from "./admission-control.js";
import { failure } from "./answer.js";
import { allowReading, senderOf } from "./attend.js";
import { isForBrowser } from "./dashboard.js";
import { isAddress } from "./guard.js";
import type { OpenApi } from "./openapi.js";

export interface SystemParts {
  readonly memory: Memory;
  readonly admission: AdmissionControl;
  readonly registry: Registry;
  /** Called on first use: it takes longer than the rest of the start. */
  readonly describe: () => OpenApi;
}

type Show = (c: Context) => Response | Promise<Response>;

export function addSystemRoutes(app: Hono, { memory, admission, registry, describe }: SystemParts): void {
  const description = new Description(describe);
  const show = (path: string, answer: Show): void => {
    app.get(path, async (c) => {
      let origin: string | undefined;
      let response: Response;
      try {
        origin = admission.checkOrigin(senderOf(c));
        response = await answer(c);
      } catch (error) {
        response = failure(error);
      }
      if (origin !== undefined) allowReading(response, origin);
      return response;
    });
  };
  /** As `show`. A health probe by IP address gets the status alone, even if its Host is not allowed. */
  const showHealth = (path: string, answer: Show): void => {
    app.get(path, async (c, next) => {
      const sender = senderOf(c);
      if (sender.origin !== undefined || !isAddress(sender.host) || admission.allowsHost(sender)) return next();
      return new Response(null, { status: (await answer(c)).status, headers: { "cache-control": "no-store" } });
    });
    show(path, answer);
  };
  showHealth("/health", () => json({ status: "ok" }));
  showHealth("/health/live", () => json({ status: "ok" }));
  showHealth("/health/ready", async (c) => {
    const state = await readiness(memory);
    const caller = await admission.authenticate(senderOf(c)).catch(() => undefined);
    return json(caller?.isAdmin ? state : withoutQueue(state), state.ready ? 200 : 503);
  });
  show("/metrics", async (c) => {
    (await admission.admit(senderOf(c))).require("admin");
    return new Response(await registry.metrics(), { headers: { "content-type": registry.contentType } });
  });
  show("/openapi.json", () => new Response(description.text, { headers: JSON_HEADERS }));
  // A browser gets the dashboard, which has a page for the API.
  app.get("/docs", (c, next) => (isForBrowser(c) ? c.notFound() : next()));
  show("/docs", () => new Response(description.routes, { headers: TEXT_HEADERS }));
}

/** Hides the queue length, which reveals how much others write, from callers without an admin key. */
function withoutQueue({ ready, checks: { queue: _, ...checks } }: Readiness): Readiness {
  return { ready, checks };
}

/** The API description as JSON and as a list of routes, each made once: anyone may request them any number of times. */
class Description {
  readonly #describe: () => OpenApi;
  #api: OpenApi | undefined;
  #text: string | undefined;
  #routes: string | undefined;

  constructor(describe: () => OpenApi) {
    this.#describe = describe;
  }

  get text(): string {
    this.#text ??= JSON.stringify(this.#made);
    return this.#text;
  }

  get routes(): string {
    this.#routes ??= routesOf(this.#made);
    return this.#routes;
  }

  get #made(): OpenApi {
    this.#api ??= this.#describe();
    return this.#api;
  }
}

/** Every route by its tag, for those who read it in a terminal. */
function routesOf({ paths }: OpenApi): string {
  const groups = new Map<string, string[]>();
  for (const [path, methods] of Object.entries(paths)) {
    for (const [method, { tags, summary }] of Object.entries(methods)) {
      const [tag = ""] = tags;
      const line = `${`${method.toUpperCase()} ${path}`.padEnd(ROUTE_WIDTH)}  ${summary}`;
      groups.set(tag, [...(groups.get(tag) ?? [tag]), line]);
    }
  }
  return `${[ABOUT, ...[...groups.values()].map((lines) => lines.join("\n"))].join("\n\n")}\n`;
}

const ROUTE_WIDTH = 48;
const ABOUT =
  "The HTTP API of Holdfast. The scope is in the query string: ?user=ada&session=first.\n/openapi.json describes every route for programs; in a browser, /docs shows them with examples.";

const TEXT_HEADERS = { "content-type": "text/plain; charset=utf-8", vary: "Accept" };
const JSON_HEADERS = { "content-type": "application/json; charset=utf-8" };

const json = (value: unknown, status = 200): Response =>
  new Response(JSON.stringify(value), { status, headers: JSON_HEADERS });
