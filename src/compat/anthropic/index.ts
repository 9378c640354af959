/** `holdfast/anthropic`: Anthropic's memory tool on memory blocks. Does not need Node or an SDK. */
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
