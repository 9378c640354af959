/** No wrong vector is passed on, whoever made it: number, dimensions and finiteness of every answer are checked. */
import { HoldfastError } from "../errors.js";

export function checkVectors(vectors: readonly Float32Array[], count: number, dimensions: number): void {
  if (vectors.length !== count) throw wrong(`wrong number of vectors: expected ${count}, got ${vectors.length}`);
  for (const [index, vector] of vectors.entries()) {
    if (vector.length !== dimensions) {
      throw wrong(`wrong dimensions: expected ${dimensions}, got ${vector.length}`, index);
    }
    if (!vector.every(Number.isFinite)) throw wrong("a vector with components that are no finite numbers", index);
  }
}

function wrong(message: string, index?: number): HoldfastError {
  return new HoldfastError("embedder_failed", message, {
    hint: "nothing was kept of this answer; check that the embedder still serves the same model",
    ...(index !== undefined && { details: { index } }),
  });
}
