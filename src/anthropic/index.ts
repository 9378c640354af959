/** `holdfast/anthropic`: Anthropic's memory tool on memory blocks. Needs nothing of Node, and no SDK. */
export type {
  CreateCommand,
  DeleteCommand,
  InsertCommand,
  MemoryCommand,
  RenameCommand,
  StrReplaceCommand,
  ViewCommand,
} from "./memory-command.js";
export { type MemoryTool, type MemoryToolOptions, memoryTool } from "./memory-tool.js";
export { MemoryToolError } from "./memory-tool-error.js";
