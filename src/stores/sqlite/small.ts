/**
 * Small spaces: their rosters are on the main thread, which searches them by words itself; the vectors thread tells what it
 * knows of every item in them. All of that takes less time than to hand a search over.
 */
import type { SpaceRow } from "./filter.js";

/** Spaces of so many items together are small. */
export const SMALL_ITEMS = 4_096;
/** More words than these are searched by a thread: of long documents much has to be read. */
const SMALL_TERMS = 262_144;
/** The first search is made on the main thread in spaces of so many: to start the reader's thread takes longer. */
const FIRST_ITEMS = 16_384;
/** For each term of a question each space is looked up; for more than these a thread takes its time. */
const LOOK_UPS_MAX = 64;

/** Whether to search these spaces for so many terms takes a millisecond, or some if it is the first search. */
export function isQuick(spaces: readonly SpaceRow[], terms: number, isFirst: boolean): boolean {
  let [items, length] = [0, 0];
  for (const space of spaces) {
    items += space.items;
    length += space.terms;
  }
  const areFew = items <= (isFirst ? FIRST_ITEMS : SMALL_ITEMS);
  return areFew && length <= SMALL_TERMS && spaces.length * terms <= LOOK_UPS_MAX;
}
