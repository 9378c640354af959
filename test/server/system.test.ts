/** What the server reports about itself: the OpenAPI document, the list of routes, health and metrics. */
import { Validator } from "@seriousme/openapi-schema-validator";
import { FakeClock } from "holdfast/testing";
import { beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { openRaw } from "../support/raw.js";
import { OPERATIONS } from "./parts.js";
import { type Caller, newPath, start } from "./started.js";

interface Documented {
  readonly operationId: string;
  readonly summary: string;
  readonly parameters: readonly { readonly name: string; readonly in: string; readonly required: boolean }[];
  readonly requestBody?: object;
  readonly responses: { readonly [status: string]: object };
}

let url: string;
let text: string;
let api: {
  readonly paths: { readonly [path: string]: { readonly [method: string]: Documented } };
  readonly components: { readonly schemas: { readonly [name: string]: object } };
};

beforeAll(async () => {
  ({ url } = await start({ path: ":memory:" }));
  const response = await fetch(`${url}/openapi.json`);
  expect(response.headers.get("content-type")).toBe("application/json; charset=utf-8");
  text = await response.text();
  api = JSON.parse(text);
});

describe("the OpenAPI document", () => {
  it("is valid", async () => {
    const validator = new Validator();
    const { valid, errors } = await validator.validate(JSON.parse(text) as Record<string, unknown>);
    expect({ valid, errors }).toEqual({ valid: true, errors: undefined });
    expect(validator.version).toBe("3.1");
  });

  it("names every operation, with its parameters, body and answers", () => {
    const documented = Object.entries(api.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, one]) => `${one.operationId} ${method.toUpperCase()} ${path}`),
    );
    const known = OPERATIONS.map(({ name, method, path }) => `${name} ${method} /api/v1${path}`);
    expect(documented.sort()).toEqual(known.sort());
    for (const { method, path, operation } of OPERATIONS) {
      const one = api.paths[`/api/v1${path}`]?.[method.toLowerCase()];
      const named = (place: string) => one?.parameters.filter((each) => each.in === place).map(({ name }) => name);
      expect(named("path")?.sort(), path).toEqual(Object.keys(operation.params?.shape ?? {}).sort());
      expect(named("query"), path).toEqual(expect.arrayContaining(Object.keys(operation.query?.shape ?? {})));
      expect(named("query")?.includes("user"), path).toBe(operation.scope !== "none");
      expect(named("header"), path).toEqual(operation.retry === "key" ? ["Idempotency-Key"] : []);
      expect(one?.requestBody !== undefined, path).toBe(Boolean(operation.body ?? operation.media?.request));
      const tellsRetry = JSON.stringify(z.toJSONSchema(operation.data)).includes('"repeated":');
      const statuses = [operation.status, ...(tellsRetry ? [200] : [])].map(String);
      expect(Object.keys(one?.responses ?? {}).sort(), path).toEqual([...new Set([...statuses, "default"])].sort());
      expect(one?.summary, path).toMatch(/^[A-Z].*\.$/s);
    }
  });

  it("refers to nothing that it does not hold, and holds nothing that it does not refer to", () => {
    const referred = new Set([...text.matchAll(/"\$ref":"#\/components\/schemas\/([^"]+)"/g)].map(([, name]) => name));
    const all = [...text.matchAll(/"\$ref":"([^"]+)"/g)].map(([, target]) => target);
    expect(all.filter((target) => !target?.startsWith("#/components/schemas/"))).toEqual([]);
    expect([...referred].sort()).toEqual(Object.keys(api.components.schemas).sort());
  });
});

describe("/docs", () => {
  it("lists every route for those who ask in a terminal", async () => {
    const response = await fetch(`${url}/docs`);
    expect(response.status).toBe(200);
    expect(response.headers.get("content-type")).toBe("text/plain; charset=utf-8");
    const lines = (await response.text()).split("\n");
    for (const { method, path, operation } of OPERATIONS) {
      const line = lines.find((one) => one.startsWith(`${method} /api/v1${path} `));
      expect(line, path).toContain(operation.summary);
    }
  });

  it("is the dashboard's page for the API in a browser", async () => {
    const response = await fetch(`${url}/docs`, { headers: { accept: "text/html,*/*;q=0.8" } });
    expect(response.status).toBe(200);
    expect(response.headers.get("content-type")).toBe("text/html; charset=utf-8");
    expect(response.headers.get("content-security-policy")).toMatch(/^default-src 'none';/);
    expect(response.headers.get("vary")).toBe("Accept");
    expect(await response.text()).toContain('<div id="app">');
  });
});

/** So long after a write that came through, no other is tried. */
const PROVED_MS = 1_000;

const get = async (caller: Caller, path: string) => {
  const response = await fetch(caller.url + path);
  return { status: response.status, value: (await response.json()) as unknown };
};

describe("health", () => {
  it("shows that the process is alive, and nothing else", async () => {
    const caller = await start({ path: ":memory:" });
    for (const path of ["/health", "/health/live", "/health/"]) {
      expect(await get(caller, path)).toEqual({ status: 200, value: { status: "ok" } });
    }
  });

  it("shows whether the store accepts writes, by trying one", async () => {
    const clock = new FakeClock();
    const path = newPath();
    const caller = await start({ path, clock, store: { busyTimeoutMs: 200 } });
    const ready = { ready: true, checks: { store: { writable: true, writes: "ok" }, model: "none" } };
    expect(await get(caller, "/health/ready")).toMatchObject({ status: 200, value: ready });
    const other = openRaw(path);
    other.exec("BEGIN IMMEDIATE"); // another program that writes, and writes
    expect((await get(caller, "/health/ready")).status, "it was proved a moment ago").toBe(200);
    clock.advance(PROVED_MS);
    const [live, refused] = await Promise.all([get(caller, "/health/live"), get(caller, "/health/ready")]);
    expect(live.status, "it lives all the same").toBe(200);
    expect(refused).toMatchObject({
      status: 503,
      value: { ready: false, checks: { store: { writable: false, error: "busy" } } },
    });
    other.exec("COMMIT");
    other.close();
    expect((await get(caller, "/health/ready")).status, "a failure is not kept").toBe(200);
  });
});

describe("/metrics", () => {
  it("counts what happens", async () => {
    const caller = await start({ path: ":memory:" });
    const read = async (name: string) => {
      const { text, headers } = await caller.send("GET /metrics");
      expect(headers.get("content-type")).toMatch(/^text\/plain; version=0\.0\.4/);
      const line = text.split("\n").find((one) => one.startsWith(`${name} `));
      return line === undefined ? 0 : Number(line.slice(name.length + 1));
    };
    const names = [
      'holdfast_http_requests_total{route="POST /messages",status="201"}',
      'holdfast_http_requests_total{route="POST /messages",status="422"}',
      'holdfast_http_request_duration_seconds_count{route="POST /messages"}',
      'holdfast_http_requests_total{route="POST /query",status="200"}',
      "holdfast_store_items",
      'holdfast_searchable_seconds_count{by="words"}',
      'holdfast_query_seconds_count{answered="cold"}',
      'holdfast_query_seconds_count{answered="cached"}',
    ];
    const before = await Promise.all(names.map(read));
    const query = { user: "ada", session: "s" };
    const messages = [{ role: "user", content: "figs are sweet" }];
    for (let time = 0; time < 3; time++) await caller.data("POST /api/v1/messages", { query, body: { messages } });
    await caller.send("POST /api/v1/messages", { query, body: {} });
    for (let time = 0; time < 2; time++) await caller.data("POST /api/v1/query", { query, body: { query: "figs" } });
    const after = await Promise.all(names.map(read));
    expect(after.map((value, at) => value - (before[at] ?? 0))).toEqual([3, 1, 4, 2, 3, 3, 1, 1]);
  });
});
