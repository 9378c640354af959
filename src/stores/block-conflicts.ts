/** The conflict rules for block writes, shared by all stores. */
import { HoldfastError } from "../errors.js";
import type { PutBlockWrite } from "./blocks.js";

/**
 * Throws unless the write makes the next version under a free name. `version` is the version of the block with its id
 * in its space, or 0 if there is none. `holder` is the id of the block that has the name.
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
    throw new HoldfastError("conflict", "the block has changed in the meantime", {
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
