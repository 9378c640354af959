/** The MemFuse dialect: routes and fields as its server has them, so that its Python SDK works with this one (docs/memfuse.md). */
import { MEMFUSE_CHUNKS } from "./memfuse/chunks.js";
import { MEMFUSE_AGENTS, MEMFUSE_USERS } from "./memfuse/entries.js";
import { MEMFUSE_HEALTH, MEMFUSE_KEYS } from "./memfuse/keys.js";
import { MEMFUSE_KNOWLEDGE } from "./memfuse/knowledge.js";
import { MEMFUSE_MESSAGES } from "./memfuse/messages.js";
import { MEMFUSE_RECALL } from "./memfuse/recall.js";
import { MEMFUSE_SESSIONS } from "./memfuse/sessions.js";

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
