/** What a server shows about itself: health, metrics, its description. Outside /api/v1, where tools look for it. */
import type { Context, Hono } from "hono";
import type { Registry } from "prom-client";
import type { Memory } from "../memory.js";
import { readiness } from "../metrics/readiness.js";
import { failure } from "./answer.js";
import { knockOf } from "./dispatch.js";
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
  let made: OpenApi | undefined;
  const api = (): OpenApi => {
    made ??= describe();
    return made;
  };
  const show = (path: (typeof SYSTEM_PATHS)[number], answer: Show): void => {
    app.get(path, async (c) => {
      try {
        door.greet(knockOf(c));
        return await answer(c);
      } catch (error) {
        return failure(error);
      }
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
  show("/openapi.json", () => json(api()));
  show("/docs", (c) => {
    const page = pageOf(api(), new URL(c.req.url).origin);
    const headers = { "content-type": "text/html; charset=utf-8", "content-security-policy": PAGE_POLICY };
    return new Response(page, { headers });
  });
}

const json = (value: unknown, status = 200): Response =>
  new Response(JSON.stringify(value), { status, headers: { "content-type": "application/json; charset=utf-8" } });
