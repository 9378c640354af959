/**
 * Memory blocks as resources: `memory://blocks/<name>`, the name percent-encoded.
 *
 * A block named "." or ".." has no such address, because every reader of addresses takes it for a folder: it is reached by
 * the tool.
 */
import { type McpServer, ResourceNotFoundError, ResourceTemplate } from "@modelcontextprotocol/server";
import type { Block } from "../stores/blocks.js";
import type { Workplace } from "./tool.js";

const PREFIX = "memory://blocks/";
const MIME = "text/plain";

export const uriOfBlock = (name: string): string => PREFIX + encodeURIComponent(name);

export const hasUri = ({ name }: Pick<Block, "name">): boolean => name !== "." && name !== "..";

/** Undefined: no address of a block. */
export function blockNameOf(uri: string): string | undefined {
  if (!uri.startsWith(PREFIX)) return undefined;
  try {
    return decodeURIComponent(uri.slice(PREFIX.length));
  } catch {
    return undefined; // half an escape
  }
}

export function addBlockResources(server: McpServer, open: () => Promise<Workplace>): void {
  const list = async () => {
    const { session } = await open();
    return { resources: (await session.blocks.list()).filter(hasUri).map(described) };
  };
  server.registerResource(
    "blocks",
    new ResourceTemplate(`${PREFIX}{name}`, { list }),
    { title: "Memory blocks", description: "Named notes that agents keep and edit.", mimeType: MIME },
    async ({ href }) => {
      const name = blockNameOf(href);
      const { session } = await open();
      const block = name === undefined ? undefined : await session.blocks.get(name);
      if (!block) throw new ResourceNotFoundError(href);
      return { contents: [{ uri: href, mimeType: MIME, text: block.content }] };
    },
  );
}

function described({ name, description, content, updatedAt }: Block) {
  return {
    uri: uriOfBlock(name),
    name,
    title: name, // else each would have the template's
    mimeType: MIME,
    ...(description !== undefined && { description }),
    size: Buffer.byteLength(content),
    annotations: { lastModified: new Date(updatedAt).toISOString() },
  };
}
