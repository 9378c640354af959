/**
 * Memory blocks as resources: `memory://blocks/<name>`, the name percent-encoded.
 *
 * A block named "." or ".." has no such address, because every reader of addresses takes it for a folder: it is reached by
 * the tool.
 */
import {
  type McpServer,
  ProtocolError,
  ProtocolErrorCode,
  ResourceNotFoundError,
  ResourceTemplate,
} from "@modelcontextprotocol/server";
import { HoldfastError } from "../errors.js";
import type { Block } from "../stores/blocks.js";
import { failureText } from "./failure.js";
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

export interface ReadingParts {
  readonly open: () => Promise<Workplace>;
  readonly onFailure?: (what: string, error: unknown) => void;
}

/** Reads for the protocol, which tells its client the text of whatever is thrown: a failure that is not ours must say nothing. */
export async function reading<T>(
  { open, onFailure }: ReadingParts,
  read: (place: Workplace) => Promise<T>,
): Promise<T> {
  try {
    return await read(await open());
  } catch (error) {
    if (error instanceof ProtocolError) throw error;
    if (!(error instanceof HoldfastError)) onFailure?.("reading a resource", error);
    throw new ProtocolError(ProtocolErrorCode.InternalError, failureText(error));
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
        return { contents: [{ uri: href, mimeType: MIME, text: block.content }] };
      }),
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
