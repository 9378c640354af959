/** All operations under /api/v1. */
import { MEMFUSE } from "../compat/memfuse/operations.js";
import { OPERATIONS } from "../schemas/operations.js";
import { STREAMS } from "../schemas/streams.js";

export const ALL_OPERATIONS = { ...OPERATIONS, ...STREAMS, ...MEMFUSE } as const;
