/**
 * The blocks of a space as files and directories.
 *
 * A directory is only what names start with: it is there while a block is below it. Other doors may make a block `a` beside
 * a block `a/b`; then there is a file and a directory of one name, told apart by the slash at a directory's end.
 */
import type { Block } from "../stores/blocks.js";
import { hasPath, type MemoryPath, parentsOf } from "./memory-path.js";

/** What stands in a directory under one name: a file, a directory, or both. */
export interface Entry {
  readonly segment: string;
  file: Block | undefined;
  readonly below: Block[];
}

export class FileTree {
  readonly #files: ReadonlyMap<string, Block>;
  /** How many blocks have a name that is no path. */
  readonly hidden: number;

  constructor(blocks: readonly Block[]) {
    this.#files = new Map(blocks.filter(({ name }) => hasPath(name)).map((block) => [block.name, block]));
    this.hidden = blocks.length - this.#files.size;
  }

  /** The file that a path means. */
  file({ name, isDirectory }: MemoryPath): Block | undefined {
    return isDirectory ? undefined : this.#files.get(name);
  }

  /** The files below a directory, at any depth. */
  below(name: string): readonly Block[] {
    return [...this.#files.values()].filter((block) => name === "" || block.name.startsWith(`${name}/`));
  }

  /** The root is one, also if nothing is in it. */
  isDirectory(name: string): boolean {
    return name === "" || this.below(name).length > 0;
  }

  /** Whether the name is that of a file or of a directory. */
  has(name: string): boolean {
    return this.#files.has(name) || this.isDirectory(name);
  }

  /** The file that stands where this name needs a directory. */
  obstacle(name: string): string | undefined {
    return parentsOf(name).find((parent) => this.#files.has(parent));
  }
}

/** What stands directly in a directory, by name. `blocks` are all below it. */
export function entriesIn(directory: string, blocks: readonly Block[]): readonly Entry[] {
  const entries = new Map<string, Entry>();
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
