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
import { addBlockResources, reading } from "./resources.js";
import { slim } from "./slim.js";
import type { Guide, Resource, Tool, ToolGroup, Workplace } from "./tool.js";

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
  const instructions = parts.groups.flatMap(({ guide }) => guide?.instructions ?? []).join("\n");
  const server = new McpServer(
    { name: "holdfast", title: "Holdfast", version: VERSION },
    { ...(instructions !== "" && { instructions }), capabilities: capabilitiesOf(parts) },
  );
  addBlockResources(server, parts);
  for (const group of parts.groups) addGroup(server, group, parts);
  return server;
}

function addGroup(server: McpServer, group: ToolGroup, parts: McpParts): void {
  const { tools, resources = [], guide } = group;
  for (const one of tools) if (parts.may(one.access)) addTool(server, one, group, parts);
  for (const one of resources) addResource(server, one, parts);
  if (guide) addPrompt(server, guide);
}

function addPrompt(server: McpServer, { prompt: { name, ...told }, text }: Guide): void {
  const argsSchema = z.object({ task: z.string().optional().describe("What is to be done now") });
  server.registerPrompt(name, { ...told, argsSchema }, ({ task }) => ({
    messages: [{ role: "user", content: { type: "text", text: text(task) } }],
  }));
}

/** The tools and the prompts stay as they are: whoever waited for news of them would wait for nothing. */
const capabilitiesOf = ({ groups, subscribes }: McpParts) => ({
  tools: { listChanged: false },
  ...(groups.some(({ guide }) => guide) && { prompts: { listChanged: false } }),
  resources: { subscribe: subscribes, listChanged: subscribes },
});

function addResource(server: McpServer, resource: Resource, parts: McpParts): void {
  const { uri, name, title, description, mimeType, read } = resource;
  server.registerResource(name, uri, { title, description, mimeType }, ({ href }) =>
    reading(parts, async (place) => ({ contents: [{ uri: href, mimeType, text: await read(place) }] })),
  );
}

function addTool(server: McpServer, one: Tool, group: ToolGroup, { open, touched, onFailure }: McpParts): void {
  const { name, title, description, access, isDestructive = false, isIdempotent = false, input, output } = one;
  const annotations = {
    readOnlyHint: access === "read" && !isDestructive,
    destructiveHint: isDestructive,
    idempotentHint: isIdempotent,
    openWorldHint: false,
  };
  const changed = (group.resources ?? []).map(({ uri }) => uri);
  const told = group.failureText ?? failureText;
  server.registerTool(
    name,
    { title, description, annotations, inputSchema: slim(input), outputSchema: slim(output) },
    async (given) => {
      try {
        const { data, text } = await one.run(await open(), given as never);
        if (!annotations.readOnlyHint) touched?.(changed);
        return { content: [{ type: "text", text }], structuredContent: data as { readonly [key: string]: unknown } };
      } catch (error) {
        if (!(error instanceof HoldfastError)) onFailure?.(name, error);
        return { content: [{ type: "text", text: told(error) }], isError: true };
      }
    },
  );
}
