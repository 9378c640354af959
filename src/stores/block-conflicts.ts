/** When a write of a block is refused: the same in every store. */
import { HoldfastError } from "../errors.js";
import type { PutBlockWrite } from "./blocks.js";

/**
 * Throws unless the write makes the next version under a free name.
 * `version`: that of the block with its id in its space, 0 if there is none. `holder`: the id of the block with its name.
 */
export function refuseConflict(
  { id, expect, state }: PutBlockWrite,
  version: number,
  holder: string | undefined,
): void {
  if (version === 0 && expect > 0) {
    throw new HoldfastError("not_found", "there is no such block in this space", {
      hint: "check the id and the scope; it may have been deleted",
      details: { id },
    });
  }
  if (version !== expect) {
    throw new HoldfastError("conflict", "the block has changed meanwhile", {
      hint: "read it again and repeat the edit on its current version",
      details: { id, version },
    });
  }
  if (holder !== undefined && holder !== id) {
    throw new HoldfastError("conflict", "another block of this space has this name", {
      hint: "choose another name, or edit the block that has it",
      details: { name: state.name, id: holder },
    });
  }
}
