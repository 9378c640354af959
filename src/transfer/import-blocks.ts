/**
 * Imports blocks, version by version. A version that exists must be equal; others are added in order.
 *
 * A name is unique in a space now, but a former name may belong to another block today. Such a version gets the block's
 * present name.
 */
import { isDeepStrictEqual } from "node:util";
import { HoldfastError } from "../errors.js";
import type { BufferService } from "../service.js";
import type { BlockState, BlockVersion } from "../stores/blocks.js";
import type { BlockInput } from "./line.js";
import type { Numbered, Tally } from "./report.js";

export async function importBlocks(
  service: BufferService,
  batch: readonly Numbered<BlockInput>[],
  tally: Tally,
): Promise<void> {
  for (const { number, line } of batch) {
    const { space, id, version } = line;
    const [there] = (await service.store.blockVersions({ space, id, version, limit: 1 })).items;
    if (there) {
      if (isSame(there, line)) tally.count("repeated");
      else tally.conflict(number, id, "a block");
    } else if (await put(service, line)) tally.count("blocks");
    else tally.conflict(number, id, "a block");
  }
}

/** False if it conflicts with an existing version. */
async function put(service: BufferService, line: BlockInput): Promise<boolean> {
  for (const state of [line.state, { ...line.state, name: line.presentName }]) {
    try {
      await putAs(service, line, state);
      return true;
    } catch (error) {
      if (!(error instanceof HoldfastError) || !["conflict", "not_found"].includes(error.code)) throw error;
    }
  }
  return false;
}

async function putAs(service: BufferService, line: BlockInput, state: BlockState): Promise<void> {
  const { space, id, version, reason, actor } = line;
  const note = { reason, ...(actor !== undefined && { actor }) };
  await service.write({ op: "put_block", space, id, expect: version - 1, state, ...note });
}

function isSame(there: BlockVersion, { state, presentName, reason, actor }: BlockInput): boolean {
  const { id: _, version: _version, presentName: _present, at: _at, ...kept } = there;
  const said = { ...state, reason, ...(actor !== undefined && { actor }) };
  return isDeepStrictEqual(kept, said) || isDeepStrictEqual(kept, { ...said, name: presentName });
}
