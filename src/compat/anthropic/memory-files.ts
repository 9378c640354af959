/**
 * The six commands on the blocks of a space.
 *
 * - An edit names the version it is based on. On a conflict it is planned again from the current text, so no edit is lost; one
 *   that no longer applies is refused with the usual message.
 * - A directory is renamed or deleted block by block. Foreseeable conflicts are checked before the first.
 */
import type { EditedBlock } from "../../blocks/memory-blocks.js";
import type { Blocks } from "../../blocks/session-blocks.js";
import { HoldfastError } from "../../errors.js";
import type { Block } from "../../stores/blocks.js";
import { type FileEdit, insertion, replacement } from "./file-edit.js";
import { FileTree } from "./file-tree.js";
import { directoryView, fileView } from "./file-view.js";
import type { CommandFields } from "./memory-command.js";
import { hasPath, type MemoryPath, pathOf, ROOT } from "./memory-path.js";
import { MemoryToolError, missing, readOnlyText, refusalOf } from "./memory-tool-error.js";

/** How often an edit is retried. Each retry means that another edit succeeded, so there is always progress. */
const ATTEMPTS = 100;

export class MemoryFiles {
  readonly #blocks: Blocks;
  readonly #reason: string;

  constructor(blocks: Blocks, reason: string) {
    this.#blocks = blocks;
    this.#reason = reason;
  }

  async view(fields: CommandFields): Promise<string> {
    const target = fields.path("path");
    const range = fields.range("view_range");
    const file = await this.#file(target);
    if (file) return fileView(target.path, file.content, range);
    const tree = await this.#tree();
    if (!tree.isDirectory(target.name)) throw missing(target.path);
    return directoryView(target, tree);
  }

  async create(fields: CommandFields): Promise<string> {
    const { path, name, isDirectory } = fields.path("path");
    const content = fields.text("file_text");
    const exists = (cause?: unknown) => new MemoryToolError("conflict", `File ${path} already exists`, cause);
    const tree = await this.#tree();
    if (tree.has(name)) throw exists();
    refuseObstacle(tree, name);
    if (isDirectory) {
      const hint = `Directories need not be created: create a file in one, such as ${path}notes.md`;
      throw new MemoryToolError("invalid_input", `Path ${path} is a directory. ${hint}`);
    }
    try {
      await this.#blocks.create({ name, content, reason: `${this.#reason}: create` });
    } catch (error) {
      throw isRefusal(error, "conflict") ? exists(error) : refusalOf(error, path);
    }
    return `File created successfully at: ${path}`;
  }

  async replace(fields: CommandFields): Promise<string> {
    const target = fields.path("path");
    const [oldText, newText] = [fields.text("old_str"), fields.text("new_str")];
    return this.#edit(target, "str_replace", (text) => replacement(target.path, text, oldText, newText));
  }

  async insert(fields: CommandFields): Promise<string> {
    const target = fields.path("path");
    const [line, text] = [fields.line("insert_line"), fields.text("insert_text")];
    return this.#edit(target, "insert", (content) => insertion(target.path, content, line, text));
  }

  async delete(fields: CommandFields): Promise<string> {
    const target = fields.path("path");
    const { path, name } = target;
    if (name === "") throw new MemoryToolError("invalid_input", `Cannot delete the ${ROOT} directory itself`);
    const tree = await this.#tree();
    const file = tree.file(target);
    const doomed = file ? [file] : tree.below(name);
    if (doomed.length === 0) throw new MemoryToolError("not_found", `The path ${path} does not exist`);
    await eachOf(doomed, async (block) => {
      try {
        await this.#blocks.delete(block.name);
      } catch (error) {
        // Deleted by someone else in the meantime, which is fine.
        if (!isRefusal(error, "not_found")) throw refusalOf(error, pathOf(block.name));
      }
    });
    return `Successfully deleted ${path}`;
  }

  async rename(fields: CommandFields): Promise<string> {
    const source = fields.path("old_path");
    const target = fields.path("new_path");
    if (source.name === "") throw new MemoryToolError("invalid_input", `Cannot rename the ${ROOT} directory itself`);
    const taken = (cause?: unknown) =>
      new MemoryToolError("conflict", `The destination ${target.path} already exists`, cause);
    const tree = await this.#tree();
    if (tree.has(target.name)) throw taken();
    const file = tree.file(source);
    const moved = file ? [file] : tree.below(source.name);
    if (moved.length === 0) throw new MemoryToolError("not_found", `The path ${source.path} does not exist`);
    refuseObstacle(tree, target.name);
    refuseTarget(source, target, moved, file !== undefined);
    await eachOf(moved, async (block) => {
      const to = renamed(block, source, target);
      try {
        await this.#blocks.rename(block.name, to, { reason: `${this.#reason}: rename` });
      } catch (error) {
        throw isRefusal(error, "conflict") ? taken(error) : refusalOf(error, pathOf(block.name));
      }
    });
    return `Successfully renamed ${source.path} to ${target.path}`;
  }

  async #edit(target: MemoryPath, command: string, plan: (content: string) => FileEdit): Promise<string> {
    for (let attempt = 1; ; attempt++) {
      const file = await this.#file(target);
      if (!file) {
        const isDirectory = (await this.#tree()).isDirectory(target.name);
        throw isDirectory
          ? new MemoryToolError("invalid_input", `The path ${target.path} is not a file.`)
          : missing(target.path);
      }
      const { change, answer } = plan(file.content);
      try {
        const edit = { ...change, expectVersion: file.version, reason: `${this.#reason}: ${command}` };
        const edited = await this.#blocks.edit(file.name, edit);
        return answer(edited.content) + archivedText(edited);
      } catch (error) {
        // Changed, or deleted and created again: plan from the current text.
        const isOvertaken = isRefusal(error, "conflict") || isRefusal(error, "not_found");
        if (!isOvertaken || attempt === ATTEMPTS) throw refusalOf(error, target.path);
      }
    }
  }

  async #file({ path, name, isDirectory }: MemoryPath): Promise<Block | undefined> {
    if (isDirectory) return undefined;
    try {
      return await this.#blocks.get(name);
    } catch (error) {
      throw refusalOf(error, path);
    }
  }

  async #tree(): Promise<FileTree> {
    try {
      return new FileTree(await this.#blocks.list());
    } catch (error) {
      throw refusalOf(error, ROOT);
    }
  }
}

const isRefusal = (error: unknown, code: HoldfastError["code"]): boolean =>
  error instanceof HoldfastError && error.code === code;

/** Refuses a file in the place of a directory. Blocks could be named so, but a model would not expect it. */
function refuseObstacle(tree: FileTree, name: string): void {
  const obstacle = tree.obstacle(name);
  if (obstacle === undefined) return;
  throw new MemoryToolError("conflict", `${pathOf(obstacle)} is a file, not a directory. Use another path.`);
}

function refuseTarget(source: MemoryPath, target: MemoryPath, moved: readonly Block[], isFile: boolean): void {
  const refuse = (message: string) => new MemoryToolError("invalid_input", message);
  if (target.name.startsWith(`${source.name}/`)) throw refuse(`Cannot move ${source.path} into itself`);
  if (isFile && target.isDirectory) {
    throw refuse(`Path ${target.path} is a directory. Include the new file name.`);
  }
  const long = moved.find((block) => !hasPath(renamed(block, source, target)));
  if (long) throw refuse(`The new path of ${pathOf(long.name)} would be too long. Use a shorter name.`);
}

const renamed = ({ name }: Block, source: MemoryPath, target: MemoryPath): string =>
  target.name + name.slice(source.name.length);

/** Acts on one block after the other; on none if one is known to be read-only. An error tells how many were done. */
async function eachOf(blocks: readonly Block[], act: (block: Block) => Promise<void>): Promise<void> {
  const locked = blocks.find(({ readOnly }) => readOnly);
  if (locked) throw new MemoryToolError("read_only", readOnlyText(pathOf(locked.name)));
  for (const [done, block] of blocks.entries()) {
    try {
      await act(block);
    } catch (error) {
      if (!(error instanceof MemoryToolError) || done === 0) throw error;
      const text = `${error.message} (${done} of ${blocks.length} files were done before that; view ${ROOT} to see them)`;
      throw new MemoryToolError(error.code, text, error);
    }
  }
}

/** Tells the model if its file did not keep the whole text. */
function archivedText({ archived, maxTokens }: EditedBlock): string {
  if (!archived) return "";
  return `\nThe file is limited to ${maxTokens} tokens: its last ${archived.text.length} characters were moved into searchable memory.`;
}
