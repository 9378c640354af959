/** The blocks of a scope's space, through a server. */
import type { BlockEditInput, BlockSettings, EditOptions, HistoryOptions, NewBlock } from "../blocks/block-input.js";
import type { EditedBlock } from "../blocks/memory-blocks.js";
import type { Blocks } from "../blocks/session-blocks.js";
import { HoldfastError } from "../errors.js";
import { parseWriteOptions, splitKey, type WriteOptions } from "../input/call.js";
import { parseIdentity } from "../input/identity.js";
import type { Block, BlockEdit } from "../stores/blocks.js";
import type { ForgetReceipt, Scope } from "../types.js";
import type { Transport } from "./transport.js";

export class RemoteBlocks implements Blocks {
  readonly #transport: Transport;
  readonly #scope: Scope;

  constructor(transport: Transport, scope: Scope) {
    this.#transport = transport;
    this.#scope = scope;
  }

  async create(block: NewBlock, options?: WriteOptions): Promise<EditedBlock> {
    const idempotencyKey = parseWriteOptions(options);
    return this.#transport.call("createBlock", { scope: this.#scope, body: block, idempotencyKey });
  }

  async get(name: string): Promise<Block | undefined> {
    try {
      return await this.#transport.call("getBlock", this.#of(name));
    } catch (error) {
      if (error instanceof HoldfastError && error.code === "not_found" && error.details["name"] === name) return;
      throw error;
    }
  }

  async list(): Promise<readonly Block[]> {
    return this.#transport.call("listBlocks", { scope: this.#scope });
  }

  async edit(name: string, edit: BlockEditInput, options?: WriteOptions): Promise<EditedBlock> {
    const idempotencyKey = parseWriteOptions(options);
    return this.#transport.call("editBlock", { ...this.#of(name), body: edit, idempotencyKey });
  }

  async rename(name: string, to: string, options: EditOptions & WriteOptions = {}): Promise<Block> {
    const { key, rest } = splitKey(options);
    return this.#transport.call("renameBlock", { ...this.#of(name), body: { ...rest, to }, idempotencyKey: key });
  }

  async configure(name: string, settings: BlockSettings, options?: WriteOptions): Promise<Block> {
    const idempotencyKey = parseWriteOptions(options);
    return this.#transport.call("configureBlock", { ...this.#of(name), body: settings, idempotencyKey });
  }

  async delete(name: string): Promise<ForgetReceipt> {
    return this.#transport.call("deleteBlock", this.#of(name));
  }

  async history(name: string, { creation, ...rest }: HistoryOptions = {}): Promise<readonly BlockEdit[]> {
    const query = { ...rest, ...(creation !== undefined && { creation: String(creation) }) };
    return this.#transport.call("blockHistory", { ...this.#of(name), query });
  }

  async version(name: string, version: number): Promise<string> {
    const { content } = await this.#transport.call("blockVersion", this.#of(name, { version }));
    return content;
  }

  async diff(name: string, from: number, to: number): Promise<string> {
    return (await this.#transport.call("blockDiff", { ...this.#of(name), query: { from, to } })).diff;
  }

  async restore(name: string, version: number, options: EditOptions & WriteOptions = {}): Promise<Block> {
    const { key, rest } = splitKey(options);
    return this.#transport.call("restoreBlock", { ...this.#of(name), body: { ...rest, version }, idempotencyKey: key });
  }

  async archiveOverflow(name: string, options: EditOptions & WriteOptions = {}): Promise<EditedBlock | undefined> {
    const { key, rest } = splitKey(options);
    const call = { ...this.#of(name), body: rest, idempotencyKey: key };
    return (await this.#transport.call("archiveBlock", call)) ?? undefined;
  }

  /** The name is part of the path, so an invalid name is refused here. */
  #of(name: string, more: { readonly version?: number } = {}) {
    return { scope: this.#scope, params: { name: parseIdentity(name, "block.name"), ...more } };
  }
}
