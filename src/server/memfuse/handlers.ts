/** The MemFuse dialect, answered: each handler looks up who is meant, checks the caller, and calls the engine. */
import type { MEMFUSE } from "../../schemas/memfuse.js";
import type { Handlers } from "../call.js";
import { memfuseChunkHandlers } from "./chunks.js";
import { memfuseAgentHandlers, memfuseUserHandlers } from "./entries.js";
import { memfuseHealthHandlers, memfuseKeyHandlers } from "./keys.js";
import { memfuseKnowledgeHandlers } from "./knowledge.js";
import { memfuseMessageHandlers } from "./messages.js";
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
