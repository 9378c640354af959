/**
 * Memory blocks as resources: `memory://blocks/<name>`, the name percent-encoded.
 *
 * A block named "." or ".." has no such address, because URL parsers treat it as a folder. The tool reaches it.
 */
import {
  type McpServer,
  ProtocolError,
  ProtocolErrorCode,
  ResourceNotFoundError,
  ResourceTemplate,
} from "@modelcontextprotocol/server";
import { shortened } from "../context/fence.js";
import { rendered } from "../rendered.js";
import type { Block } from "../stores/blocks.js";
import { failureText } from "./failure.js";
import type { ToolContext } from "./tool.js";

const PREFIX = "memory://blocks/";
const MIME = "text/plain";
const DESCRIPTION_MAX = 120;

export const uriOfBlock = (name: string): string => PREFIX + encodeURIComponent(name);

export const hasUri = ({ name }: Pick<Block, "name">): boolean => name !== "." && name !== "..";

/** Undefined if the URI is not that of a block. */
export function blockNameOf(uri: string): string | undefined {
  if (!uri.startsWith(PREFIX)) return undefined;
  try {
    return decodeURIComponent(uri.slice(PREFIX.length));
  } catch {
    return undefined; // a truncated escape
  }
}

export interface ReadingParts {
  readonly open: () => Promise<ToolContext>;
  readonly onFailure?: (what: string, error: unknown) => unknown;
}

/** Wraps reads for the SDK, which sends the message of any error to the client: unexpected errors must reveal nothing. */
export async function reading<T>(
  { open, onFailure }: ReadingParts,
  read: (place: ToolContext) => Promise<T>,
): Promise<T> {
  try {
    return await read(await open());
  } catch (error) {
    if (error instanceof ProtocolError) throw error;
    const known = onFailure ? onFailure("reading a resource", error) : error;
    throw new ProtocolError(ProtocolErrorCode.InternalError, failureText(known));
  }
}

export function addBlockResources(server: McpServer, parts: ReadingParts): void {
  const list = () =>
    reading(parts, async ({ session }) => ({
      resources: (await session.blocks.list()).filter(hasUri).map(described),
    }));
  server.registerResource(
    "blocks",
    new ResourceTemplate(`${PREFIX}{name}`, { list }),
    { title: "Memory blocks", description: "Named notes that agents keep and edit.", mimeType: MIME },
    ({ href }) =>
      reading(parts, async ({ session }) => {
        const name = blockNameOf(href);
        const block = name === undefined ? undefined : await session.blocks.get(name);
        if (!block) throw new ResourceNotFoundError(href);
        return { contents: [{ uri: href, mimeType: MIME, text: rendered(block.content) }] };
      }),
  );
}

function described({ name, description, content, updatedAt }: Block) {
  return {
    uri: uriOfBlock(name),
    name: shortened(name),
    title: shortened(name), // otherwise each would have the template's title
    mimeType: MIME,
    ...(description !== undefined && { description: shortened(description, DESCRIPTION_MAX) }),
    size: Buffer.byteLength(content),
    annotations: { lastModified: new Date(updatedAt).toISOString() },
  };
}
