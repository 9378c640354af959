/** Cutting waiting items for the embedder; one that cannot be cut to its measure is set aside and holds up no other. */
import type { Embedder, EmbedderDescription } from "../../embedding/embedder.js";
import { HoldfastError } from "../../errors.js";
import { chunkItems } from "../../retrieval/chunks/chunks.js";
import type { ChunkStrategy } from "../../retrieval/chunks/strategy.js";
import type { PendingItem } from "../../stores/indexing.js";
import type { Store } from "../../stores/store.js";
import type { ChunkedItem } from "./embedding-run.js";

export interface ChunkingParts {
  readonly store: Store;
  readonly strategy: ChunkStrategy;
  readonly embedder: Embedder;
}

export async function chunkPending(
  { store, strategy, embedder }: ChunkingParts,
  { tokensMax }: EmbedderDescription,
  items: readonly PendingItem[],
  now: number,
  setAside: (item: PendingItem, error: HoldfastError) => void,
): Promise<readonly ChunkedItem[]> {
  const keys = items.map(({ key }) => key);
  const earlier = strategy.neighbours > 0 ? await store.earlier(keys, strategy.neighbours, now) : [];
  const fit = { tokensMax, countTokens: (texts: readonly string[]) => embedder.countTokens(texts) };
  let requests = items.map((item, at) => ({ item, earlier: earlier[at] ?? [] }));
  while (requests.length > 0) {
    try {
      const chunked = await chunkItems(strategy, requests, fit);
      return requests.flatMap(({ item }, at) => (chunked[at] ? [{ item, chunked: chunked[at] }] : []));
    } catch (error) {
      const refused = error instanceof HoldfastError && error.code === "text_refused" ? error : undefined;
      const guilty = refused && requests[Number(refused.details["index"])];
      if (!refused || !guilty) throw error;
      setAside(guilty.item, refused);
      requests = requests.filter((request) => request !== guilty);
    }
  }
  return [];
}
