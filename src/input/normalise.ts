/**
 * The form of a question's text in which it is asked, embedded and kept.
 *
 * What a reader cannot see makes no other question: Unicode composition and white space. Everything else stays, because
 * it may change the answer: case tells Rose from rose and US from us, to names and to the model; punctuation tells a
 * question from a statement, and C from C++. The answer is that of the normalised text, so two spellings of one
 * question cannot get different answers.
 */
export const normaliseQuestion = (text: string): string => text.normalize("NFC").replace(/\s+/gu, " ").trim();
