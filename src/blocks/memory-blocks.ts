/**
 * Memory blocks: named, versioned texts of a space that agents read and rewrite.
 *
 * - Every edit creates the next version and a log entry, in one commit.
 * - Concurrent edits are never lost, in this process or in others. An edit is planned from the block as read, and
 *   written only if the block is unchanged. Otherwise it is planned again from the latest version, unless the caller
 *   named the version that the edit was made from; then it is refused (`conflict`, details.version).
 */
import { HoldfastError } from "../errors.js";
import { newId } from "../ids.js";
import { parseWriteOptions, splitKey, type WriteOptions } from "../input/call.js";
import { onceOf } from "../input/once.js";
import type { ParsedScope } from "../input/scope.js";
import { KeyedMutex } from "../keyed-mutex.js";
import { spaceKey } from "../space-key.js";
import type { Block, BlockEdit, BlockState } from "../stores/blocks.js";
import { forgottenSince, type OnceWrite } from "../stores/receipts.js";
import type { Done, Store, Unit } from "../stores/store.js";
import type { Counters } from "../tokens/counters.js";
import type { ForgetReceipt, SpaceRef } from "../types.js";
import {
  type BlockEditInput,
  type BlockSettings,
  type EditOptions,
  type HistoryOptions,
  type NewBlock,
  type ParsedEdit,
  parseBlockName,
  parseEdit,
  parseEditOptions,
  parseHistory,
  parseNewBlock,
  parseSettings,
  parseVersion,
} from "./block-input.js";
import { type Archived, type BlockPlan, planBlock } from "./block-plan.js";
import { unifiedDiff } from "./diff.js";
import { applyChange } from "./edit.js";
import { merge3 } from "./merge.js";

export interface MemoryBlocksParts {
  readonly store: Pick<Store, "blocks" | "blockLog" | "list" | "get">;
  readonly counters: Counters;
  readonly now: () => number;
  /** Commits a unit, after earlier ones of the same lane; once per idempotency key, if there is one. */
  readonly write: (lane: string, unit: Unit, once?: OnceWrite) => Promise<readonly Done[]>;
  /** The result of the call with this key, if it was carried out before. */
  readonly first: (once: OnceWrite) => Promise<readonly Done[] | undefined>;
  readonly forget: (space: SpaceRef, id: string) => Promise<ForgetReceipt>;
  readonly forgetItems: (space: SpaceRef, ids: readonly string[]) => Promise<ForgetReceipt>;
  /** Called when items were added outside any session. */
  readonly added: (space: SpaceRef) => Promise<void>;
}

/** A block after an edit, and the text that was archived because it exceeded the budget. */
export interface EditedBlock extends Block {
  /** What was moved out of the block to keep its budget; absent if nothing was. */
  readonly archived?: Archived;
}

/** What an edit aims at: the block's next state, and the treatment of text over the budget. */
interface EditTarget {
  readonly state: BlockState;
  readonly overflow: "policy" | "archive" | "leave";
}

interface Rewrite {
  readonly note: EditOptions;
  readonly once: OnceWrite | undefined;
  readonly target: (block: Block) => Promise<EditTarget>;
  /** True if the rewrite is allowed on a read-only block. */
  readonly isAllowed?: boolean;
}

/** The block is within its budget, so there is nothing to archive. */
class Fits extends Error {}

/**
 * How many times an edit is planned again. Each retry means that another edit succeeded, so the system as a whole
 * progresses.
 */
const ATTEMPTS = 1_000;
/** The page size for deleting the overflow items of a block. */
const PAGE = 1_000;

/** Blocks of any scope. Use `session.blocks`, which is bound to one. */
export class MemoryBlocks {
  readonly #parts: MemoryBlocksParts;
  readonly #edits = new KeyedMutex();

  constructor(parts: MemoryBlocksParts) {
    this.#parts = parts;
  }

  /** `conflict` if a block of this name exists. */
  async create(place: ParsedScope, block: NewBlock, options?: WriteOptions): Promise<EditedBlock> {
    const { state, note } = parseNewBlock(block);
    const once = onceOf(parseWriteOptions(options), { space: place.space }, "blocks.create", block);
    const now = this.#parts.now();
    const nothing = {
      ...state,
      content: "",
      id: newId(now),
      space: place.space,
      version: 0,
      createdAt: now,
      updatedAt: now,
    };
    const plan = await planBlock({ place, block: nothing, state, note, overflow: "policy", now }, this.#parts.counters);
    return this.#commit(place, plan, once);
  }

  /** The block with this name; undefined if there is none. */
  async get(place: ParsedScope, name: string): Promise<Block | undefined> {
    this.#parts.now();
    const [block] = await this.#parts.store.blocks({ spaces: [place.space], names: [parseBlockName(name)] });
    return block;
  }

  /** Sorted by name. */
  async list(place: ParsedScope): Promise<readonly Block[]> {
    this.#parts.now();
    return this.#parts.store.blocks({ spaces: [place.space] });
  }

  /** Edits a block and returns its new version. */
  edit(place: ParsedScope, name: string, edit: BlockEditInput, options?: WriteOptions): Promise<EditedBlock> {
    const parsed = parseEdit(edit);
    const once = onceOf(parseWriteOptions(options), { space: place.space }, "blocks.edit", name, edit);
    const target = async (block: Block): Promise<EditTarget> => ({
      state: { ...stateOf(block), content: await this.contentAfter(block, parsed) },
      overflow: "policy",
    });
    return this.#rewrite(place, name, { note: parsed.options, once, target });
  }

  /** Renames a block. Its id and history stay. */
  rename(place: ParsedScope, name: string, to: string, options: EditOptions & WriteOptions = {}): Promise<Block> {
    const wanted = parseBlockName(to);
    const { key, rest } = splitKey(options);
    const note = parseEditOptions(rest);
    const once = onceOf(key, { space: place.space }, "blocks.rename", name, to, rest);
    const target = async (block: Block): Promise<EditTarget> => {
      refuseOtherVersion(block, note.expectVersion);
      return { state: { ...stateOf(block), name: wanted }, overflow: "leave" };
    };
    return this.#rewrite(place, name, { note, once, target });
  }

  /** Changes description, budget, counter, policy and read-only. The text stays. */
  configure(place: ParsedScope, name: string, settings: BlockSettings, options?: WriteOptions): Promise<Block> {
    const { apply, ...note } = parseSettings(settings);
    const once = onceOf(parseWriteOptions(options), { space: place.space }, "blocks.configure", name, settings);
    const target = async (block: Block): Promise<EditTarget> => ({ state: apply(stateOf(block)), overflow: "leave" });
    return this.#rewrite(place, name, { note, once, target, isAllowed: true });
  }

  /** Forgets the block, its history, and its overflow items, including those added while it is being deleted. */
  async delete(place: ParsedScope, name: string): Promise<ForgetReceipt> {
    const block = await this.#find(place, name);
    refuseReadOnly(block);
    const before = await this.#forgetOverflow(block);
    const receipt = await this.#parts.forget(block.space, block.id);
    const meanwhile = await this.#forgetOverflow(block);
    return [...before, ...meanwhile].reduce(sumOf, receipt);
  }

  /** Newest edits first. The creation of the block is not an edit; it is listed on request. */
  async history(place: ParsedScope, name: string, options: HistoryOptions = {}): Promise<readonly BlockEdit[]> {
    const { limit, creation } = parseHistory(options);
    const { id } = await this.#find(place, name);
    const log = await this.#parts.store.blockLog({ space: place.space, id, limit });
    return creation ? log : log.filter(({ version }) => version > 1);
  }

  /** The text of one version. */
  async version(place: ParsedScope, name: string, version: number): Promise<string> {
    return this.#textOf(await this.#find(place, name), parseVersion(version, "version"));
  }

  /** The changes from one version to another as a unified diff; empty if there are none. */
  async diff(place: ParsedScope, name: string, from: number, to: number): Promise<string> {
    const block = await this.#find(place, name);
    const before = await this.#textOf(block, parseVersion(from, "from"));
    const after = await this.#textOf(block, parseVersion(to, "to"));
    return unifiedDiff(before, after, { name: block.name, from, to });
  }

  /** Creates a new version with exactly the text of an earlier one, whatever the current budget. */
  restore(place: ParsedScope, name: string, version: number, options: EditOptions & WriteOptions = {}): Promise<Block> {
    const wanted = parseVersion(version, "version");
    const { key, rest } = splitKey(options);
    const parsed = parseEditOptions(rest);
    const note = { reason: `restored version ${wanted}`, ...parsed };
    const once = onceOf(key, { space: place.space }, "blocks.restore", name, version, rest);
    const target = async (block: Block): Promise<EditTarget> => {
      refuseOtherVersion(block, parsed.expectVersion);
      return { state: { ...stateOf(block), content: await this.#textOf(block, wanted) }, overflow: "leave" };
    };
    return this.#rewrite(place, name, { note, once, target });
  }

  /**
   * Cuts the block to its budget and stores the rest as a searchable item. If it fits, returns undefined and writes
   * nothing.
   */
  async archiveOverflow(
    place: ParsedScope,
    name: string,
    options: EditOptions & WriteOptions = {},
  ): Promise<EditedBlock | undefined> {
    const { key, rest } = splitKey(options);
    const parsed = parseEditOptions(rest);
    const note = { reason: "overflow archived", ...parsed };
    const once = onceOf(key, { space: place.space }, "blocks.archiveOverflow", name, rest);
    const target = async (block: Block): Promise<EditTarget> => {
      refuseOtherVersion(block, parsed.expectVersion);
      const counter = this.#parts.counters.of(block.counter);
      const [tokens = 0] = await counter.count([block.content]);
      if (tokens <= block.maxTokens) throw new Fits();
      return { state: stateOf(block), overflow: "archive" };
    };
    try {
      return await this.#rewrite(place, name, { note, once, target });
    } catch (error) {
      if (error instanceof Fits) return undefined;
      throw error;
    }
  }

  /** The text of this block after an edit. Edits made from an older version are merged or refused. */
  async contentAfter(block: Block, { change, options: { expectVersion, merge } }: ParsedEdit): Promise<string> {
    refuseReadOnly(block);
    if (expectVersion === undefined || expectVersion === block.version) return applyChange(block.content, change);
    if (!merge || expectVersion > block.version) throw overtaken(block);
    const base = await this.#textOf(block, expectVersion);
    const merged = merge3(base, applyChange(base, change), block.content);
    if (merged === undefined) throw overtaken(block);
    return merged;
  }

  async #rewrite(place: ParsedScope, name: string, rewrite: Rewrite): Promise<EditedBlock> {
    const lane = `${spaceKey(place.space)} ${name}`;
    return this.#edits.run(lane, async () => {
      try {
        return await this.#planAndCommit(place, name, rewrite);
      } catch (error) {
        // A call that was already carried out may find nothing to change.
        const first = rewrite.once && (await this.#parts.first(rewrite.once));
        if (first) return this.#answer(place.space, first);
        throw error;
      }
    });
  }

  async #planAndCommit(place: ParsedScope, name: string, { note, once, target, isAllowed }: Rewrite) {
    for (let attempt = 1; ; attempt++) {
      const block = await this.#find(place, name);
      if (!isAllowed) refuseReadOnly(block);
      const wanted = await target(block);
      const now = this.#parts.now();
      const plan = await planBlock({ place, block, ...wanted, note, now }, this.#parts.counters);
      try {
        return await this.#commit(place, plan, once);
      } catch (error) {
        if (attempt === ATTEMPTS || !isOvertaken(error, [block.id])) throw error;
      }
    }
  }

  async #commit(
    place: ParsedScope,
    { writes, next, archived }: BlockPlan,
    once: OnceWrite | undefined,
  ): Promise<EditedBlock> {
    const done = await this.#parts.write(`block ${next.id}`, writes, once);
    if (archived) await this.#parts.added(place.space);
    return this.#answer(place.space, done, archived);
  }

  /** The block as stored, with the times of the commit. A repeated call may find its archived item gone. */
  async #answer(space: SpaceRef, done: readonly Done[], planned?: Archived): Promise<EditedBlock> {
    const put = done.find(({ op }) => op === "put_block");
    if (put?.op !== "put_block") throw forgottenSince();
    const moved = done.find(({ op }) => op === "add");
    const id = moved?.op === "add" ? moved.ids[0] : undefined;
    if (id === undefined) return put.block;
    if (id === planned?.id) return { ...put.block, archived: planned };
    const [item] = await this.#parts.store.get([space], [id], this.#parts.now());
    return item ? { ...put.block, archived: { id, text: item.content } } : put.block;
  }

  async #find(place: ParsedScope, name: string): Promise<Block> {
    const block = await this.get(place, name);
    if (block) return block;
    throw new HoldfastError("not_found", "there is no block of this name in this space", {
      hint: "names are exact; list shows the existing blocks, create makes a new one",
      details: { name },
    });
  }

  async #textOf({ space, id, version: newest }: Block, version: number): Promise<string> {
    const [edit] = await this.#parts.store.blockLog({ space, id, limit: 1, version });
    if (edit) return edit.new;
    throw new HoldfastError("not_found", `the block has no version ${version}`, {
      hint: `its versions are 1 to ${newest}`,
      details: { id, version: newest },
    });
  }

  async #forgetOverflow(block: Block): Promise<readonly ForgetReceipt[]> {
    const ids = await this.#overflowOf(block);
    return ids.length > 0 ? [await this.#parts.forgetItems(block.space, ids)] : [];
  }

  async #overflowOf({ space, id }: Block): Promise<readonly string[]> {
    const filter = { kinds: ["overflow" as const], metadata: [{ path: ["block"], anyOf: [id] }] };
    const ids: string[] = [];
    for (let cursor: string | undefined; ; ) {
      const request = { spaces: [space], filter, sortBy: "arrival", order: "asc", limit: PAGE } as const;
      const page = await this.#parts.store.list({ ...request, ...(cursor && { cursor }), now: this.#parts.now() });
      ids.push(...page.items.map((item) => item.id));
      cursor = page.next;
      if (cursor === undefined) return ids;
    }
  }
}

export function stateOf(block: Block): BlockState {
  const { name, content, description, maxTokens, counter, policy, readOnly } = block;
  return { name, content, ...(description !== undefined && { description }), maxTokens, counter, policy, readOnly };
}

/**
 * Whether the store refused a plan because the block was written meanwhile, or deleted. In the latter case another
 * block may have its name by now.
 */
export const isOvertaken = (error: unknown, blocks: readonly string[]): boolean =>
  error instanceof HoldfastError &&
  (error.code === "not_found" || (error.code === "conflict" && typeof error.details["version"] === "number")) &&
  blocks.includes(String(error.details["id"]));

/** One receipt for a block and its overflow items. */
const sumOf = (block: ForgetReceipt, overflow: ForgetReceipt): ForgetReceipt => ({
  ...block,
  items: block.items + overflow.items,
  purged: block.purged && overflow.purged,
  left: [...overflow.left, ...block.left],
});

function refuseReadOnly(block: Block): void {
  if (!block.readOnly) return;
  throw new HoldfastError("read_only", "the block is read-only", {
    hint: "allow edits first: configure it with readOnly: false",
    details: { id: block.id, version: block.version },
  });
}

function refuseOtherVersion(block: Block, expectVersion: number | undefined): void {
  if (expectVersion !== undefined && expectVersion !== block.version) throw overtaken(block);
}

function overtaken({ id, version }: Block): HoldfastError {
  return new HoldfastError("conflict", "the block has changed in the meantime", {
    hint: "read it again and repeat the edit on its current version, or let edits that do not overlap merge (merge: true)",
    details: { id, version },
  });
}
