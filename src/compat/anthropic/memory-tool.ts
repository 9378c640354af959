/**
 * Anthropic's memory tool (`memory_20250818`) on memory blocks: the model's files under /memories are blocks, and each edit is
 * a version with a reason.
 *
 * The six handlers throw on refusal: the Anthropic SDK's runners turn an error into a result `Error: <message>` marked
 * `is_error`, which tells the model that nothing was done; a returned string would count as success. `execute` is for
 * frameworks that take a single function and may abort on an error: it resolves to the same `Error: <message>`.
 */
import type { Session } from "../../session.js";
import {
  CommandFields,
  type CreateCommand,
  type DeleteCommand,
  type InsertCommand,
  type MemoryCommand,
  type RenameCommand,
  type StrReplaceCommand,
  type ViewCommand,
} from "./memory-command.js";
import { MemoryFiles } from "./memory-files.js";

/** The options of `memoryTool`. */
export interface MemoryToolOptions {
  /** Prefix of the reasons in the blocks' histories. Default: "memory tool". */
  readonly reason?: string;
}

/** The handlers for `betaMemoryTool`, and `execute` for frameworks with one function per tool. None needs `this`. */
export interface MemoryTool {
  /** Shows a file, or lists a directory. */
  readonly view: (command: ViewCommand) => Promise<string>;
  /** Creates a file, or replaces one. */
  readonly create: (command: CreateCommand) => Promise<string>;
  /** Replaces a text that occurs exactly once. */
  readonly str_replace: (command: StrReplaceCommand) => Promise<string>;
  /** Inserts lines into a file. */
  readonly insert: (command: InsertCommand) => Promise<string>;
  /** Deletes a file or a directory. */
  readonly delete: (command: DeleteCommand) => Promise<string>;
  /** Renames or moves a file or a directory. */
  readonly rename: (command: RenameCommand) => Promise<string>;
  /** Runs any of the six. Always resolves to a string for the model. */
  readonly execute: (command: MemoryCommand) => Promise<string>;
}

/** The handlers of Anthropic's memory tool, on the blocks of a session. */
export function memoryTool(session: Pick<Session, "blocks">, { reason }: MemoryToolOptions = {}): MemoryTool {
  const files = new MemoryFiles(session.blocks, reason ?? "memory tool");
  const handlers = {
    view: async (command: ViewCommand) => files.view(new CommandFields(command)),
    create: async (command: CreateCommand) => files.create(new CommandFields(command)),
    str_replace: async (command: StrReplaceCommand) => files.replace(new CommandFields(command)),
    insert: async (command: InsertCommand) => files.insert(new CommandFields(command)),
    delete: async (command: DeleteCommand) => files.delete(new CommandFields(command)),
    rename: async (command: RenameCommand) => files.rename(new CommandFields(command)),
  };
  const run = async (command: MemoryCommand): Promise<string> => {
    const handler: (command: never) => Promise<string> = handlers[new CommandFields(command).command];
    return handler(command as never);
  };
  const execute = (command: MemoryCommand): Promise<string> =>
    run(command).catch((error: unknown) => `Error: ${error instanceof Error ? error.message : String(error)}`);
  return { ...handlers, execute };
}
