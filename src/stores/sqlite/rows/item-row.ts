/** An item as its removal needs it, and its search words. */
import { analyse } from "../../../retrieval/words/analyse.js";
import { exactTerms } from "../../../retrieval/words/exact.js";
import { contentLength } from "../../../retrieval/words/stop.js";
import { cut } from "../../../retrieval/words/terms.js";
import type { Row } from "../file/driver.js";
import { packWords } from "./codec.js";

/** The columns needed to remove an item. Its texts are included for the purge. */
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

/** Text is analysed in slices of up to this many UTF-16 units. A slice ends between two words. */
export const SLICE_UNITS = 2 ** 20;
/**
 * No further slice is indexed after this many distinct terms; the rest of the text is found by meaning only. Analysis
 * and indexing run on the single writer thread, and a slice of distinct words takes up to 0.8 s.
 */
export const TERMS_ENOUGH = 65_536;

/**
 * The words and exact terms of an item, including the speaker's name: as counts, in stored form, and the item's length.
 */
export function wordsOf(name: string | undefined, content: string) {
  const counts = new Map(name === undefined ? [] : analyse(name));
  const exact = new Set<string>();
  for (let at = 0; at < content.length && counts.size < TERMS_ENOUGH; ) {
    const slice = sliceAt(content, at);
    const text = at === 0 && name !== undefined ? `${name} ${slice}` : slice;
    if (at === 0) counts.clear();
    for (const [term, count] of analyse(text)) counts.set(term, (counts.get(term) ?? 0) + count);
    for (const term of exactTerms(slice)) exact.add(term);
    at += slice.length;
  }
  const length = contentLength(counts);
  for (const term of exact) counts.set(term, 1);
  return { counts, words: packWords(counts), length };
}

/** The next slice, up to its last blank, if there is one. */
function sliceAt(content: string, at: number): string {
  if (content.length - at <= SLICE_UNITS) return content.slice(at);
  const slice = cut(content.slice(at, at + SLICE_UNITS + 1), SLICE_UNITS);
  const blank = Math.max(slice.lastIndexOf(" "), slice.lastIndexOf("\n"));
  return blank > 0 ? slice.slice(0, blank + 1) : slice;
}
