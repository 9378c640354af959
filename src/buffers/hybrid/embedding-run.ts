/**
 * Embeds items slice by slice and isolates failures. A text that the embedder refuses is set aside with its error; so
 * is one on which it fails repeatedly while it succeeds for others. If the embedder itself is down, no item is at
 * fault: the slice rejects with the embedder's error, finished work is kept, and the next slice starts with the rest.
 */
import type { EmbedderDescription, EmbedOptions } from "../../embedding/embedder.js";
import type { GuardedEmbedder } from "../../embedding/guarded.js";
import { HoldfastError } from "../../errors.js";
import type { Fit } from "../../retrieval/chunks/chunk.js";
import { fitDrafts, nextDrafts } from "../../retrieval/chunks/chunks.js";
import type { PendingItem } from "../../stores/indexing.js";
import type { CachedItem } from "./vector-cache.js";
import type { Work, WorkPart } from "./work.js";

/** Texts per call: large enough to save calls to a remote embedder, small enough to deliver the first results early. */
const TEXTS_PER_CALL = 128;
/** Default bytes of text per slice, if the embedder states none: several calls of short pieces, or one of long ones. */
const SLICE_BYTES = 64 * 1024;

/** A text that every embedder accepts. */
const PROBE = "ok";

export interface RunOptions extends EmbedOptions {
  readonly accept: (item: CachedItem) => void;
  readonly setAside: (item: PendingItem, error: HoldfastError) => void;
}

/** Bytes of text to embed before other lanes get their turn. */
export const sliceBytesOf = ({ sliceBytes = SLICE_BYTES }: EmbedderDescription): number => sliceBytes;

/** Embeds all of these items. Rejects only for errors that no item caused. */
export async function embedAll(
  embedder: GuardedEmbedder,
  description: EmbedderDescription,
  works: readonly Work[],
  options: RunOptions,
): Promise<void> {
  for (let left = works; left.length > 0; left = left.filter(({ isOver }) => !isOver)) {
    await embedSlice(embedder, description, left, sliceBytesOf(description), options);
  }
}

/**
 * Embeds the next pieces of these items, item by item, until `bytesMax` bytes of text are embedded. Rejects only for
 * errors that no item caused.
 */
export async function embedSlice(
  embedder: GuardedEmbedder,
  { tokensMax }: EmbedderDescription,
  works: readonly Work[],
  bytesMax: number,
  options: RunOptions,
): Promise<void> {
  if (works.every(({ parts }) => parts.length === 0)) {
    const fit = { tokensMax, countTokens: (texts: readonly string[]) => embedder.countTokens(texts) };
    await cut(works, bytesMax, fit, options);
  }
  for (const call of callsOf(works.flatMap(({ parts }) => parts))) await embedParts(embedder, call, options);
}

/** Cuts the next pieces. An item that cannot be cut to the model's token limit is set aside and delays no other. */
async function cut(works: readonly Work[], bytesMax: number, fit: Fit, options: RunOptions): Promise<void> {
  const { accept, setAside } = options;
  const drafts = await nextDrafts(
    works.map((work) => work.drafts),
    bytesMax,
  );
  let begun = works.map((work, at) => ({ work, drafts: drafts[at] ?? [] }));
  for (;;) {
    try {
      const chunked = await fitDrafts(
        begun.map((one) => one.drafts),
        fit,
      );
      for (const [at, { work }] of begun.entries()) {
        work.cut(chunked[at] ?? { chunks: [], borrowed: [] }, TEXTS_PER_CALL);
        if (work.isEmbedded && !work.isOver) finish(work, accept); // it has no text to embed
      }
      return;
    } catch (error) {
      const refused = error instanceof HoldfastError && error.code === "text_refused" ? error : undefined;
      const guilty = refused && begun[Number(refused.details["index"])];
      if (!refused || !guilty) {
        for (const { work, drafts } of begun) work.drafts.putBack(drafts);
        throw error;
      }
      guilty.work.end();
      setAside(guilty.work.item, refused);
      begun = begun.filter((one) => one !== guilty);
    }
  }
}

function finish(work: Work, accept: RunOptions["accept"]): void {
  work.end();
  accept(work.embedded);
}

/** Embeds these parts in one call, or in several calls if one of the parts makes it fail. */
async function embedParts(embedder: GuardedEmbedder, parts: readonly WorkPart[], options: RunOptions): Promise<void> {
  const live = parts.filter(({ work }) => !work.isOver);
  const [first] = live;
  if (!first) return;
  const { accept, setAside, ...embedOptions } = options;
  const drop = (guilty: WorkPart, error: HoldfastError): void => {
    guilty.work.end();
    setAside(guilty.work.item, error);
  };
  try {
    const texts = live.flatMap(({ chunks }) => chunks.map(({ text }) => text));
    const vectors = await embedder.embed(texts, embedOptions);
    let at = 0;
    for (const part of live) {
      const { work, chunks } = part;
      if (!work.isOver) work.add(part, vectors.slice(at, at + chunks.length));
      at += chunks.length;
      if (!work.isOver && work.isEmbedded) finish(work, accept);
    }
  } catch (error) {
    if (!(error instanceof HoldfastError)) throw error;
    if (error.code === "text_refused") {
      const guilty = partAt(live, Number(error.details["index"]));
      if (!guilty) throw error;
      drop(guilty, error);
      await embedParts(embedder, live, options);
      return;
    }
    if (error.code !== "embedder_failed" || options.urgent || embedder.status().circuit !== "closed") throw error;
    // If the embedder succeeds for another text, one of these is at fault; otherwise this throws. The probe also keeps
    // the circuit breaker closed during the search for the bad text.
    await embedder.embed([PROBE], embedOptions);
    if (live.length > 1) {
      const half = Math.ceil(live.length / 2);
      await embedParts(embedder, live.slice(0, half), options);
      await embedParts(embedder, live.slice(half), options);
    } else drop(first, error);
  }
}

function partAt(parts: readonly WorkPart[], index: number): WorkPart | undefined {
  let end = 0;
  return parts.find(({ chunks }) => {
    end += chunks.length;
    return index < end;
  });
}

function callsOf(parts: readonly WorkPart[]): readonly (readonly WorkPart[])[] {
  const calls: WorkPart[][] = [];
  let texts = 0;
  for (const part of parts) {
    const last = calls.at(-1);
    if (last && texts + part.chunks.length <= TEXTS_PER_CALL) {
      last.push(part);
      texts += part.chunks.length;
    } else {
      calls.push([part]);
      texts = part.chunks.length;
    }
  }
  return calls;
}
