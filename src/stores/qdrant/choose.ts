/** Chooses the external vector index from the options. */
import type { VectorIndex } from "../vector-index.js";
import { QdrantIndex } from "./qdrant-index.js";

/** Undefined: use only the file's own vectors. */
export function chooseIndex(options: {
  readonly url: string | undefined;
  readonly apiKey: string | undefined;
  readonly collection: string;
}): VectorIndex | undefined {
  const { url, apiKey, collection } = options;
  if (url === undefined) return undefined;
  return new QdrantIndex({ url, collection, ...(apiKey !== undefined && { apiKey }) });
}
