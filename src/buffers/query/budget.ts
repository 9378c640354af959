/** Splits `buffer.query.maxBytes` between the caches. */

const ANSWERS = 1 / 16;
const QUESTIONS = 1 / 64;

export const answerBytes = (maxBytes: number): number => Math.floor(maxBytes * ANSWERS);
export const questionBytes = (maxBytes: number): number => Math.floor(maxBytes * QUESTIONS);
/** The remainder, for the store's in-memory copies of its vectors. */
export const mirrorBytes = (maxBytes: number): number => maxBytes - answerBytes(maxBytes) - questionBytes(maxBytes);
