/** All operations of the API except the MemFuse dialect (compat/memfuse) and the streams (streams.ts). */

import { BLOCKS } from "./operations/blocks.js";
import { BUFFERS } from "./operations/buffers.js";
import { ENTRIES } from "./operations/entries.js";
import { FACTS } from "./operations/facts.js";
import { ITEMS } from "./operations/items.js";
import { KEYS } from "./operations/keys.js";
import { POINTS } from "./operations/points.js";
import { RECALL } from "./operations/recall.js";
import { SHARING } from "./operations/sharing.js";
import { UPKEEP } from "./operations/upkeep.js";

export const OPERATIONS = {
  ...ITEMS,
  ...RECALL,
  ...BLOCKS,
  ...FACTS,
  ...POINTS,
  ...SHARING,
  ...BUFFERS,
  ...ENTRIES,
  ...KEYS,
  ...UPKEEP,
} as const;

export type Operations = typeof OPERATIONS;
export type OperationName = keyof Operations;
