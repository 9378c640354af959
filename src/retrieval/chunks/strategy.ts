/**
 * The chunk strategies: how an item is cut into chunks, independently of the model.
 *
 * - `message`: the pieces of the item (pieces.ts), each with the speaker's name.
 * - `contextual`: the same pieces, each preceded by the end of the two messages before it and of the piece before it.
 *
 * Both are pure and lazy: the same item and neighbours give the same drafts, each produced on demand.
 */
import type { Chunkable, ChunkStrategyName } from "./chunk.js";
import { ending } from "./cuts.js";
import { type ChunkDraft, type Context, draftOf } from "./draft.js";
import { pieces } from "./pieces.js";

export interface ChunkStrategy {
  readonly name: ChunkStrategyName;
  /** How many earlier messages of the session it reads. */
  readonly neighbours: number;
  /** The item's drafts in order, not yet fitted to a model. `earlier` is oldest first. */
  split(item: Chunkable, earlier: readonly Chunkable[]): Iterable<ChunkDraft>;
}

/** How many UTF-16 units of context are taken from each message before, and from the piece before. */
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

/** The context taken from an earlier message; none if there is no usable text. */
function contextOf(earlier: Chunkable): readonly Context[] {
  const text = ending(earlier.content, MESSAGE_BEFORE_UNITS);
  const { key, version } = earlier;
  return text === "" ? [] : [{ name: nameOf(earlier), text, source: { key, version } }];
}
