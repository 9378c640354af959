/**
 * Memory blocks: named, versioned texts of a space that agents read and rewrite.
 *
 * - Every edit makes the next version, with a log entry, in one commit.
 * - An edit is planned from what was read and written only if nothing came between; else it is planned anew from what is
 *   there, unless the caller has said which version it was made from: then he is told (`conflict`, details.version).
 *   So no edit is lost, whoever else edits, in this process or in another.
 */
import { HoldfastError } from "../errors.js";
import { newId } from "../ids.js";
import type { ParsedScope } from "../input/scope.js";
import { OneByOne } from "../one-by-one.js";
import type { Block, BlockEdit, BlockState } from "../stores/blocks.js";
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
  readonly store: Pick<Store, "blocks" | "blockLog" | "list">;
  readonly counters: Counters;
  readonly now: () => number;
  /** Commits a unit, after those of the same lane. */
  readonly write: (lane: string, unit: Unit) => Promise<readonly Done[]>;
  readonly forget: (space: SpaceRef, id: string) => Promise<ForgetReceipt>;
  readonly forgetItems: (space: SpaceRef, ids: readonly string[]) => Promise<ForgetReceipt>;
  /** Items were added outside any session. */
  readonly added: (space: SpaceRef) => Promise<void>;
}

/** A block after an edit, and what left it because it was over the budget. */
export interface EditedBlock extends Block {
  readonly archived?: Archived;
}

/** What an edit makes of a block: its next state, and what becomes of text over the budget. */
interface Wish {
  readonly state: BlockState;
  readonly overflow: "policy" | "archive" | "leave";
}

/** How often an edit is planned anew. Each time somebody else has written, so that all together go on. */
const ATTEMPTS = 1_000;
/** Pages of overflow items that go with a block. */
const PAGE = 1_000;

export class MemoryBlocks {
  readonly #parts: MemoryBlocksParts;
  readonly #edits = new OneByOne();

  constructor(parts: MemoryBlocksParts) {
    this.#parts = parts;
  }

  /** `conflict` if there is a block of this name. */
  async create(place: ParsedScope, block: NewBlock): Promise<EditedBlock> {
    const { state, note } = parseNewBlock(block);
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
    return this.#commit(place, plan);
  }

  async get(place: ParsedScope, name: string): Promise<Block | undefined> {
    this.#parts.now();
    const [block] = await this.#parts.store.blocks({ spaces: [place.space], names: [parseBlockName(name)] });
    return block;
  }

  /** By name. */
  async list(place: ParsedScope): Promise<readonly Block[]> {
    this.#parts.now();
    return this.#parts.store.blocks({ spaces: [place.space] });
  }

  edit(place: ParsedScope, name: string, edit: BlockEditInput): Promise<EditedBlock> {
    const parsed = parseEdit(edit);
    return this.#rewrite(place, name, parsed.options, async (block) => ({
      state: { ...stateOf(block), content: await this.contentAfter(block, parsed) },
      overflow: "policy",
    }));
  }

  rename(place: ParsedScope, name: string, to: string, options: EditOptions = {}): Promise<Block> {
    const wanted = parseBlockName(to);
    const parsed = parseEditOptions(options);
    return this.#rewrite(place, name, parsed, async (block) => {
      refuseOtherVersion(block, parsed.expectVersion);
      return { state: { ...stateOf(block), name: wanted }, overflow: "leave" };
    });
  }

  /** Description, budget, counter, policy, read-only. The text stays. */
  configure(place: ParsedScope, name: string, settings: BlockSettings): Promise<Block> {
    const { apply, ...note } = parseSettings(settings);
    return this.#rewrite(
      place,
      name,
      note,
      async (block) => ({ state: apply(stateOf(block)), overflow: "leave" }),
      true,
    );
  }

  /** Forgets the block, its history, and what overflowed from it, until it was gone. */
  async delete(place: ParsedScope, name: string): Promise<ForgetReceipt> {
    const block = await this.#find(place, name);
    refuseReadOnly(block);
    const before = await this.#forgetOverflow(block);
    const receipt = await this.#parts.forget(block.space, block.id);
    const meanwhile = await this.#forgetOverflow(block);
    return [...before, ...meanwhile].reduce(sumOf, receipt);
  }

  /** The newest edits first. The creation is not one. */
  async history(place: ParsedScope, name: string, options: HistoryOptions = {}): Promise<readonly BlockEdit[]> {
    const limit = parseHistory(options);
    const { id } = await this.#find(place, name);
    const log = await this.#parts.store.blockLog({ space: place.space, id, limit });
    return log.filter(({ version }) => version > 1);
  }

  /** The text of one version. */
  async version(place: ParsedScope, name: string, version: number): Promise<string> {
    return this.#textOf(await this.#find(place, name), parseVersion(version, "version"));
  }

  /** What changed from one version to another, as a unified diff; empty if nothing did. */
  async diff(place: ParsedScope, name: string, from: number, to: number): Promise<string> {
    const block = await this.#find(place, name);
    const before = await this.#textOf(block, parseVersion(from, "from"));
    const after = await this.#textOf(block, parseVersion(to, "to"));
    return unifiedDiff(before, after, { name: block.name, from, to });
  }

  /** A new version with exactly the text of an earlier one, whatever the budget is now. */
  restore(place: ParsedScope, name: string, version: number, options: EditOptions = {}): Promise<Block> {
    const wanted = parseVersion(version, "version");
    const parsed = parseEditOptions(options);
    const noted = { reason: `restored version ${wanted}`, ...parsed };
    return this.#rewrite(place, name, noted, async (block) => {
      refuseOtherVersion(block, parsed.expectVersion);
      return { state: { ...stateOf(block), content: await this.#textOf(block, wanted) }, overflow: "leave" };
    });
  }

  /** Cuts the block to its budget; what is cut off becomes a searchable item. Undefined if it fits, and nothing is written. */
  async archiveOverflow(place: ParsedScope, name: string, options: EditOptions = {}): Promise<EditedBlock | undefined> {
    const parsed = parseEditOptions(options);
    const noted = { reason: "overflow archived", ...parsed };
    let isFitting = false;
    const edited = await this.#rewrite(place, name, noted, async (block) => {
      refuseOtherVersion(block, parsed.expectVersion);
      const counter = this.#parts.counters.of(block.counter);
      const [tokens = 0] = await counter.count([block.content]);
      isFitting = tokens <= block.maxTokens;
      return isFitting ? undefined : { state: stateOf(block), overflow: "archive" };
    });
    return isFitting ? undefined : edited;
  }

  /** The text after an edit of this block as it is now; edits made from an older version are merged or refused. */
  async contentAfter(block: Block, { change, options: { expectVersion, merge } }: ParsedEdit): Promise<string> {
    refuseReadOnly(block);
    if (expectVersion === undefined || expectVersion === block.version) return applyChange(block.content, change);
    if (!merge || expectVersion > block.version) throw overtaken(block);
    const base = await this.#textOf(block, expectVersion);
    const merged = merge3(base, applyChange(base, change), block.content);
    if (merged === undefined) throw overtaken(block);
    return merged;
  }

  async #rewrite(
    place: ParsedScope,
    name: string,
    note: EditOptions,
    wish: (block: Block) => Promise<Wish | undefined>,
    isAllowed = false,
  ): Promise<EditedBlock> {
    const lane = JSON.stringify([place.space, name]);
    return this.#edits.run(lane, async () => {
      for (let attempt = 1; ; attempt++) {
        const block = await this.#find(place, name);
        if (!isAllowed) refuseReadOnly(block);
        const wanted = await wish(block);
        if (!wanted) return block;
        const now = this.#parts.now();
        const plan = await planBlock({ place, block, ...wanted, note, now }, this.#parts.counters);
        try {
          return await this.#commit(place, plan);
        } catch (error) {
          if (attempt === ATTEMPTS || !isOvertaken(error, [block.id])) throw error;
        }
      }
    });
  }

  /** Answers with the block as the store has it: its times are those of the commit. */
  async #commit(place: ParsedScope, { writes, next, archived }: BlockPlan): Promise<EditedBlock> {
    const [put] = await this.#parts.write(`block ${next.id}`, writes);
    if (archived) await this.#parts.added(place.space);
    return { ...(put?.op === "put_block" ? put.block : next), ...(archived && { archived }) };
  }

  async #find(place: ParsedScope, name: string): Promise<Block> {
    const block = await this.get(place, name);
    if (block) return block;
    throw new HoldfastError("not_found", "there is no block of this name in this space", {
      hint: "names are exact; list shows those that are there, create makes a new one",
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
 * Whether the store has refused a plan because the block was written meanwhile, or deleted: then there may be another one
 * of its name by now.
 */
export const isOvertaken = (error: unknown, blocks: readonly string[]): boolean =>
  error instanceof HoldfastError &&
  (error.code === "not_found" || (error.code === "conflict" && typeof error.details["version"] === "number")) &&
  blocks.includes(String(error.details["id"]));

/** One receipt for a block and what goes with it. */
const sumOf = (block: ForgetReceipt, overflow: ForgetReceipt): ForgetReceipt => ({
  ...block,
  items: block.items + overflow.items,
  purged: block.purged && overflow.purged,
  left: [...overflow.left, ...block.left],
  commit: Math.max(block.commit, overflow.commit),
});

function refuseReadOnly(block: Block): void {
  if (!block.readOnly) return;
  throw new HoldfastError("read_only", "the block is read-only", {
    hint: "whoever may change that sets readOnly to false first",
    details: { id: block.id, version: block.version },
  });
}

function refuseOtherVersion(block: Block, expectVersion: number | undefined): void {
  if (expectVersion !== undefined && expectVersion !== block.version) throw overtaken(block);
}

function overtaken({ id, version }: Block): HoldfastError {
  return new HoldfastError("conflict", "the block has changed meanwhile", {
    hint: "read it again and repeat the edit on its current version, or let edits that do not overlap merge",
    details: { id, version },
  });
}
