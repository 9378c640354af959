/** "/" was pressed on a page without a question: Search, which it opens, takes the focus to its own. */
import { signal } from "@preact/signals";

export const isQuestionWanted = signal(false);
