/**
 * Items → chunks that fit the model.
 *
 * - Every chunk's text has at most `tokensMax` tokens as the model itself counts them. Short texts are sure to fit; all
 *   others of a batch are counted in one call, those too long are replaced by shorter ones, and so on.
 * - An item's chunks depend on the item and its neighbours alone, not on the batch it comes in.
 * - It runs on the main thread, so it gives way to others every few milliseconds, also within a long message.
 */
import { setImmediate } from "node:timers/promises";
import { systemClock } from "../../clock.js";
import { HoldfastError } from "../../errors.js";
import type { Chunkable, Chunked, Fit } from "./chunk.js";
import { type Draft, type Source, shorter, textOf } from "./draft.js";
import type { ChunkStrategy } from "./strategy.js";

export interface ChunkRequest {
  readonly item: Chunkable;
  /** The messages before it in its session, oldest first; as many as the strategy wants, or fewer. */
  readonly earlier: readonly Chunkable[];
}

/** A draft of the item at `index`, with its text. */
interface Sheet {
  readonly index: number;
  readonly draft: Draft;
  readonly text: string;
}

/** No tokenizer makes more tokens than there are bytes after decomposition, and a few special ones around them. */
const SPECIAL_TOKENS_MAX = 8;
/** How long it may keep the thread. */
const TURN_MS = 5;

/** The chunks of each item, in the order of the items. An item of white space has none. */
export async function chunkItems(
  strategy: ChunkStrategy,
  items: readonly ChunkRequest[],
  fit: Fit,
): Promise<readonly Chunked[]> {
  const { tokensMax } = fit;
  const fitting: Sheet[][] = items.map(() => []);
  let unsure: Sheet[] = [];
  const file = (index: number, draft: Draft): void => {
    const sheet = { index, draft, text: textOf(draft) };
    if (surelyFits(sheet.text, tokensMax)) fitting[index]?.push(sheet);
    else unsure.push(sheet);
  };
  const turn = new Turn();
  for (const [index, { item, earlier }] of items.entries()) {
    for (const draft of strategy.split(item, earlier)) {
      file(index, draft);
      if (turn.isOver) await turn.next();
    }
  }
  while (unsure.length > 0) {
    const asked = unsure;
    unsure = [];
    const counts = await fit.countTokens(asked.map(({ text }) => text));
    if (counts.length !== asked.length) throw miscounted(counts.length, asked.length);
    await turn.next();
    for (const [place, sheet] of asked.entries()) {
      const { index, draft } = sheet;
      if (Number(counts[place]) <= tokensMax) fitting[index]?.push(sheet);
      else for (const next of shorterOrRefused(index, draft, tokensMax)) file(index, next);
      if (turn.isOver) await turn.next();
    }
  }
  return fitting.map(chunkedOf);
}

function surelyFits(text: string, tokensMax: number): boolean {
  const room = tokensMax - SPECIAL_TOKENS_MAX;
  return text.length <= room && Buffer.byteLength(text.normalize("NFD")) <= room;
}

function shorterOrRefused(index: number, draft: Draft, tokensMax: number): readonly Draft[] {
  const drafts = shorter(draft);
  if (drafts.length > 0) return drafts;
  throw new HoldfastError("text_refused", `The model takes ${tokensMax} tokens, and a single character has more.`, {
    hint: "Choose an embedding model that takes longer texts.",
    details: { index },
  });
}

function miscounted(got: number, wanted: number): HoldfastError {
  return new HoldfastError("embedder_failed", `The embedder counted the tokens of ${got} texts instead of ${wanted}.`, {
    hint: "countTokens must return one number per text.",
  });
}

function chunkedOf(sheets: readonly Sheet[]): Chunked {
  const ordered = [...sheets].sort((a, b) => a.draft.start - b.draft.start);
  const borrowed = new Map<number, Source>();
  for (const { draft } of ordered) for (const { source } of draft.context) if (source) borrowed.set(source.key, source);
  return {
    chunks: ordered.map(({ draft: { start, end }, text }) => ({ start, end, text })),
    borrowed: [...borrowed.values()].sort((a, b) => a.key - b.key),
  };
}

/** A turn on the main thread. The real clock decides, for it is real time that others wait. */
class Turn {
  #started = systemClock.passed();

  get isOver(): boolean {
    return systemClock.passed() - this.#started >= TURN_MS;
  }

  async next(): Promise<void> {
    await setImmediate();
    this.#started = systemClock.passed();
  }
}
