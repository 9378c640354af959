/** The rules for rejecting promotions, shared by all stores. */
import { HoldfastError } from "../errors.js";
import { factId } from "./fact-id.js";
import type { Fact } from "./facts.js";

type Statement = Pick<Fact, "category" | "content">;

/** Throws if the fact's id belongs to a different fact in the target. Another spelling is the same fact. */
export function refuseIfOther(id: string, there: Statement | undefined, promoted: Statement): void {
  if (there && factId(there.category, there.content) !== factId(promoted.category, promoted.content)) {
    throw promotedDiffers(id);
  }
}

export const sameSpace = (): HoldfastError =>
  new HoldfastError("invalid_input", "an item cannot be promoted into the space it is in", {
    hint: "name another space as the target",
  });

export const nothingToPromote = (id: string): HoldfastError =>
  new HoldfastError("not_found", "there is no such item to promote in this space", {
    hint: "check the id and the scope; it may have been forgotten or have expired, or be a fact that no longer holds",
    details: { id },
  });

const promotedDiffers = (id: string): HoldfastError =>
  new HoldfastError("conflict", "the target has a fact with this id and other content", {
    hint: "forget one of the two first",
    details: { id },
  });

export const promotedRetracted = (id: string): HoldfastError =>
  new HoldfastError("conflict", "this fact was retracted in the target", {
    hint: "put it there with `force` if it is right after all",
    details: { id },
  });
