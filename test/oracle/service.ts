/**
 * A service on a file whose caches are tiny, so that answers, victims and the vectors of spaces are evicted all the
 * time. The public options do not allow such small budgets.
 */
import { BufferService, type Clock, Memory } from "holdfast";
import type { Embedder } from "holdfast/embedding";
import { SqliteStore } from "holdfast/stores";
import { HashEmbedder } from "holdfast/testing";
import type { Strategy } from "../support/vectors.js";
import { loadConfig } from "./parts.js";

/** Room for the vectors of one space at a time; less would have room for none. */
export const ONE_MIRROR_BYTES = 170_000;

export interface Setting {
  /** Undefined for words only. */
  readonly strategy?: Strategy;
  readonly eager: boolean;
  readonly cacheSize: number;
  /** Of answers, and of the vectors of questions. */
  readonly queryBytes: number;
  readonly mirrorBytes: number;
}

export interface Opening extends Setting {
  readonly path: string;
  readonly clock: Clock;
  readonly embedder?: Embedder;
}

export async function openService(opening: Opening): Promise<Memory> {
  const { path, clock, strategy, eager, cacheSize, queryBytes, mirrorBytes } = opening;
  const embedder = strategy && (opening.embedder ?? new HashEmbedder());
  const buffer = {
    roundBuffer: { eager },
    hybridBuffer: { chunkStrategy: strategy ?? "message", embeddingModel: "none" },
    query: { cacheSize },
  } as const;
  const options = loadConfig({ code: { path, clock, buffer }, env: {}, file: undefined });
  const query = { ...options.buffer.query, maxBytes: queryBytes };
  const store = await SqliteStore.open({ path, ...options.store, mirrorBytes });
  const resolved = { ...options, ...(embedder && { embedder }), buffer: { ...options.buffer, query } };
  const service = new BufferService(store, resolved, { embedder });
  await service.start();
  return new Memory(service);
}
