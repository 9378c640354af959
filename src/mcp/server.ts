/**
 * The MCP server of one scope: its tools, its blocks as resources, and a prompt. The SDK speaks the protocol, in both its
 * eras; who is connected how is told by stdio.ts and the HTTP server.
 */
import { McpServer } from "@modelcontextprotocol/server";
import { z } from "zod";
import { HoldfastError } from "../errors.js";
import type { Access } from "../stores/keys.js";
import { VERSION } from "../version.js";
import { failureText } from "./failure.js";
import { GUIDE_DESCRIPTION, GUIDE_NAME, GUIDE_TITLE, guideText, INSTRUCTIONS } from "./guide.js";
import { addBlockResources } from "./resources.js";
import { slim } from "./slim.js";
import type { Resource, Tool, ToolGroup, Workplace } from "./tool.js";

export interface McpParts {
  readonly groups: readonly ToolGroup[];
  /** The memory, opened by the first who needs it. */
  readonly open: () => Promise<Workplace>;
  readonly may: (access: Access) => boolean;
  /** True: this client can be told that a block has changed. */
  readonly subscribes: boolean;
  /** A tool has written: blocks may have changed, and these addresses have. */
  readonly touched?: (uris: readonly string[]) => void;
  /** Failures that are no caller's fault. */
  readonly onFailure?: (tool: string, error: unknown) => void;
}

export function mcpServerOf(parts: McpParts): McpServer {
  const server = new McpServer(
    { name: "holdfast", title: "Holdfast", version: VERSION },
    { instructions: INSTRUCTIONS, capabilities: { resources: { subscribe: parts.subscribes } } },
  );
  addBlockResources(server, parts.open);
  for (const { tools, resources = [] } of parts.groups) {
    for (const resource of resources) addResource(server, resource, parts.open);
    const uris = resources.map(({ uri }) => uri);
    for (const one of tools) if (parts.may(one.access)) addTool(server, one, uris, parts);
  }
  server.registerPrompt(
    GUIDE_NAME,
    {
      title: GUIDE_TITLE,
      description: GUIDE_DESCRIPTION,
      argsSchema: z.object({ task: z.string().optional().describe("What is to be done now") }),
    },
    ({ task }) => ({ messages: [{ role: "user", content: { type: "text", text: guideText(task) } }] }),
  );
  return server;
}

function addResource(server: McpServer, resource: Resource, open: McpParts["open"]): void {
  const { uri, name, title, description, mimeType, read } = resource;
  server.registerResource(name, uri, { title, description, mimeType }, async ({ href }) => ({
    contents: [{ uri: href, mimeType, text: await read(await open()) }],
  }));
}

function addTool(
  server: McpServer,
  one: Tool,
  changes: readonly string[],
  { open, touched, onFailure }: McpParts,
): void {
  const { name, title, description, access, isDestructive = false, isIdempotent = false, input, output } = one;
  const annotations = {
    readOnlyHint: access === "read" && !isDestructive,
    destructiveHint: isDestructive,
    idempotentHint: isIdempotent,
    openWorldHint: false,
  };
  server.registerTool(
    name,
    { title, description, annotations, inputSchema: slim(input), outputSchema: slim(output) },
    async (given) => {
      try {
        const { data, text } = await one.run(await open(), given as never);
        return { content: [{ type: "text", text }], structuredContent: data as { readonly [key: string]: unknown } };
      } catch (error) {
        if (!(error instanceof HoldfastError)) onFailure?.(name, error);
        return { content: [{ type: "text", text: failureText(error) }], isError: true };
      } finally {
        if (!annotations.readOnlyHint) touched?.(changes);
      }
    },
  );
}
