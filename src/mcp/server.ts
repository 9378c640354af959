/**
 * The MCP server of one scope: tools, blocks as resources, and a prompt. The SDK implements the protocol, in both its eras;
 * stdio.ts and the HTTP server provide the connections.
 */
import { McpServer } from "@modelcontextprotocol/server";
import { z } from "zod";
import { rendered } from "../rendered.js";
import { parseWith } from "../schemas/validation.js";
import type { Access } from "../stores/keys.js";
import { VERSION } from "../version.js";
import { failureText } from "./failure.js";
import { addBlockResources, reading } from "./resources.js";
import { slim, unchecked } from "./slim.js";
import type { Guide, Resource, Tool, ToolContext, ToolGroup } from "./tool.js";

export interface McpParts {
  readonly groups: readonly ToolGroup[];
  /** Opens the memory on first use. */
  readonly open: () => Promise<ToolContext>;
  readonly may: (access: Access) => boolean;
  /** True if this client can be notified of changed blocks. */
  readonly subscribes: boolean;
  /** Called after a tool has written: blocks may have changed, and the resources at these addresses have. */
  readonly touched?: (uris: readonly string[]) => void;
  /** Receives every error and returns what the client may see. Default: the error itself. */
  readonly onFailure?: (tool: string, error: unknown) => unknown;
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
  const argsSchema = z.object({ task: z.string().optional().describe("The current task") });
  server.registerPrompt(name, { ...told, argsSchema }, ({ task }) => ({
    messages: [{ role: "user", content: { type: "text", text: text(task) } }],
  }));
}

/** Tools and prompts never change, so no notifications are announced for them. */
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

/** The input with its keys under the names of the schema. A key that is given under both names is left for validation. */
function renamed(given: object | undefined, aliases: { readonly [key: string]: string } = {}): object {
  const entries = Object.entries(given ?? {});
  const names = new Set(entries.map(([key]) => key));
  const nameOf = (key: string): string => {
    const name = Object.hasOwn(aliases, key) ? aliases[key] : undefined;
    return name === undefined || names.has(name) ? key : name;
  };
  return Object.fromEntries(entries.map(([key, value]) => [nameOf(key), value]));
}

const inputOf = ({ input }: Tool) => ({
  whole: "the input",
  hint: `known keys: ${Object.keys(input.shape).join(", ")}`,
  show: (field: string) => `\`${field}\``,
});

function addTool(server: McpServer, one: Tool, group: ToolGroup, { open, may, touched, onFailure }: McpParts): void {
  const { name, title, description, access, isDestructive = false, isIdempotent = false, input, output } = one;
  const isReading = access === "read" && !isDestructive;
  const annotations = {
    readOnlyHint: isReading && !(one.isRecording && may("write")),
    destructiveHint: isDestructive,
    idempotentHint: isIdempotent,
    openWorldHint: false,
  };
  const changed = (group.resources ?? []).map(({ uri }) => uri);
  const told = group.failureText ?? failureText;
  server.registerTool(
    name,
    { title, description, annotations, inputSchema: unchecked(slim(input)), outputSchema: slim(output) },
    async (given) => {
      try {
        const checked = parseWith(input, renamed(given, one.aliases), inputOf(one));
        const { data, text } = await one.run(await open(), checked as never);
        if (!isReading) touched?.(changed);
        return { content: [{ type: "text", text }], structuredContent: data as { readonly [key: string]: unknown } };
      } catch (error) {
        const text = rendered(told(onFailure ? onFailure(name, error) : error));
        return { content: [{ type: "text", text }], isError: true };
      }
    },
  );
}
