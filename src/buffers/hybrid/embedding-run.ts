/**
 * Embeds a batch of items, so that one of them can spoil nothing for the others: a text that the embedder refuses, or on
 * which it fails again and again while it answers for others, is set aside with its error. An embedder that is down is
 * nobody's fault: then the run ends with its error, and what is done is kept.
 */
import type { EmbedOptions } from "../../embedding/embedder.js";
import type { GuardedEmbedder } from "../../embedding/guarded.js";
import { HoldfastError } from "../../errors.js";
import type { Chunked } from "../../retrieval/chunks/chunk.js";
import type { PendingItem } from "../../stores/indexing.js";
import type { CachedItem } from "./vector-cache.js";

/** Texts per call: large enough to spare calls to a remote embedder, small enough to have something to show early. */
const TEXTS_PER_CALL = 128;

/** A text that every embedder takes. */
const PROBE = "ok";

export interface ChunkedItem {
  readonly item: PendingItem;
  readonly chunked: Chunked;
}

export interface RunOptions extends EmbedOptions {
  readonly accept: (item: CachedItem) => void;
  readonly setAside: (item: PendingItem, error: HoldfastError) => void;
}

/** Rejects only for what is nobody's fault. Every item before that was accepted or set aside. */
export async function embedItems(
  embedder: GuardedEmbedder,
  batch: readonly ChunkedItem[],
  options: RunOptions,
): Promise<void> {
  for (const part of partsOf(batch)) await embedPart(embedder, part, options);
}

async function embedPart(embedder: GuardedEmbedder, part: readonly ChunkedItem[], options: RunOptions): Promise<void> {
  if (part.length === 0) return;
  const { accept, setAside, ...embedOptions } = options;
  try {
    const texts = part.flatMap(({ chunked }) => chunked.chunks.map(({ text }) => text));
    const vectors = texts.length === 0 ? [] : await embedder.embed(texts, embedOptions);
    let at = 0;
    for (const { item, chunked } of part) {
      accept(cached(item, chunked, vectors.slice(at, at + chunked.chunks.length)));
      at += chunked.chunks.length;
    }
  } catch (error) {
    if (!(error instanceof HoldfastError)) throw error;
    if (error.code === "text_refused") {
      const guilty = itemAt(part, Number(error.details["index"]));
      if (!guilty) throw error;
      setAside(guilty.item, error);
      await embedPart(
        embedder,
        part.filter((one) => one !== guilty),
        options,
      );
      return;
    }
    if (error.code !== "embedder_failed" || options.urgent || embedder.status().circuit !== "closed") throw error;
    // If the embedder answers for another text, one of these is at fault; else this throws. It also keeps the circuit
    // closed while the text is looked for.
    await embedder.embed([PROBE], embedOptions);
    const [first] = part;
    if (part.length > 1) {
      const half = Math.ceil(part.length / 2);
      await embedPart(embedder, part.slice(0, half), options);
      await embedPart(embedder, part.slice(half), options);
    } else if (first) setAside(first.item, error);
  }
}

function cached(item: PendingItem, { chunks, borrowed }: Chunked, vectors: readonly Float32Array[]): CachedItem {
  const dimensions = vectors[0]?.length ?? 0;
  const joined = new Float32Array(vectors.length * dimensions);
  for (const [at, vector] of vectors.entries()) joined.set(vector, at * dimensions);
  const { key, id, version, lane, round, recordedAt } = item;
  const spans = chunks.map(({ start, end }) => ({ start, end }));
  return { key, id, version, lane, round, recordedAt, spans, vectors: joined, borrowed };
}

function itemAt(part: readonly ChunkedItem[], index: number): ChunkedItem | undefined {
  let end = 0;
  return part.find(({ chunked }) => {
    end += chunked.chunks.length;
    return index < end;
  });
}

function partsOf(batch: readonly ChunkedItem[]): readonly (readonly ChunkedItem[])[] {
  const parts: ChunkedItem[][] = [];
  let texts = 0;
  for (const one of batch) {
    const size = one.chunked.chunks.length;
    const last = parts.at(-1);
    if (last && texts + size <= TEXTS_PER_CALL) {
      last.push(one);
      texts += size;
    } else {
      parts.push([one]);
      texts = size;
    }
  }
  return parts;
}
