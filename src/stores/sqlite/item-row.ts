/** An item as its removal sees it, and the words it is found by. */
import { analyse } from "../../retrieval/words/analyse.js";
import { contentLength } from "../../retrieval/words/stop.js";
import { packWords } from "./codec.js";
import type { Row } from "./driver.js";

/** What removing an item needs to know of it; its texts are there for the purge. */
export interface ItemRow extends Row {
  readonly key: number;
  readonly space: number;
  readonly session: number | null;
  readonly id: string;
  readonly words: string;
  readonly length: number;
  readonly expires_at: number | null;
}

export const ITEM_ROW =
  "SELECT key, space, session, words, length, id, name, content, parts, metadata, expires_at FROM item";

/** The words of an item: as counts, as they are stored, and its length. A speaker's name is among them. */
export function wordsOf(name: string | undefined, content: string) {
  const counts = analyse(name === undefined ? content : `${name} ${content}`);
  return { counts, words: packWords(counts), length: contentLength(counts) };
}
