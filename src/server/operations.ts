/** All operations under /api/v1, and an example of each. */
import { MEMFUSE_EXAMPLES } from "../compat/memfuse/examples.js";
import { MEMFUSE } from "../compat/memfuse/operations.js";
import type { AnyExample } from "../schemas/example.js";
import { EXAMPLES } from "../schemas/examples/examples.js";
import { OPERATIONS } from "../schemas/operations.js";
import { STREAMS } from "../schemas/streams.js";

export const ALL_OPERATIONS = { ...OPERATIONS, ...STREAMS, ...MEMFUSE } as const;

export const ALL_EXAMPLES: { readonly [name in keyof typeof ALL_OPERATIONS]: AnyExample } = {
  ...EXAMPLES,
  ...MEMFUSE_EXAMPLES,
};
