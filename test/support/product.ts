/**
 * Parts of the compiled package that are not public, for tests that compute expected results themselves. They are
 * imported by path, because the public entry "holdfast/testing" needs vitest, which child processes lack.
 */
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { HashEmbedder as Embedder, HashEmbedderOptions } from "holdfast/testing";
import type { loadConfig as load } from "../../build/lib/config.js";
import type { chunkItems as chunk } from "../../build/lib/retrieval/chunks/chunks.js";
import type { chunkStrategy as strategy } from "../../build/lib/retrieval/chunks/strategy.js";
import type * as codes from "../../build/lib/retrieval/vectors/codes.js";
import { root } from "./root.js";

export type HashEmbedder = Embedder;
export type { ChunkRequest } from "../../build/lib/retrieval/chunks/chunks.js";

const part = (path: string): Promise<unknown> => import(pathToFileURL(join(root, "build/lib", path)).href);

export const { HashEmbedder } = (await part("testing/hash-embedder.js")) as {
  readonly HashEmbedder: new (options?: HashEmbedderOptions) => Embedder;
};
export const { loadConfig } = (await part("config.js")) as { readonly loadConfig: typeof load };
export const { chunkItems } = (await part("retrieval/chunks/chunks.js")) as { readonly chunkItems: typeof chunk };
/** Vectors as the file keeps them. */
export const { decode, encode, rounded } = (await part("retrieval/vectors/codes.js")) as typeof codes;
export const { chunkStrategy } = (await part("retrieval/chunks/strategy.js")) as {
  readonly chunkStrategy: typeof strategy;
};
