/** Splits `buffer.query.maxBytes` between the caches. */

const ANSWERS = 1 / 16;
const QUESTIONS = 1 / 64;

export const answerBytes = (maxBytes: number): number => Math.floor(maxBytes * ANSWERS);
export const questionBytes = (maxBytes: number): number => Math.floor(maxBytes * QUESTIONS);
/** What remains of a cache while the process is short of memory. */
export const constrained = (bytes: number): number => Math.floor(bytes / 16);
/** The remainder, for the store's in-memory copies of its vectors. */
export const mirrorBytes = (maxBytes: number): number => maxBytes - answerBytes(maxBytes) - questionBytes(maxBytes);
