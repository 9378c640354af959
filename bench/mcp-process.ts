/** A real client of a real MCP server: `holdfast mcp` in its own process, or `/mcp` of `holdfast serve`. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";

const MAIN = fileURLToPath(new URL("../../build/lib/cli/main.js", import.meta.url));
const MODEL = "HOLDFAST_BUFFER_HYBRID_BUFFER_EMBEDDING_MODEL";

/** By words only, or with the default model. */
export type Meaning = "words" | "model";

const envOf = (meaning: Meaning): Record<string, string> => {
  const { [MODEL]: _, ...env } = process.env as Record<string, string>;
  return meaning === "words" ? { ...env, [MODEL]: "none" } : env;
};

export class McpClient {
  readonly pid: number | undefined;
  readonly #client: Client;

  private constructor(client: Client, pid: number | undefined) {
    this.#client = client;
    this.pid = pid;
  }

  static async overStdio(path: string, meaning: Meaning): Promise<McpClient> {
    const client = new Client({ name: "bench", version: "0" });
    const args = [MAIN, "mcp", "--path", path, "--user", "ada"];
    const transport = new StdioClientTransport({
      ...{ command: process.execPath, args },
      ...{ env: envOf(meaning), stderr: "ignore" },
    });
    await client.connect(transport);
    return new McpClient(client, transport.pid ?? undefined);
  }

  static async overHttp(url: string): Promise<McpClient> {
    const client = new Client({ name: "bench", version: "0" });
    await client.connect(new StreamableHTTPClientTransport(new URL(`${url}/mcp?user=ada&session=bench`)));
    return new McpClient(client, undefined);
  }

  async call(name: string, args: object = {}): Promise<void> {
    const { isError, content } = await this.#client.callTool({ name, arguments: { ...args } });
    if (isError) throw new Error(`${name} failed: ${JSON.stringify(content)}`);
  }

  save(content: string): Promise<void> {
    return this.call("memory_save", { content });
  }

  search(query: string): Promise<void> {
    return this.call("memory_search", { query });
  }

  async lists(): Promise<void> {
    await this.#client.listTools();
    await this.#client.listResources();
  }

  close(): Promise<void> {
    return this.#client.close();
  }
}

export class McpServer {
  readonly url: string;
  readonly #child: ChildProcess;

  private constructor(child: ChildProcess, url: string) {
    this.#child = child;
    this.url = url;
  }

  static async start(path: string): Promise<McpServer> {
    const child = spawn(process.execPath, [MAIN, "serve", "--json", "--port", "0", "--path", path], {
      env: envOf("words"),
      stdio: ["ignore", "pipe", "ignore"],
    });
    const [line] = (await once(child.stdout, "data")) as [Buffer];
    return new McpServer(child, (JSON.parse(line.toString("utf8")) as { readonly url: string }).url);
  }

  async stop(): Promise<void> {
    const gone = once(this.#child, "exit");
    this.#child.kill("SIGTERM");
    await gone;
  }
}

export interface Weight {
  /** Resident bytes. Shared pages count in each process. */
  readonly resident: number;
  /** The same, with shared pages divided by the number of processes. */
  readonly proportional: number;
}

/** Memory of a process, as Linux reports it; NaN elsewhere. */
export function weigh(pid: number | undefined): Weight {
  try {
    const text = readFileSync(`/proc/${pid}/smaps_rollup`, "utf8");
    const bytes = (name: string): number => Number(new RegExp(`^${name}:\\s+(\\d+) kB`, "m").exec(text)?.[1]) * 1024;
    return { resident: bytes("Rss"), proportional: bytes("Pss") };
  } catch {
    return { resident: Number.NaN, proportional: Number.NaN };
  }
}
