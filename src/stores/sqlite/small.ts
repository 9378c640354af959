/**
 * Spaces of so many items together are small. Their rosters are on the main thread, which searches them by words itself;
 * the vectors thread tells what it knows of every item in them. All of that takes less time than to hand a search over.
 */
export const SMALL_ITEMS = 4_096;

/** So many are searched on the main thread, too, until the reader's thread has started: that takes longer. */
export const STARTING_ITEMS = 16_384;
