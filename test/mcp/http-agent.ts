/** An agent that reaches its memory over HTTP: the SDK's client, and requests by hand for what that would not send. */
import { type CallToolResult, Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { afterAll } from "vitest";

export const ERAS = ["legacy", "modern"] as const;
export type Era = (typeof ERAS)[number];
export const MODERN = "2026-07-28";

export interface Place {
  readonly query?: { readonly [name: string]: string };
  readonly headers?: { readonly [name: string]: string };
  readonly key?: string;
}

/** What a tool answered. */
export interface Told<T> {
  readonly text: string;
  readonly data: T;
  readonly isError: boolean;
}

const clients: Client[] = [];
afterAll(async () => {
  for (const client of clients.splice(0)) await client.close();
});

export const addressOf = (url: string, { query = {} }: Place = {}): URL =>
  new URL(`${url}/mcp?${new URLSearchParams(query).toString()}`);

export const headersOf = ({ headers = {}, key }: Place): Record<string, string> => ({
  ...(key !== undefined && { authorization: `Bearer ${key}` }),
  ...headers,
});

export class HttpAgent {
  readonly client: Client;
  /** Addresses of resources that were said to have changed, and "list". */
  readonly told: string[] = [];

  private constructor(era: Era) {
    const mode = era === "legacy" ? "legacy" : { pin: MODERN };
    this.client = new Client({ name: "test", version: "1" }, { versionNegotiation: { mode } });
    clients.push(this.client);
    this.client.setNotificationHandler(
      "notifications/resources/updated",
      ({ params }) => void this.told.push(params.uri),
    );
    this.client.setNotificationHandler("notifications/resources/list_changed", () => void this.told.push("list"));
  }

  static async connect(url: string, place: Place = {}, era: Era = "modern"): Promise<HttpAgent> {
    const agent = new HttpAgent(era);
    const requestInit = { headers: headersOf(place) };
    await agent.client.connect(new StreamableHTTPClientTransport(addressOf(url, place), { requestInit }));
    return agent;
  }

  async names(): Promise<readonly string[]> {
    return (await this.client.listTools()).tools.map(({ name }) => name);
  }

  async call<T = { readonly [key: string]: unknown }>(name: string, args: object = {}): Promise<Told<T>> {
    const result: CallToolResult = await this.client.callTool({ name, arguments: { ...args } });
    const [first] = result.content;
    if (first?.type !== "text") throw new Error(`${name} gave no text`);
    return { text: first.text, data: result.structuredContent as T, isError: result.isError ?? false };
  }

  block(command: string, args: object): Promise<Told<unknown>> {
    return this.call("memory_block", { command, ...args });
  }
}

/** A notification has none. */
interface Id {
  readonly id?: number;
}

/** A message of the later era as it stands on the wire, with the headers that go with it. */
export function modern(method: string, params: { readonly [key: string]: unknown } = {}, id: Id = { id: 1 }) {
  const meta = {
    "io.modelcontextprotocol/protocolVersion": MODERN,
    "io.modelcontextprotocol/clientInfo": { name: "hand", version: "1" },
    "io.modelcontextprotocol/clientCapabilities": {},
  };
  const name = params["name"] ?? params["uri"];
  return {
    headers: {
      "mcp-protocol-version": MODERN,
      "mcp-method": method,
      ...(typeof name === "string" && { "mcp-name": name }),
    },
    body: { jsonrpc: "2.0", ...id, method, params: { ...params, _meta: meta } },
  };
}

/** One of the earlier era. */
export const legacy = (method: string, params: object = {}, id: Id = { id: 1 }) => ({
  headers: { "mcp-protocol-version": "2025-11-25" },
  body: { jsonrpc: "2.0", ...id, method, params },
});

export const callOf = (era: Era, name: string, args: object = {}) =>
  (era === "modern" ? modern : legacy)("tools/call", { name, arguments: args });

export interface Posted extends Place {
  readonly body?: unknown;
  readonly method?: string;
  readonly signal?: AbortSignal;
}

export const TYPES = { "content-type": "application/json", accept: "application/json, text/event-stream" };

/** A request by hand; a body that is a string is sent as it is. */
export function post(url: string, { method = "POST", body, signal, ...place }: Posted): Promise<Response> {
  return fetch(addressOf(url, place), {
    method,
    headers: { ...TYPES, ...headersOf(place) },
    ...(body !== undefined && { body: typeof body === "string" ? body : JSON.stringify(body) }),
    ...(signal && { signal }),
  });
}

export interface Message {
  readonly jsonrpc: string;
  readonly id: number | string | null;
  readonly result?: { readonly [key: string]: unknown };
  readonly error?: { readonly code: number; readonly message: string };
}

/** The one message of an answer, whether it came as JSON or as an event. */
export async function messageOf(response: Response): Promise<Message> {
  const text = await response.text();
  const isEvent = response.headers.get("content-type")?.startsWith("text/event-stream");
  return JSON.parse(isEvent ? (/^data: (.*)$/m.exec(text)?.[1] ?? "") : text) as Message;
}
