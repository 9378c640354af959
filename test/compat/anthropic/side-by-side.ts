/**
 * Holdfast's memory tool and the Anthropic SDK's own, which keeps files in a folder. Both get the same commands; their
 * answers are compared as a model reads them, errors as the SDK's runner reports them.
 */
import { readdirSync, rmdirSync } from "node:fs";
import { join } from "node:path";
import { BetaLocalFilesystemMemoryTool } from "@anthropic-ai/sdk/tools/memory/node";
import type { Session } from "holdfast";
import { type MemoryCommand, memoryTool } from "holdfast/anthropic";

export interface Answers {
  readonly ours: string;
  readonly reference: string;
}

export class SideBySide {
  readonly #ours: (command: MemoryCommand) => Promise<string>;
  readonly #reference: BetaLocalFilesystemMemoryTool;
  readonly #root: string;

  private constructor(session: Session, reference: BetaLocalFilesystemMemoryTool, folder: string) {
    this.#ours = memoryTool(session).execute;
    this.#reference = reference;
    this.#root = join(folder, "memories");
  }

  static async open(session: Session, folder: string): Promise<SideBySide> {
    return new SideBySide(session, await BetaLocalFilesystemMemoryTool.init(folder), folder);
  }

  async give(command: MemoryCommand): Promise<Answers> {
    const reference = await this.#told(command);
    // Our directories exist while they contain something. The reference leaves empty ones behind, even after refused
    // commands.
    for (const entry of readdirSync(this.#root)) removeEmpty(join(this.#root, entry));
    return { ours: await this.#ours(command), reference };
  }

  async #told(command: MemoryCommand): Promise<string> {
    try {
      return await this.#answer(command);
    } catch (error) {
      return `Error: ${error instanceof Error ? error.message : String(error)}`;
    }
  }

  #answer(command: MemoryCommand): Promise<string> {
    const tool = this.#reference;
    switch (command.command) {
      case "view": {
        const { view_range, ...rest } = command;
        return tool.view({ ...rest, ...(view_range && { view_range: [...view_range] }) });
      }
      case "create":
        return tool.create(command);
      case "str_replace":
        return tool.str_replace(command);
      case "insert":
        return tool.insert(command);
      case "delete":
        return tool.delete(command);
      case "rename":
        return tool.rename(command);
    }
  }
}

/** Removes a directory that contains no file at any depth. */
function removeEmpty(path: string): void {
  let entries: string[];
  try {
    entries = readdirSync(path);
  } catch {
    return; // a file
  }
  for (const entry of entries) removeEmpty(join(path, entry));
  if (readdirSync(path).length === 0) rmdirSync(path);
}
