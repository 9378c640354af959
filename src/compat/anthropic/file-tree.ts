/**
 * The blocks of a space as files and directories.
 *
 * A directory is a prefix of names: it exists while a block is below it. Other APIs may create a block `a` beside a block
 * `a/b`; then a file and a directory have the same name, and the directory's trailing slash distinguishes them.
 */
import type { Block } from "../../stores/blocks.js";
import { hasPath, type MemoryPath, parentsOf } from "./memory-path.js";

/** One name in a directory: a file, a directory, or both. */
export interface TreeEntry {
  readonly segment: string;
  file: Block | undefined;
  readonly below: Block[];
}

export class FileTree {
  readonly #files: ReadonlyMap<string, Block>;
  /** Number of blocks whose name is not a valid path. */
  readonly hidden: number;

  constructor(blocks: readonly Block[]) {
    this.#files = new Map(blocks.filter(({ name }) => hasPath(name)).map((block) => [block.name, block]));
    this.hidden = blocks.length - this.#files.size;
  }

  /** The file at a path. */
  file({ name, isDirectory }: MemoryPath): Block | undefined {
    return isDirectory ? undefined : this.#files.get(name);
  }

  /** The files below a directory, at any depth. */
  below(name: string): readonly Block[] {
    return [...this.#files.values()].filter((block) => name === "" || block.name.startsWith(`${name}/`));
  }

  /** The root always exists. */
  isDirectory(name: string): boolean {
    return name === "" || this.below(name).length > 0;
  }

  /** Whether a file or a directory has this name. */
  has(name: string): boolean {
    return this.#files.has(name) || this.isDirectory(name);
  }

  /** The file that is in the way of a parent directory of this name. */
  obstacle(name: string): string | undefined {
    return parentsOf(name).find((parent) => this.#files.has(parent));
  }
}

/** The direct entries of a directory, by name. `blocks` are all blocks below it. */
export function entriesIn(directory: string, blocks: readonly Block[]): readonly TreeEntry[] {
  const entries = new Map<string, TreeEntry>();
  for (const block of blocks) {
    const rest = block.name.slice(directory === "" ? 0 : directory.length + 1);
    const slash = rest.indexOf("/");
    const segment = slash < 0 ? rest : rest.slice(0, slash);
    const entry = entries.get(segment) ?? { segment, file: undefined, below: [] };
    if (slash < 0) entry.file = block;
    else entry.below.push(block);
    entries.set(segment, entry);
  }
  return [...entries.keys()].sort().flatMap((segment) => entries.get(segment) ?? []);
}
