/** How long an answer to a model may be, in tokens by the estimate. */
export const ANSWER_TOKENS = 4_000;
/** What stands around a text must fit, and a good part of the text. */
export const ANSWER_TOKENS_MIN = 500;
