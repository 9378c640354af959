/** The blocks of one scope's space. */
import type { ParsedScope } from "../input/scope.js";
import type { Block, BlockEdit } from "../stores/blocks.js";
import type { ForgetReceipt } from "../types.js";
import type { BlockEditInput, BlockSettings, EditOptions, HistoryOptions, NewBlock } from "./block-input.js";
import type { EditedBlock, MemoryBlocks } from "./memory-blocks.js";

/** The blocks of a scope as callers hold them, here or behind a server. */
export type Blocks = Pick<SessionBlocks, keyof SessionBlocks>;

export class SessionBlocks {
  readonly #blocks: MemoryBlocks;
  readonly #place: ParsedScope;

  constructor(blocks: MemoryBlocks, place: ParsedScope) {
    this.#blocks = blocks;
    this.#place = place;
  }

  /** `conflict` if there is a block of this name. */
  create(block: NewBlock): Promise<EditedBlock> {
    return this.#blocks.create(this.#place, block);
  }

  get(name: string): Promise<Block | undefined> {
    return this.#blocks.get(this.#place, name);
  }

  /** By name. */
  list(): Promise<readonly Block[]> {
    return this.#blocks.list(this.#place);
  }

  /** `{ content }`, `{ append }`, `{ replace, with, all }`, `{ insert, line }` or `{ patch }`, with a reason. */
  async edit(name: string, edit: BlockEditInput): Promise<EditedBlock> {
    return this.#blocks.edit(this.#place, name, edit);
  }

  async rename(name: string, to: string, options?: EditOptions): Promise<Block> {
    return this.#blocks.rename(this.#place, name, to, options);
  }

  /** Description, budget, counter, policy, read-only. */
  async configure(name: string, settings: BlockSettings): Promise<Block> {
    return this.#blocks.configure(this.#place, name, settings);
  }

  /** Forgets the block, its history, and what overflowed from it. */
  delete(name: string): Promise<ForgetReceipt> {
    return this.#blocks.delete(this.#place, name);
  }

  /** The newest edits first. */
  history(name: string, options?: HistoryOptions): Promise<readonly BlockEdit[]> {
    return this.#blocks.history(this.#place, name, options);
  }

  /** The text of one version. */
  version(name: string, version: number): Promise<string> {
    return this.#blocks.version(this.#place, name, version);
  }

  /** What changed from one version to another, as a unified diff. */
  diff(name: string, from: number, to: number): Promise<string> {
    return this.#blocks.diff(this.#place, name, from, to);
  }

  /** A new version with exactly the text of an earlier one. */
  async restore(name: string, version: number, options?: EditOptions): Promise<Block> {
    return this.#blocks.restore(this.#place, name, version, options);
  }

  /** Cuts the block to its budget and stores the rest as a searchable item; undefined if it fits. */
  archiveOverflow(name: string, options?: EditOptions): Promise<EditedBlock | undefined> {
    return this.#blocks.archiveOverflow(this.#place, name, options);
  }
}
