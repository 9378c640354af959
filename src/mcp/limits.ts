/** Default limit of an answer, in estimated tokens. */
export const ANSWER_TOKENS = 4_000;
/** Leaves room for headings and notes, and for a good part of a text. */
export const ANSWER_TOKENS_MIN = 500;
