/** What the server says about itself: the OpenAPI document and the page made of it. */
import { Validator } from "@seriousme/openapi-schema-validator";
import { beforeAll, describe, expect, it } from "vitest";
import { OPERATIONS } from "./parts.js";
import { start } from "./started.js";

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
      expect(named("header"), path).toEqual(operation.idempotent ? ["Idempotency-Key"] : []);
      expect(one?.requestBody !== undefined, path).toBe(Boolean(operation.body ?? operation.media?.request));
      const statuses = [operation.status, ...(operation.idempotent ? [200] : [])].map(String);
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

describe("the API page", () => {
  it("shows every operation and every shape, and loads nothing from anywhere", async () => {
    const response = await fetch(`${url}/docs`);
    expect(response.status).toBe(200);
    expect(response.headers.get("content-type")).toBe("text/html; charset=utf-8");
    expect(response.headers.get("content-security-policy")).toMatch(/^default-src 'none';/);
    const page = await response.text();
    for (const { name, method, path } of OPERATIONS) {
      expect(page).toContain(`<section id="${name}">`);
      expect(page).toContain(`<a href="#${name}">`);
      expect(page).toContain(`<span class="method">${method}</span> /api/v1${path}<`);
    }
    for (const name of Object.keys(api.components.schemas)) expect(page).toContain(`id="shape-${name}"`);
    expect(page).not.toMatch(/<(script|link|img|iframe|object|embed|base|form)\b/i);
    expect(page).not.toMatch(/\b(src|srcset|action|data|poster)=|@import|url\(/i);
    const links = [...page.matchAll(/href="([^"]*)"/g)].map(([, target = ""]) => target);
    expect(links.filter((target) => !target.startsWith("#") && target !== "/openapi.json")).toEqual([]);
    const elsewhere = [...page.matchAll(/https?:&?\/*[^\s<&'"]*/g)].map(([address]) => address);
    expect(elsewhere.filter((address) => !address.startsWith(url) && !address.includes("example.com"))).toEqual([]);
  });
});
