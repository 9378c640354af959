/** Reads memory blocks and their logs. */
import type { Block, BlockEdit, BlockLogRequest, BlocksRequest } from "../blocks.js";
import type { Registry } from "./registry.js";
import type { Statements } from "./statements.js";

export class BlockReader {
  constructor(_statements: Statements, _registry: Registry) {}

  blocks(_request: BlocksRequest): readonly Block[] {
    throw new Error("not built");
  }

  log(_request: BlockLogRequest): readonly BlockEdit[] {
    throw new Error("not built");
  }
}
