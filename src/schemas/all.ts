/** All operations under /api/v1. */
import { MEMFUSE } from "./memfuse.js";
import { OPERATIONS } from "./operations.js";
import { STREAMS } from "./streams.js";

export const ALL_OPERATIONS = { ...OPERATIONS, ...STREAMS, ...MEMFUSE } as const;
