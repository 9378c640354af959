/**
 * Turns an edit into writes: the block's next version, and the overflow of its budget as an item, in one unit.
 *
 * A plan is made from the block as read. The store checks that the block still has that version; if not, the caller
 * reads and plans again.
 */
import { HoldfastError } from "../errors.js";
import { parseItems } from "../input/message.js";
import { actorOf, type ParsedScope } from "../input/scope.js";
import type { Block, BlockState, PutBlockWrite } from "../stores/blocks.js";
import type { AddWrite } from "../stores/store.js";
import type { Counters } from "../tokens/counters.js";
import type { EditNote } from "./block-input.js";
import { splitOverflow } from "./overflow.js";

export interface BlockPlan {
  readonly writes: readonly (PutBlockWrite | AddWrite)[];
  /** The block after the edit, for a further edit in the same unit. */
  readonly next: Block;
  /** The text removed from the block, and the id of the item that contains it now. */
  readonly archived?: Archived;
}

/** What an edit over the budget moved out of a block: an item that queries find. */
export interface Archived {
  /** The id of the item. */
  readonly id: string;
  /** The text that was moved. */
  readonly text: string;
}

export interface PlanRequest {
  readonly place: ParsedScope;
  /** The current block; version 0 if it is to be created. */
  readonly block: Block;
  readonly state: BlockState;
  readonly note: EditNote;
  /** How to treat text over the budget: follow the block's policy, archive it, or leave it. */
  readonly overflow: "policy" | "archive" | "leave";
  readonly now: number;
}

export async function planBlock(request: PlanRequest, counters: Counters): Promise<BlockPlan> {
  const { place, block, note, now } = request;
  const { state, archived } = await withinBudget(request, counters);
  const version = block.version + 1;
  const put: PutBlockWrite = {
    op: "put_block",
    space: place.space,
    id: block.id,
    expect: block.version,
    state,
    reason: note.reason ?? "",
    actor: note.actor ?? actorOf(place),
  };
  const next = { ...block, ...state, version, updatedAt: now };
  if (archived === undefined) return { writes: [put], next };
  const [row] = parseItems([overflowItem(block.id, state.name, version, archived)], now).rows;
  if (!row) throw new Error("an item was not parsed");
  const { space, agent } = place;
  const add: AddWrite = { op: "add", space, ...(agent !== undefined && { agent }), items: [row], existing: "same" };
  return { writes: [put, add], next, archived: { id: row.id, text: archived } };
}

/** An overflow item refers to its block, and to the version that removed it. */
const overflowItem = (id: string, name: string, version: number, content: string) => ({
  kind: "overflow",
  content,
  tier: "semantic",
  metadata: { block: id, blockName: name, blockVersion: version },
});

async function withinBudget(
  { state, block, overflow }: PlanRequest,
  counters: Counters,
): Promise<{ readonly state: BlockState; readonly archived?: string }> {
  const policy = overflow === "policy" ? state.policy : overflow === "archive" ? "archive" : "manual";
  const counter = counters.of(state.counter); // refuses an unknown counter even if it is not needed now
  if (policy === "manual") return { state };
  const split = await splitOverflow(state.content, state.maxTokens, counter);
  if (!split) return { state };
  if (policy === "refuse" || split.kept === "") throw overBudget(block, state);
  return { state: { ...state, content: split.kept }, archived: split.overflow };
}

function overBudget(block: Block, { maxTokens, counter }: BlockState): HoldfastError {
  return new HoldfastError("too_large", `the block would have more than its ${maxTokens} tokens (${counter})`, {
    hint: 'shorten the text, raise maxTokens, or set the policy "archive", which keeps the head and stores the rest',
    details: { id: block.id, version: block.version, maxTokens, counter },
  });
}
