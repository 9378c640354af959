/**
 * Cuts items into chunks that fit the model.
 *
 * - A chunk's text has at most `tokensMax` tokens, as the model counts them. Short texts are certain to fit. All others
 *   of a batch are counted in one call; those that are too long are replaced by shorter ones, which are counted in
 *   turn.
 * - An item's chunks depend only on the item and its neighbours, not on the batch or on how many drafts are fitted at
 *   once.
 * - Chunking runs on the main thread and yields to the event loop every few milliseconds, even within one long message.
 */
import { setImmediate } from "node:timers/promises";
import { systemClock } from "../../clock.js";
import { HoldfastError } from "../../errors.js";
import type { Chunkable, Chunked, Fit } from "./chunk.js";
import { type ChunkDraft, type ItemVersion, shorter, textOf } from "./draft.js";
import type { ChunkStrategy } from "./strategy.js";

export interface ChunkRequest {
  readonly item: Chunkable;
  /** The preceding messages of its session, oldest first: as many as the strategy uses, or fewer. */
  readonly earlier: readonly Chunkable[];
}

/** A draft of the item at `index`, with its text. */
interface Sheet {
  readonly index: number;
  readonly draft: ChunkDraft;
  readonly text: string;
}

/** A tokenizer makes at most one token per byte of decomposed text, plus a few special tokens. */
const SPECIAL_TOKENS_MAX = 8;
/** How long chunking may block the event loop. */
const TURN_MS = 5;

/** The drafts of one item, produced lazily. */
export class Drafts {
  readonly #drafts: Iterator<ChunkDraft>;
  #next: IteratorResult<ChunkDraft>;
  #again: readonly ChunkDraft[] = [];
  #end = 0;

  constructor(strategy: ChunkStrategy, { item, earlier }: ChunkRequest) {
    this.#drafts = strategy.split(item, earlier)[Symbol.iterator]();
    this.#next = this.#drafts.next();
  }

  /** True if there are no more drafts. */
  get isDone(): boolean {
    return this.#again.length === 0 && this.#next.done === true;
  }

  /** The position in the item's content where the last draft ended. */
  get end(): number {
    return this.#end;
  }

  next(): ChunkDraft | undefined {
    const [again, ...others] = this.#again;
    this.#again = others;
    if (again || this.#next.done) return again;
    const draft = this.#next.value;
    this.#end = draft.end;
    this.#next = this.#drafts.next();
    return draft;
  }

  /** Returns drafts that could not be used; `next` yields them again. */
  putBack(drafts: readonly ChunkDraft[]): void {
    this.#again = [...drafts, ...this.#again];
  }
}

/** The next drafts of these items, item by item, until their bodies reach `bytesMax` bytes or no drafts are left. */
export async function nextDrafts(
  items: readonly Drafts[],
  bytesMax: number,
): Promise<readonly (readonly ChunkDraft[])[]> {
  const turn = new Turn();
  const taken: ChunkDraft[][] = [];
  let bytes = 0;
  for (const drafts of items) {
    const own: ChunkDraft[] = [];
    taken.push(own);
    for (let draft = bytes < bytesMax && drafts.next(); draft; draft = bytes < bytesMax && drafts.next()) {
      own.push(draft);
      bytes += Buffer.byteLength(draft.body);
      if (turn.isOver) await turn.next();
    }
  }
  return taken;
}

/** The chunks of each item, in the order of the items. An item of only white space has none. */
export async function chunkItems(
  strategy: ChunkStrategy,
  items: readonly ChunkRequest[],
  fit: Fit,
): Promise<readonly Chunked[]> {
  const all = items.map((request) => new Drafts(strategy, request));
  return fitDrafts(await nextDrafts(all, Number.POSITIVE_INFINITY), fit);
}

/**
 * Fits the drafts of several items to the model. `text_refused` names an item by its index in the list
 * (`details.index`).
 */
export async function fitDrafts(items: readonly (readonly ChunkDraft[])[], fit: Fit): Promise<readonly Chunked[]> {
  const { tokensMax } = fit;
  const fitting: Sheet[][] = items.map(() => []);
  let unsure: Sheet[] = [];
  const file = (index: number, draft: ChunkDraft): void => {
    const sheet = { index, draft, text: textOf(draft) };
    if (surelyFits(sheet.text, tokensMax)) fitting[index]?.push(sheet);
    else unsure.push(sheet);
  };
  const turn = new Turn();
  for (const [index, drafts] of items.entries()) {
    for (const draft of drafts) {
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

function shorterOrRefused(index: number, draft: ChunkDraft, tokensMax: number): readonly ChunkDraft[] {
  const drafts = shorter(draft);
  if (drafts.length > 0) return drafts;
  throw new HoldfastError("text_refused", `The model accepts ${tokensMax} tokens, and a single character has more.`, {
    hint: "Choose an embedding model that accepts longer texts.",
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
  const borrowed = new Map<number, ItemVersion>();
  for (const { draft } of ordered) for (const { source } of draft.context) if (source) borrowed.set(source.key, source);
  return {
    chunks: ordered.map(({ draft: { start, end }, text }) => ({ start, end, text })),
    borrowed: [...borrowed.values()].sort((a, b) => a.key - b.key),
  };
}

/** A time slice on the main thread. It uses the real clock, because it bounds a real delay of the event loop. */
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
