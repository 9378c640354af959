/** The blocks of one scope's space. */
import type { WriteOptions } from "../input/call.js";
import type { ParsedScope } from "../input/scope.js";
import type { Block, BlockEdit } from "../stores/blocks.js";
import type { ForgetReceipt } from "../types.js";
import type { BlockEditInput, BlockSettings, EditOptions, HistoryOptions, NewBlock } from "./block-input.js";
import type { EditedBlock, MemoryBlocks } from "./memory-blocks.js";

/** The blocks of a scope, in process or through a server. */
export type Blocks = Pick<SessionBlocks, keyof SessionBlocks>;

export class SessionBlocks {
  readonly #blocks: MemoryBlocks;
  readonly #place: ParsedScope;

  constructor(blocks: MemoryBlocks, place: ParsedScope) {
    this.#blocks = blocks;
    this.#place = place;
  }

  /** `conflict` if a block of this name exists. */
  create(block: NewBlock, options?: WriteOptions): Promise<EditedBlock> {
    return this.#blocks.create(this.#place, block, options);
  }

  /** The block with this name; undefined if there is none. */
  get(name: string): Promise<Block | undefined> {
    return this.#blocks.get(this.#place, name);
  }

  /** Sorted by name. */
  list(): Promise<readonly Block[]> {
    return this.#blocks.list(this.#place);
  }

  /**
   * Edits a block: `{ content }`, `{ append }`, `{ replace, with, all }`, `{ insert, line }` or `{ patch }`, with a reason.
   * Returns its new version.
   *
   * @example
   * await session.blocks.edit("persona", { replace: "Porto", with: "Lisbon", reason: "she moved" });
   */
  async edit(name: string, edit: BlockEditInput, options?: WriteOptions): Promise<EditedBlock> {
    return this.#blocks.edit(this.#place, name, edit, options);
  }

  /** Renames a block. Its id and history stay. Fails with `conflict` if the name is taken. */
  async rename(name: string, to: string, options?: EditOptions & WriteOptions): Promise<Block> {
    return this.#blocks.rename(this.#place, name, to, options);
  }

  /** Changes description, budget, counter, policy and read-only. The text stays. */
  async configure(name: string, settings: BlockSettings, options?: WriteOptions): Promise<Block> {
    return this.#blocks.configure(this.#place, name, settings, options);
  }

  /** Forgets the block, its history, and its overflow items. */
  delete(name: string): Promise<ForgetReceipt> {
    return this.#blocks.delete(this.#place, name);
  }

  /** Newest edits first. */
  history(name: string, options?: HistoryOptions): Promise<readonly BlockEdit[]> {
    return this.#blocks.history(this.#place, name, options);
  }

  /** The text of one version. */
  version(name: string, version: number): Promise<string> {
    return this.#blocks.version(this.#place, name, version);
  }

  /** The changes from one version to another as a unified diff. */
  diff(name: string, from: number, to: number): Promise<string> {
    return this.#blocks.diff(this.#place, name, from, to);
  }

  /** Creates a new version with exactly the text of an earlier one. */
  async restore(name: string, version: number, options?: EditOptions & WriteOptions): Promise<Block> {
    return this.#blocks.restore(this.#place, name, version, options);
  }

  /** Cuts the block to its budget and stores the rest as a searchable item; undefined if it fits. */
  async archiveOverflow(name: string, options?: EditOptions & WriteOptions): Promise<EditedBlock | undefined> {
    return this.#blocks.archiveOverflow(this.#place, name, options);
  }
}
