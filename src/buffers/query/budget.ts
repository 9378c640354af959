/** How `buffer.query.maxBytes` is shared out. */

const ANSWERS = 1 / 16;
const QUESTIONS = 1 / 64;

export const answerBytes = (maxBytes: number): number => Math.floor(maxBytes * ANSWERS);
export const questionBytes = (maxBytes: number): number => Math.floor(maxBytes * QUESTIONS);
/** The store's mirrors of hot spaces have the rest. */
export const mirrorBytes = (maxBytes: number): number => maxBytes - answerBytes(maxBytes) - questionBytes(maxBytes);
