/**
 * MCP clients of real processes: the SDK's clients over stdio and HTTP, and bare pipes for messages that the SDK never
 * sends.
 */
import { readFileSync } from "node:fs";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { MAIN, Process } from "../cli/cli.js";
import { until } from "../support/until.js";

export interface Called {
  readonly text: string;
  readonly data: { readonly [key: string]: unknown };
  readonly isError: boolean;
}

export class Agent {
  readonly #client: Client;
  /** Of the server's process; undefined over HTTP. */
  readonly pid: number | undefined;

  private constructor(client: Client, pid: number | undefined) {
    this.#client = client;
    this.pid = pid;
  }

  static async overStdio(args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<Agent> {
    const client = new Client({ name: "a test", version: "0" });
    const transport = new StdioClientTransport({
      command: process.execPath,
      args: [MAIN, "mcp", ...args],
      env: { ...process.env, ...env } as Record<string, string>,
      stderr: "ignore",
    });
    await client.connect(transport);
    return new Agent(client, transport.pid ?? undefined);
  }

  static async overHttp(url: string): Promise<Agent> {
    const client = new Client({ name: "a test", version: "0" });
    await client.connect(new StreamableHTTPClientTransport(new URL(url)));
    return new Agent(client, undefined);
  }

  async call(name: string, args: object = {}): Promise<Called> {
    const { content, structuredContent, isError } = await this.#client.callTool({ name, arguments: { ...args } });
    const [block] = content;
    if (block?.type !== "text") throw new Error("the answer has no text");
    return { text: block.text, data: (structuredContent ?? {}) as Called["data"], isError: isError === true };
  }

  /** The id of what was saved. */
  async save(content: string): Promise<string> {
    const { data, text, isError } = await this.call("memory_save", { content });
    const [id] = (data["ids"] ?? []) as string[];
    if (isError || id === undefined) throw new Error(text);
    return id;
  }

  async block(args: object): Promise<{ readonly version: number; readonly content?: string }> {
    const { data, text, isError } = await this.call("memory_block", args);
    const [block] = (data["blocks"] ?? []) as { version: number; content?: string }[];
    if (isError || !block) throw new Error(text);
    return block;
  }

  async resources(): Promise<readonly string[]> {
    const { resources } = await this.#client.listResources();
    return resources.map(({ uri }) => uri);
  }

  close(): Promise<void> {
    return this.#client.close();
  }
}

interface Reply {
  readonly id?: number;
  readonly result?: { readonly structuredContent?: { readonly ids?: readonly string[] }; readonly isError?: boolean };
  readonly error?: { readonly code: number };
}

export const HELLO = [
  {
    id: 0,
    method: "initialize",
    params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "a test", version: "0" } },
  },
  { method: "notifications/initialized" },
] as const;

export const saving = (id: number, content: string) => ({
  id,
  method: "tools/call",
  params: { name: "memory_save", arguments: { content } },
});

export const lineOf = (message: object): string => `${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`;

/** `holdfast mcp` behind two bare pipes. */
export class Pipes extends Process {
  static mcp(args: readonly string[]): Pipes {
    return new Pipes(process.execPath, [MAIN, "mcp", ...args]);
  }

  write(...messages: readonly object[]): void {
    this.child.stdin?.write(messages.map(lineOf).join(""));
  }

  /** Complete answers so far. */
  get replies(): readonly Reply[] {
    const lines = this.out.split("\n").slice(0, -1);
    return lines.map((line) => JSON.parse(line) as Reply).filter(({ id }) => id !== undefined);
  }

  /** Ids of what it says it has saved. */
  get saved(): readonly string[] {
    return this.replies.flatMap(({ result }) => result?.structuredContent?.ids ?? []);
  }

  /** The answer to a request. */
  async reply(id: number): Promise<Reply> {
    let found: Reply | undefined;
    await until(() => {
      found = this.replies.find((reply) => reply.id === id);
      if (!found && this.child.exitCode !== null) throw new Error(`it ended without an answer to ${id}: ${this.err}`);
      return found !== undefined;
    });
    return found as unknown as Reply;
  }
}

/** Whether the process runs. One that has ended and that nobody has asked for yet does not. */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch {
    return false;
  }
  if (process.platform !== "linux") return true;
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
  } catch {
    return false;
  }
}
