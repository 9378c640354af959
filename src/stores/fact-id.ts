/**
 * The id of a fact is derived from its content, so that the same fact is the same item regardless of who adds it and
 * how it is spelled: letter case, white space, Unicode forms and closing punctuation make no difference. Facts that
 * differ in anything else have different ids, and no part of a category can be mistaken for a part of a content.
 */
import { createHash } from "node:crypto";

const PREFIX = "fact-";

export const isFactId = (id: string): boolean => id.startsWith(PREFIX);

export function factId(category: string, content: string): string {
  const pair = JSON.stringify([normalised(category), normalised(content)]);
  return `${PREFIX}${createHash("sha256").update(pair).digest("base64url")}`;
}

/**
 * A text of only punctuation and blanks stays unchanged, because all such texts would otherwise normalise to the same
 * one.
 */
function normalised(text: string): string {
  // toLowerCase ignores the locale. A locale-aware version would give a file other ids on a Turkish computer.
  const lower = text.normalize("NFKC").toLowerCase().replace(/\s+/gu, " ").trim();
  return withoutEnd(lower) || text;
}

/** A loop, because a regular expression would take quadratic time on a long run of punctuation inside the text. */
function withoutEnd(text: string): string {
  let end = text.length;
  while (end > 0 && " .!?。…".includes(text.charAt(end - 1))) end--;
  return text.slice(0, end);
}
