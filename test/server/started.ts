/** Servers on loopback, in memory or on a file of their own; stopped and deleted when the test file is over. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type ApiKey, type OpenOptions, openMemory, type SpaceKind, type SpaceRef } from "holdfast";
import { type RunningServer, serve } from "holdfast/server";
import { afterAll } from "vitest";
import { checkedFetch } from "../support/checked-fetch.js";

export interface Keyed {
  readonly id: string;
  readonly secret: string;
}

const stops: (() => Promise<unknown>)[] = [];
const folders: string[] = [];

afterAll(async () => {
  for (const stop of stops.splice(0)) await stop().catch(() => undefined); // a test may have stopped it
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

export function newPath(): string {
  const folder = mkdtempSync(join(tmpdir(), "holdfast-test-"));
  folders.push(folder);
  return join(folder, "memory.db");
}

/** Silent unless a test wants to hear it, on any free port. In memory if no path is given. */
export async function start(options: OpenOptions = {}): Promise<Caller & { readonly server: RunningServer }> {
  const server = await serve({
    path: ":memory:",
    ...options,
    server: { port: 0, logLevel: "silent", ...options.server },
  });
  stops.push(() => server.stop());
  return Object.assign(new Caller(server.url), { server });
}

/** A server that asks for keys, and the key that opens everything. */
export async function startWithKeys(options: OpenOptions = {}) {
  const path = options.path ?? newPath();
  const admin = await makeKey(path, { access: "admin", spaces: ["user", "agent", "team"] }, options);
  const anyone = await start({ ...options, path, server: { requireKey: true, ...options.server } });
  return { path, anyone, admin: anyone.as(admin.secret), server: anyone.server };
}

/** A key made by another process, as `holdfast key create` does. */
export async function makeKey(
  path: string,
  key: { access: ApiKey["access"]; spaces: readonly (SpaceRef | SpaceKind)[]; expiresAt?: number },
  { clock }: OpenOptions = {},
): Promise<Keyed> {
  const memory = await openMemory({ path, ...(clock && { clock }) });
  try {
    const made = await memory.keys.create(key);
    return { id: made.key.id, secret: made.secret };
  } finally {
    await memory.close();
  }
}

export interface Sent {
  readonly query?: { readonly [name: string]: string };
  readonly headers?: { readonly [name: string]: string };
  /** Sent as JSON; a string, or bytes, as they are. */
  readonly body?: unknown;
  readonly signal?: AbortSignal;
}

/** The envelope of every answer. */
export interface Envelope {
  readonly status: "success" | "error";
  readonly code: number;
  readonly data: unknown;
  readonly message: string;
  readonly errors: readonly { readonly field: string; readonly message: string }[] | null;
  readonly error?: {
    readonly code: string;
    readonly hint?: string;
    readonly retryable: boolean;
    readonly details?: { readonly [key: string]: unknown };
  };
}

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** Undefined if the answer is no JSON. */
  readonly json: Envelope | undefined;
}

/** Sends requests with one key, or none, and holds every answer against the OpenAPI document. */
export class Caller {
  readonly url: string;
  readonly secret: string | undefined;

  constructor(url: string, secret?: string) {
    this.url = url;
    this.secret = secret;
  }

  as(secret: string): Caller {
    return new Caller(this.url, secret);
  }

  /** The response itself, for streams. */
  fetch(route: string, { query = {}, headers = {}, body, signal }: Sent = {}): Promise<Response> {
    const [method = "", path = ""] = route.split(" ");
    const search = new URLSearchParams(query).toString();
    return checkedFetch(`${this.url}${path}${search === "" ? "" : `?${search}`}`, {
      method,
      headers: { ...(this.secret !== undefined && { authorization: `Bearer ${this.secret}` }), ...headers },
      ...(body !== undefined && {
        body:
          typeof body === "string" || body instanceof Uint8Array
            ? (body as NonNullable<RequestInit["body"]>)
            : JSON.stringify(body),
      }),
      ...(signal && { signal }),
    });
  }

  async send(route: string, sent: Sent = {}): Promise<Answer> {
    const response = await this.fetch(route, sent);
    const { status, headers } = response;
    if (headers.get("content-type")?.startsWith("text/event-stream")) {
      await response.body?.cancel();
      return { status, headers, text: "", json: undefined };
    }
    const text = await response.text();
    const isJson = headers.get("content-type")?.startsWith("application/json") && text !== "";
    return { status, headers, text, json: isJson ? (JSON.parse(text) as Envelope) : undefined };
  }

  /** The same; throws unless it succeeds. Gives the data. */
  async data<T = { readonly [key: string]: unknown }>(route: string, sent: Sent = {}): Promise<T> {
    const { status, text, json } = await this.send(route, sent);
    if (status >= 300) throw new Error(`${route}: ${status} ${text}`);
    return json?.data as T;
  }
}
