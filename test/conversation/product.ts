/** The compiled parts, by path: the lock is not public, and child processes import them by themselves. */
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { ConversationMemory as Memory } from "../../dist/conversation/conversation-memory.js";
import type { locked as lock } from "../../dist/conversation/folder-lock.js";
import type { MemoryManager as Manager } from "../../dist/conversation/memory-manager.js";
import type { SessionConversation as Conversation } from "../../dist/conversation/session-conversation.js";
import { root } from "../support/root.js";

const part = (name: string): Promise<unknown> =>
  import(pathToFileURL(join(root, "dist", "conversation", `${name}.js`)).href);

export const { ConversationMemory } = (await part("conversation-memory")) as {
  readonly ConversationMemory: typeof Memory;
};
export const { MemoryManager } = (await part("memory-manager")) as { readonly MemoryManager: typeof Manager };
export const { locked } = (await part("folder-lock")) as { readonly locked: typeof lock };
export const { SessionConversation } = (await part("session-conversation")) as {
  readonly SessionConversation: typeof Conversation;
};
