/** The compiled parts, by path: the lock is not public, and child processes import them separately. */
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { locked as lock } from "../../../build/lib/compat/agent-teams/folder-lock.js";
import type { MemoryManager as Manager } from "../../../build/lib/compat/agent-teams/memory-manager.js";
import type { ConversationMemory as Memory } from "../../../build/lib/conversation/conversation-memory.js";
import { root } from "../../support/root.js";

const part = (path: string): Promise<unknown> => import(pathToFileURL(join(root, "build/lib", path)).href);

export const { ConversationMemory } = (await part("conversation/conversation-memory.js")) as {
  readonly ConversationMemory: typeof Memory;
};
export const { MemoryManager } = (await part("compat/agent-teams/memory-manager.js")) as {
  readonly MemoryManager: typeof Manager;
};
export const { locked } = (await part("compat/agent-teams/folder-lock.js")) as { readonly locked: typeof lock };
