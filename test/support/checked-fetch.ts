/**
 * Fetch that checks every answer against the server's own OpenAPI document: its status, media type and body must match
 * the document, and nothing in it may reveal the server's internals. A JSON body is read and returned in a new
 * response; streams are passed on unchanged.
 */
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import * as formats from "ajv-formats";
import { expect } from "vitest";

type Json = { readonly [key: string]: unknown };

interface Described {
  readonly paths: { readonly [path: string]: { readonly [method: string]: { readonly responses: Responses } } };
}
interface Responses {
  readonly [status: string]: { readonly content: { readonly [media: string]: { readonly schema: Json } } };
}

/** What tools ask for, outside the API that is described. */
const SYSTEM = /^\/(health(\/live|\/ready)?|metrics|openapi\.json|docs)\/?$/;
/** A stream without an end, and a file that is no text. */
const PASSED_ON: ReadonlySet<string> = new Set(["text/event-stream", "application/vnd.sqlite3"]);
/** A frame of a stack, or a path of the server's own files. */
const INSIDE = /\n\s+at |\bat .{1,200}\.[cm]?[jt]s:\d+|node_modules|\/dist\/|node:internal/;

/** The document as the server gives it, with validators that are made when they are needed. */
class Description {
  readonly #paths: readonly { readonly pattern: RegExp; readonly braces: number; readonly path: string }[];
  readonly #api: Described;
  readonly #ajv: Ajv2020;
  readonly #validators = new Map<string, ValidateFunction>();

  constructor(api: Described) {
    this.#api = api;
    this.#ajv = new Ajv2020({ strict: false, allErrors: false });
    formats.default.default(this.#ajv);
    this.#ajv.addSchema(api, "api");
    this.#paths = Object.keys(api.paths)
      .map((path) => ({ path, braces: path.split("{").length, pattern: patternOf(path) }))
      .sort((one, other) => one.braces - other.braces);
  }

  /** The path of the document that answers here. */
  pathOf(pathname: string, method: string): string | undefined {
    return this.#paths.find(({ pattern, path }) => pattern.test(pathname) && this.#api.paths[path]?.[method])?.path;
  }

  /** The media types of an answer, and where its schema stands. Throws if the document knows no such answer. */
  answer(path: string, method: string, status: number): { readonly key: string; readonly media: readonly string[] } {
    const responses = this.#api.paths[path]?.[method]?.responses ?? {};
    const key = responses[String(status)] ? String(status) : "default";
    const isSuccess = status < 400;
    if (isSuccess && key === "default") throw new Error(`${method} ${path} does not document the status ${status}`);
    return { key, media: Object.keys(responses[key]?.content ?? {}) };
  }

  check(pointer: readonly string[], value: unknown): void {
    const reference = `api#/${pointer.map((step) => encodeURIComponent(step.replaceAll("~", "~0").replaceAll("/", "~1"))).join("/")}`;
    const validate = this.#validators.get(reference) ?? this.#ajv.compile({ $ref: reference });
    this.#validators.set(reference, validate);
    if (!validate(value)) {
      throw new Error(
        `${pointer[1]} ${pointer[2]} ${pointer[4]}: ${this.#ajv.errorsText(validate.errors)}\n${told(value)}`,
      );
    }
  }
}

const told = (value: unknown): string => (JSON.stringify(value) ?? "").slice(0, 2000);

const patternOf = (path: string): RegExp =>
  new RegExp(`^${path.replaceAll(/\{\w+\}/g, "[^/]+").replaceAll(".", "\\.")}/?$`);

/** Servers of the same version have the same document. */
const known = new Map<string, Description>();
const byOrigin = new Map<string, Promise<Description>>();

async function descriptionOf(origin: string): Promise<Description> {
  const text = await (await fetch(`${origin}/openapi.json`)).text();
  const description = known.get(text) ?? new Description(JSON.parse(text) as Described);
  known.set(text, description);
  return description;
}

export async function checkedFetch(url: string, init: RequestInit = {}): Promise<Response> {
  const { origin, pathname } = new URL(url);
  const asked = byOrigin.get(origin) ?? descriptionOf(origin);
  byOrigin.set(origin, asked);
  const [description, response] = await Promise.all([asked, fetch(url, init)]);
  return checked(description, response, pathname, (init.method ?? "GET").toUpperCase());
}

async function checked(api: Description, response: Response, pathname: string, method: string): Promise<Response> {
  const media = (response.headers.get("content-type") ?? "").split(";")[0] ?? "";
  if (method === "HEAD" || method === "OPTIONS" || PASSED_ON.has(media)) return response;
  const text = await response.text();
  if (!SYSTEM.test(pathname)) checkText(api, text, media, response.status, pathname, method.toLowerCase());
  expect(INSIDE.exec(SYSTEM.test(pathname) ? "" : text)?.[0]).toBeUndefined();
  return new Response(text, { status: response.status, headers: response.headers });
}

function checkText(api: Description, text: string, media: string, status: number, pathname: string, method: string) {
  const path = api.pathOf(pathname, method);
  if (path === undefined) {
    expect({ status, media }, `${method} ${pathname}`).toEqual({
      status: expect.any(Number),
      media: "application/json",
    });
    expect(status).toBeGreaterThanOrEqual(400);
    checkError(JSON.parse(text), status);
    return;
  }
  const answer = api.answer(path, method, status);
  expect(answer.media, `${method} ${path} ${status}`).toContain(media);
  if (media !== "application/json") return;
  const value: unknown = JSON.parse(text);
  api.check(["paths", path, method, "responses", answer.key, "content", media, "schema"], value);
  expect((value as { code: number }).code, "the envelope repeats the status").toBe(status);
  if (status >= 400) checkError(value, status);
}

/** Whoever gets an error is told what to do next. */
function checkError(value: unknown, status: number): void {
  expect(value).toMatchObject({
    status: "error",
    code: status,
    data: null,
    message: expect.stringMatching(/\S/),
    error: {
      code: expect.stringMatching(/^[a-z_]+$/),
      hint: expect.stringMatching(/\S/),
      retryable: expect.any(Boolean),
    },
  });
}
