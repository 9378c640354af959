/** How `buffer.query.maxBytes` is shared out. */

const ANSWERS = 1 / 16;
const QUESTIONS = 1 / 64;
const ROSTERS = 1 / 4;

export const answerBytes = (maxBytes: number): number => Math.floor(maxBytes * ANSWERS);
export const questionBytes = (maxBytes: number): number => Math.floor(maxBytes * QUESTIONS);
/** What the store keeps of the items of hot spaces. */
export const rosterBytes = (maxBytes: number): number => Math.floor(maxBytes * ROSTERS);
/** The store's mirrors of their vectors have the rest. */
export const mirrorBytes = (maxBytes: number): number =>
  maxBytes - answerBytes(maxBytes) - questionBytes(maxBytes) - rosterBytes(maxBytes);
