/** The MemFuse dialect: routes and fields of MemFuse's server, so that its Python SDK works with ours (docs/memfuse.md). */
import { MEMFUSE_CHUNKS } from "./schemas/chunks.js";
import { MEMFUSE_AGENTS, MEMFUSE_USERS } from "./schemas/entries.js";
import { MEMFUSE_HEALTH, MEMFUSE_KEYS } from "./schemas/keys.js";
import { MEMFUSE_KNOWLEDGE } from "./schemas/knowledge.js";
import { MEMFUSE_MESSAGES } from "./schemas/messages.js";
import { MEMFUSE_RECALL } from "./schemas/recall.js";
import { MEMFUSE_SESSIONS } from "./schemas/sessions.js";

export const MEMFUSE = {
  ...MEMFUSE_USERS,
  ...MEMFUSE_AGENTS,
  ...MEMFUSE_SESSIONS,
  ...MEMFUSE_MESSAGES,
  ...MEMFUSE_KNOWLEDGE,
  ...MEMFUSE_RECALL,
  ...MEMFUSE_CHUNKS,
  ...MEMFUSE_KEYS,
  ...MEMFUSE_HEALTH,
} as const;
