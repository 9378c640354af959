import { isSoundIdentity } from "../text.js";
import { NAME_UNITS_MAX } from "./limits.js";
import { invalid, tooLarge, wrongType } from "./refusal.js";

/**
 * Parses an identity: an id, an idempotency key, or the name of a user, agent, team or session. It is kept exactly as
 * given, because two different names must not become one: no trimming, no normalisation, no repair.
 */
export function parseIdentity(value: unknown, where: string): string {
  if (typeof value !== "string") throw wrongType(where, "a string", value);
  if (value === "") throw invalid(where, "must not be empty", "give a name of at least one character, or leave it out");
  if (value.length > NAME_UNITS_MAX) {
    throw tooLarge(where, `${NAME_UNITS_MAX} characters`, "use a shorter name, or a hash of the long one");
  }
  if (!isSoundIdentity(value)) {
    const hint = "names and ids are kept exactly as given, so they are not repaired: take these characters out";
    throw invalid(where, "must not contain NUL or half of a surrogate pair", hint);
  }
  return value;
}
