/** A server of the reference tools, as a client sees it: the real package as a child process, or ours in this one. */
import { createRequire } from "node:module";
import { Client, InMemoryTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";

const MAIN = createRequire(import.meta.url).resolve("@modelcontextprotocol/server-memory/dist/index.js");

/** The answer to a call of a tool, as a client sees it. */
export interface ToolAnswer {
  readonly text: string;
  readonly data?: unknown;
  readonly isError: boolean;
}

export class ReferenceServer {
  readonly client = new Client({ name: "a test", version: "0" }); // without negotiation it speaks as of 2025

  /** On this file; it is read anew for every call, and need not exist. */
  static async on(path: string): Promise<ReferenceServer> {
    const server = new ReferenceServer();
    const env = { MEMORY_FILE_PATH: path };
    await server.client.connect(
      new StdioClientTransport({ command: process.execPath, args: [MAIN], env, stderr: "ignore" }),
    );
    return server;
  }

  /** Ours, behind the same protocol. */
  static async to(served: { connect(transport: InMemoryTransport): Promise<void> }): Promise<ReferenceServer> {
    const server = new ReferenceServer();
    const [near, far] = InMemoryTransport.createLinkedPair();
    await served.connect(far);
    await server.client.connect(near);
    return server;
  }

  async call(name: string, args: object): Promise<ToolAnswer> {
    const { content, structuredContent, isError } = await this.client.callTool({ name, arguments: { ...args } });
    const [block] = content;
    if (block?.type !== "text") throw new Error("the answer has no text");
    return {
      text: block.text,
      ...(structuredContent !== undefined && { data: structuredContent }),
      isError: isError === true,
    };
  }

  async resource(): Promise<string> {
    const { contents } = await this.client.readResource({ uri: "memory://knowledge-graph" });
    const [first] = contents;
    if (!first || !("text" in first)) throw new Error("the resource has no text");
    return first.text;
  }

  close(): Promise<void> {
    return this.client.close();
  }
}
