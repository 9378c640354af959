/** Checks every answer of an embedder, so that no wrong vector is passed on, and scales vectors that are not of length 1. */
import { HoldfastError } from "../errors.js";
import { isSoundIdentity } from "../text.js";
import type { EmbedderDescription } from "./embedder.js";

/** Refuses a description that would make the file unreadable, or cut texts in the wrong places. */
export function checkDescription(description: EmbedderDescription, model: string): void {
  const { space, tokensMax, sliceBytes } = description ?? {};
  if (space?.model !== model) throw undescribed("space.model", "the embedder's own model");
  if (typeof space.runtime !== "string" || space.runtime === "" || !isSoundIdentity(space.runtime)) {
    throw undescribed("space.runtime", "a name");
  }
  for (const [what, count] of Object.entries({ "space.dimensions": space.dimensions, tokensMax, sliceBytes })) {
    const isLeftOut = count === undefined && what === "sliceBytes";
    if (!isLeftOut && !(Number.isSafeInteger(count) && Number(count) >= 1))
      throw undescribed(what, "a whole number of at least 1");
  }
}

function undescribed(what: string, expected: string): HoldfastError {
  return new HoldfastError("embedder_failed", `the embedder's description has no usable ${what}`, {
    hint: `describe() must answer with ${what}: ${expected}; until then search uses words alone, and added items stay pending`,
  });
}

/** How far the length of a vector may be from 1 without being scaled: services round their numbers. */
const LENGTH_TOLERANCE = 0.01;

/** The vectors, each of length 1. */
export function soundVectors(
  vectors: readonly Float32Array[],
  count: number,
  dimensions: number,
): readonly Float32Array[] {
  if (vectors.length !== count) throw wrong(`wrong number of vectors: expected ${count}, got ${vectors.length}`);
  return vectors.map((vector, index) => {
    if (vector?.[Symbol.toStringTag] !== "Float32Array")
      throw wrong("the embedder answered with a vector that is no Float32Array", index);
    if (vector.length !== dimensions) {
      throw wrong(`wrong dimensions: expected ${dimensions}, got ${vector.length}`, index);
    }
    if (!vector.every(Number.isFinite)) throw wrong("a vector with components that are not finite numbers", index);
    const length = Math.sqrt(vector.reduce((sum, number) => sum + number * number, 0));
    if (length === 0) throw wrong("a vector of zeros", index);
    return Math.abs(length - 1) <= LENGTH_TOLERANCE ? vector : vector.map((number) => number / length);
  });
}

function wrong(message: string, index?: number): HoldfastError {
  return new HoldfastError("embedder_failed", message, {
    hint: "the answer was discarded; check that the embedder still serves the same model",
    ...(index !== undefined && { details: { index } }),
  });
}
