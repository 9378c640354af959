/** What a server shows about itself: health, metrics, its description. Outside /api/v1, where tools look for it. */
import type { Context, Hono } from "hono";
import type { Registry } from "prom-client";
import type { Memory } from "../memory.js";
import { readiness } from "../metrics/readiness.js";
import { failure } from "./answer.js";
import { allowReading, knockOf } from "./attend.js";
import type { Door } from "./door.js";
import type { OpenApi } from "./openapi.js";
import { PAGE_POLICY, pageOf } from "./page.js";

export interface SystemParts {
  readonly memory: Memory;
  readonly door: Door;
  readonly registry: Registry;
  /** Made when it is first asked for: it takes longer than the rest of the start. */
  readonly describe: () => OpenApi;
}

/** The paths, in the order in which they are told. */
export const SYSTEM_PATHS = ["/health", "/health/live", "/health/ready", "/metrics", "/openapi.json", "/docs"] as const;

type Show = (c: Context) => Response | Promise<Response>;

export function addSystemRoutes(app: Hono, { memory, door, registry, describe }: SystemParts): void {
  const description = new Description(describe);
  const show = (path: (typeof SYSTEM_PATHS)[number], answer: Show): void => {
    app.get(path, async (c) => {
      let origin: string | undefined;
      let response: Response;
      try {
        origin = door.greet(knockOf(c));
        response = await answer(c);
      } catch (error) {
        response = failure(error);
      }
      if (origin !== undefined) allowReading(response, origin);
      return response;
    });
  };
  show("/health", () => json({ status: "ok" }));
  show("/health/live", () => json({ status: "ok" }));
  show("/health/ready", async () => {
    const state = await readiness(memory);
    return json(state, state.ready ? 200 : 503);
  });
  show("/metrics", async (c) => {
    (await door.admit(knockOf(c))).require("admin");
    return new Response(await registry.metrics(), { headers: { "content-type": registry.contentType } });
  });
  show("/openapi.json", () => new Response(description.text, { headers: JSON_HEADERS }));
  show("/docs", (c) => {
    const page = description.page(new URL(c.req.url).origin);
    const headers = { "content-type": "text/html; charset=utf-8", "content-security-policy": PAGE_POLICY };
    return new Response(page, { headers });
  });
}

/** The description as text and as a page, each written once: nobody needs a key to ask for them, however often. */
class Description {
  readonly #describe: () => OpenApi;
  #api: OpenApi | undefined;
  #text: string | undefined;
  /** As last shown; it names the address that it was asked for by. */
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
