/**
 * Errors of key writes, shared by all stores. They never repeat an id, which may be a whole secret passed by mistake.
 */
import { HoldfastError } from "../errors.js";

export function keyTaken(): HoldfastError {
  return new HoldfastError("conflict", "a key with this id already exists", { hint: "make another one" });
}

export function noSuchKey(): HoldfastError {
  return new HoldfastError("not_found", "there is no such key", {
    hint: "give the id of a key, which is the part between hf_ and the next _",
  });
}
