/** Handlers of the MemFuse dialect. Each looks up the ids, checks the caller, and calls the engine. */

import type { Handlers } from "../../calls/call.js";
import { memfuseChunkHandlers } from "./chunks.js";
import { memfuseAgentHandlers, memfuseUserHandlers } from "./entries.js";
import { memfuseHealthHandlers, memfuseKeyHandlers } from "./keys.js";
import { memfuseKnowledgeHandlers } from "./knowledge.js";
import { memfuseMessageHandlers } from "./messages.js";
import type { MEMFUSE } from "./operations.js";
import { memfuseRecallHandlers } from "./recall.js";
import { memfuseSessionHandlers } from "./sessions.js";

export const memfuseHandlers: Handlers<typeof MEMFUSE> = {
  ...memfuseUserHandlers,
  ...memfuseAgentHandlers,
  ...memfuseSessionHandlers,
  ...memfuseMessageHandlers,
  ...memfuseKnowledgeHandlers,
  ...memfuseRecallHandlers,
  ...memfuseChunkHandlers,
  ...memfuseKeyHandlers,
  ...memfuseHealthHandlers,
};
