/**
 * The signature of a space in the logs of blocks and promotions, its own and those of other spaces. Callers may sign
 * differently.
 *
 * Guarantees of every store: renaming a space renames its signature in all logs; forgetting a space with its entry
 * removes the signature, even where it is the bare name.
 */
import type { SpaceRef } from "./types.js";

/** "user ada", "agent tutor". */
export function signatureOf(space: SpaceRef): string {
  const [[kind, name] = ["", ""]] = Object.entries(space);
  return `${kind} ${name}`;
}

/** Everything that is removed from the logs when the space is forgotten. */
export function signaturesOf(space: SpaceRef): readonly string[] {
  const [name = ""] = Object.values(space);
  return [signatureOf(space), name];
}
