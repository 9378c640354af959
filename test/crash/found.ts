/** What a store finds by meaning when it is asked for everything: each item must come up once, each chunk under one id. */
import { SqliteStore } from "holdfast/stores";
import { searchVectors } from "holdfast/testing";
import { HashEmbedder } from "../support/product.js";
import { LANES } from "./operation.js";

export interface FoundByMeaning {
  readonly items: number;
  /** Items and chunks that came up more than once. */
  readonly twice: readonly string[];
}

export async function foundByMeaning(path: string): Promise<FoundByMeaning> {
  const embedder = new HashEmbedder();
  const [vector] = await embedder.embed(["quiet rivers and small boats"]);
  const { space: vectorSpace } = await embedder.describe();
  const store = await SqliteStore.open({ path, busyTimeoutMs: 10_000 });
  let items = 0;
  const twice: string[] = [];
  try {
    for (const user of new Set(LANES.map((lane) => lane.user))) {
      const [spaces, now] = [[{ user }], Date.now()];
      const request = { spaces, vectorSpace, vector: vector as Float32Array, filter: {}, limit: 1_000_000, now };
      const ids = (await searchVectors(store, request)).map(({ id }) => id);
      const chunks = (await store.chunks(spaces, ids, now)).map(({ id }) => id);
      items += ids.length;
      twice.push(...repeated(ids), ...repeated(chunks));
    }
  } finally {
    await store.close();
  }
  return { items, twice };
}

function repeated(names: readonly string[]): string[] {
  const seen = new Set<string>();
  return names.filter((name) => seen.size === seen.add(name).size);
}
