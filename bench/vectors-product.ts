/** The non-public parts of the product that search vectors in memory. */
import type { encode } from "../build/lib/retrieval/vectors/codes.js";
import type { Mirror } from "../build/lib/retrieval/vectors/mirror.js";
import type { Nearest } from "../build/lib/retrieval/vectors/nearest.js";
import type { PagePool } from "../build/lib/retrieval/vectors/page-pool.js";
import type { Question } from "../build/lib/retrieval/vectors/quantise.js";

export interface VectorParts {
  readonly encode: typeof encode;
  readonly Mirror: typeof Mirror;
  readonly Nearest: typeof Nearest;
  readonly PagePool: typeof PagePool;
  readonly Question: typeof Question;
}

export async function loadVectorParts(): Promise<VectorParts> {
  const part = async (name: string) =>
    (await import(new URL(`../lib/retrieval/vectors/${name}.js`, import.meta.url).href)) as Partial<VectorParts>;
  const parts = await Promise.all(["codes", "mirror", "nearest", "page-pool", "quantise"].map(part));
  return Object.assign({}, ...parts) as VectorParts;
}
