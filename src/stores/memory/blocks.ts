/** Memory blocks in memory. */
import type { Block, BlockEdit, BlockLogRequest, BlocksRequest, PutBlockDone, PutBlockWrite } from "../blocks.js";
import type { Attempt } from "./attempt.js";
import type { Space } from "./space.js";
import type { State } from "./state.js";

export function putBlock(_write: PutBlockWrite, _state: State, _attempt: Attempt): PutBlockDone {
  throw new Error("not built");
}

/** Removes the block with all its versions. False if there is no such block. */
export function forgetBlock(_space: Space, _id: string, _attempt: Attempt): boolean {
  throw new Error("not built");
}

export function blocks(_request: BlocksRequest, _state: State): readonly Block[] {
  throw new Error("not built");
}

export function blockLog(_request: BlockLogRequest, _state: State): readonly BlockEdit[] {
  throw new Error("not built");
}
