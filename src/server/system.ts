/** System routes: health, metrics, API description. They are outside /api/v1, where tools expect them. */
import type { Context, Hono } from "hono";
import type { Registry } from "prom-client";
import type { Memory } from "../memory.js";
import { type Readiness, readiness } from "../metrics/readiness.js";
import { failure } from "./answer.js";
import { allowReading, senderOf } from "./attend.js";
import type { Door } from "./door.js";
import { isAddress } from "./guard.js";
import type { OpenApi } from "./openapi.js";
import { PAGE_POLICY, pageOf } from "./page.js";

export interface SystemParts {
  readonly memory: Memory;
  readonly door: Door;
  readonly registry: Registry;
  /** Called on first use: it takes longer than the rest of the start. */
  readonly describe: () => OpenApi;
}

type Show = (c: Context) => Response | Promise<Response>;

export function addSystemRoutes(app: Hono, { memory, door, registry, describe }: SystemParts): void {
  const description = new Description(describe);
  const show = (path: string, answer: Show): void => {
    app.get(path, async (c) => {
      let origin: string | undefined;
      let response: Response;
      try {
        origin = door.checkOrigin(senderOf(c));
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
      if (sender.origin !== undefined || !isAddress(sender.host) || door.allowsHost(sender)) return next();
      return new Response(null, { status: (await answer(c)).status, headers: { "cache-control": "no-store" } });
    });
    show(path, answer);
  };
  showHealth("/health", () => json({ status: "ok" }));
  showHealth("/health/live", () => json({ status: "ok" }));
  showHealth("/health/ready", async (c) => {
    const state = await readiness(memory);
    const caller = await door.authenticate(senderOf(c)).catch(() => undefined);
    return json(caller?.isAdmin ? state : withoutQueue(state), state.ready ? 200 : 503);
  });
  show("/metrics", async (c) => {
    (await door.admit(senderOf(c))).require("admin");
    return new Response(await registry.metrics(), { headers: { "content-type": registry.contentType } });
  });
  show("/openapi.json", () => new Response(description.text, { headers: JSON_HEADERS }));
  show("/docs", (c) => {
    const page = description.page(new URL(c.req.url).origin);
    const headers = { "content-type": "text/html; charset=utf-8", "content-security-policy": PAGE_POLICY };
    return new Response(page, { headers });
  });
}

/** Hides the queue length, which reveals how much others write, from callers without an admin key. */
function withoutQueue({ ready, checks: { queue: _, ...checks } }: Readiness): Readiness {
  return { ready, checks };
}

/** The API description as JSON and as a page, each rendered once, because anyone may request them any number of times. */
class Description {
  readonly #describe: () => OpenApi;
  #api: OpenApi | undefined;
  #text: string | undefined;
  /** The last one rendered; it contains the URL it was requested under. */
  #page: { readonly url: string; readonly html: string } | undefined;

  constructor(describe: () => OpenApi) {
    this.#describe = describe;
  }

  get text(): string {
    this.#text ??= JSON.stringify(this.#made);
    return this.#text;
  }

  page(url: string): string {
    if (this.#page?.url !== url) this.#page = { url, html: pageOf(this.#made, url) };
    return this.#page.html;
  }

  get #made(): OpenApi {
    this.#api ??= this.#describe();
    return this.#api;
  }
}

const JSON_HEADERS = { "content-type": "application/json; charset=utf-8" };

const json = (value: unknown, status = 200): Response =>
  new Response(JSON.stringify(value), { status, headers: JSON_HEADERS });
