/** An agent's side of MCP: the SDK's client, with a real `holdfast mcp` that it starts and ends. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  type CallToolResult,
  Client,
  type JSONRPCMessage,
  specTypeSchemas,
  type Tool,
  type Transport,
} from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { afterAll, expect } from "vitest";
import { MAIN } from "../../cli/cli.js";

export const ERAS = ["legacy", "modern"] as const;
export type Era = (typeof ERAS)[number];

const PINNED = "2026-07-28";
/** A client hands on only a few variables of its own. */
export const WORDS_ONLY = { HOLDFAST_BUFFER_HYBRID_BUFFER_EMBEDDING_MODEL: "none" };

const folders: string[] = [];
const agents: Agent[] = [];
afterAll(async () => {
  for (const agent of agents.splice(0)) await agent.client.close();
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

/** A file that is gone when the test file is over. */
export function newPath(): string {
  const folder = mkdtempSync(join(tmpdir(), "holdfast-mcp-"));
  folders.push(folder);
  return join(folder, "memory.db");
}

export interface Reply<T> {
  readonly text: string;
  /** Absent if it is an error. */
  readonly data: T;
  readonly isError: boolean;
}

/** How a client starts it. */
export const commandOf = (args: readonly string[]) => ({
  command: process.execPath,
  args: [MAIN, "mcp", ...args],
  env: WORDS_ONLY,
  stderr: "ignore" as const,
});

export const negotiating = (era: Era) => ({ mode: era === "legacy" ? "legacy" : { pin: PINNED } }) as const;

export class Agent {
  readonly client: Client;
  readonly wire: Tap;
  /** Addresses of resources that were said to have changed, and "list". */
  readonly told: string[] = [];

  private constructor(era: Era, args: readonly string[]) {
    this.client = new Client({ name: "test", version: "1" }, { versionNegotiation: negotiating(era) });
    this.wire = new Tap(new StdioClientTransport(commandOf(args)));
    this.client.setNotificationHandler(
      "notifications/resources/updated",
      ({ params }) => void this.told.push(params.uri),
    );
    this.client.setNotificationHandler("notifications/resources/list_changed", () => void this.told.push("list"));
  }

  static async start(era: Era, ...args: readonly string[]): Promise<Agent> {
    const agent = new Agent(era, args);
    await agent.client.connect(agent.wire);
    agents.push(agent);
    return agent;
  }

  async tools(): Promise<readonly Tool[]> {
    return (await this.client.listTools()).tools;
  }

  /** The reply is checked for its form: one text, and structured content unless it failed. */
  async call<T = { readonly [key: string]: never }>(name: string, args: object = {}): Promise<Reply<T>> {
    const result: CallToolResult = await this.client.callTool({ name, arguments: { ...args } });
    const { content, structuredContent, isError = false } = result;
    const [first, ...others] = content;
    if (first?.type !== "text" || first.text === "" || others.length > 0) throw new Error(`${name}: not one text`);
    if (isError === (structuredContent !== undefined))
      throw new Error(`${name}: an error with content, or none without`);
    return { text: first.text, data: structuredContent as T, isError };
  }

  /** What it says to a call that must fail. */
  async refusal(name: string, args: object): Promise<string> {
    const { isError, text } = await this.call(name, args);
    if (!isError) throw new Error(`${name} did not fail: ${text}`);
    return text;
  }
}

/** A transport that remembers what came in. Being no transport of the SDK, it makes clients probe in place: one process. */
export class Tap implements Transport {
  readonly #inner: StdioClientTransport;
  readonly messages: JSONRPCMessage[] = [];
  readonly errors: Error[] = [];
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;

  constructor(inner: StdioClientTransport) {
    this.#inner = inner;
    inner.onclose = () => this.onclose?.();
    inner.onerror = (error) => {
      this.errors.push(error);
      this.onerror?.(error);
    };
    inner.onmessage = (message) => {
      this.messages.push(message);
      this.onmessage?.(message);
    };
  }

  start(): Promise<void> {
    return this.#inner.start();
  }

  send(message: JSONRPCMessage): Promise<void> {
    return this.#inner.send(message);
  }

  close(): Promise<void> {
    return this.#inner.close();
  }
}

/** By the SDK's own schemas of what goes over the wire. */
export function expectOfForm(form: keyof typeof specTypeSchemas, value: unknown): void {
  const { issues = [] } = specTypeSchemas[form]["~standard"].validate(value) as {
    readonly issues?: readonly unknown[];
  };
  expect(issues, form).toEqual([]);
}
