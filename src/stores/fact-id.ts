/**
 * The id of a fact follows from what it says, so that the same fact is the same item, whoever offers it and however it is
 * spelled: letter case, white space, Unicode forms and the mark at the end of the sentence make no other fact. Two facts
 * that differ in anything else have different ids, and no part of a category can pass for a part of a content.
 */
import { createHash } from "node:crypto";

const PREFIX = "fact-";

export const isFactId = (id: string): boolean => id.startsWith(PREFIX);

export function factId(category: string, content: string): string {
  const pair = JSON.stringify([normalised(category), normalised(content)]);
  return `${PREFIX}${createHash("sha256").update(pair).digest("base64url")}`;
}

/** A text of nothing but marks and blanks stays as it is: what is left of it would be the same for all of them. */
function normalised(text: string): string {
  // toLowerCase knows no locale; with one, a file would have other ids on a Turkish computer.
  const lower = text.normalize("NFKC").toLowerCase().replace(/\s+/gu, " ").trim();
  return withoutEnd(lower) || text;
}

/** By hand: a regular expression would take quadratic time on a long run of marks that does not end the text. */
function withoutEnd(text: string): string {
  let end = text.length;
  while (end > 0 && " .!?。…".includes(text.charAt(end - 1))) end--;
  return text.slice(0, end);
}
