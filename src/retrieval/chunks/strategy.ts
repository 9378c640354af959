/**
 * The chunk strategies: how an item becomes chunks, whatever the model.
 *
 * - `message`: the pieces of the item (pieces.ts), each with its speaker's name.
 * - `contextual`: the same pieces, and with each the end of the two messages before it and of the piece before it.
 *
 * Both are pure and lazy: the same item and neighbours give the same drafts, and a draft is made when it is asked for.
 */
import type { Chunkable, ChunkStrategyName } from "./chunk.js";
import { ending } from "./cuts.js";
import { type Context, type Draft, draftOf } from "./draft.js";
import { pieces } from "./pieces.js";

export interface ChunkStrategy {
  readonly name: ChunkStrategyName;
  /** How many earlier messages of the session it wants to see. */
  readonly neighbours: number;
  /** The item's chunks in order, before they are made to fit a model. `earlier` is oldest first. */
  split(item: Chunkable, earlier: readonly Chunkable[]): Iterable<Draft>;
}

/** How much is borrowed, in UTF-16 units: of each message before, and of the same message's piece before. */
const MESSAGE_BEFORE_UNITS = 200;
const PIECE_BEFORE_UNITS = 100;

const message: ChunkStrategy = {
  name: "message",
  neighbours: 0,
  *split(item) {
    const name = nameOf(item);
    for (const piece of pieces(item.content)) yield draftOf(item.content, piece, name, []);
  },
};

const contextual: ChunkStrategy = {
  name: "contextual",
  neighbours: 2,
  *split(item, earlier) {
    const name = nameOf(item);
    const before = earlier.slice(-this.neighbours).flatMap(contextOf);
    let own: readonly Context[] = [];
    for (const piece of pieces(item.content)) {
      const draft = draftOf(item.content, piece, name, [...before, ...own]);
      yield draft;
      const text = ending(draft.body, PIECE_BEFORE_UNITS);
      own = text === "" ? [] : [{ name, text }];
    }
  },
};

const strategies = { message, contextual } satisfies Record<ChunkStrategyName, ChunkStrategy>;

export function chunkStrategy(name: ChunkStrategyName): ChunkStrategy {
  return strategies[name];
}

const nameOf = ({ name }: Chunkable): string => name?.trim() ?? "";

/** What is borrowed of an earlier message; nothing if there is nothing to borrow. */
function contextOf(earlier: Chunkable): readonly Context[] {
  const text = ending(earlier.content, MESSAGE_BEFORE_UNITS);
  const { key, version } = earlier;
  return text === "" ? [] : [{ name: nameOf(earlier), text, source: { key, version } }];
}
