/** The examples of all operations of the API except the MemFuse dialect. */
import { ITEM_EXAMPLES, RECALL_EXAMPLES, SHARING_EXAMPLES } from "./memory.js";
import { BLOCK_EXAMPLES, FACT_EXAMPLES, POINT_EXAMPLES } from "./records.js";
import { BUFFER_EXAMPLES, ENTRY_EXAMPLES, KEY_EXAMPLES, STREAM_EXAMPLES, UPKEEP_EXAMPLES } from "./server.js";

export const EXAMPLES = {
  ...ITEM_EXAMPLES,
  ...RECALL_EXAMPLES,
  ...BLOCK_EXAMPLES,
  ...FACT_EXAMPLES,
  ...POINT_EXAMPLES,
  ...SHARING_EXAMPLES,
  ...BUFFER_EXAMPLES,
  ...ENTRY_EXAMPLES,
  ...KEY_EXAMPLES,
  ...UPKEEP_EXAMPLES,
  ...STREAM_EXAMPLES,
};
