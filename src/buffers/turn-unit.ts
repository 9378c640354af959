/** Turns a Turn into one unit of writes: its messages as one round, then its facts, its points and its block edits. */
import { parseBlockName, parseEdit } from "../blocks/block-input.js";
import { planBlock } from "../blocks/block-plan.js";
import { type MemoryBlocks, stateOf } from "../blocks/memory-blocks.js";
import { HoldfastError } from "../errors.js";
import { parseFact } from "../facts/fact-input.js";
import { parseMessages } from "../input/message.js";
import { parsePoint } from "../input/points.js";
import type { ParsedScope } from "../input/scope.js";
import type { Block } from "../stores/blocks.js";
import type { Write } from "../stores/store.js";
import type { Counters } from "../tokens/counters.js";
import type { SizedUnit } from "./lanes.js";
import type { BufferedWrite } from "./turn.js";
import { bytesOfUnit } from "./units.js";

type UpsertFact = BufferedWrite & { readonly op: "upsert_fact" };
type EditBlock = BufferedWrite & { readonly op: "edit_block" };

export interface TurnUnit extends SizedUnit {
  /** Number of messages it saves. They come first. */
  readonly saved: number;
  /** The ids of the blocks it edits. */
  readonly blocks: readonly string[];
}

/** Builds one atomic unit; undefined if there is nothing to write. Edits are planned against the current blocks. */
export async function turnUnit(
  place: ParsedScope,
  writes: readonly BufferedWrite[],
  blocks: MemoryBlocks,
  counters: Counters,
  now: number,
): Promise<TurnUnit | undefined> {
  const messages = writes.flatMap((write) => (write.op === "save_message" ? [write.message] : []));
  const unit: Write[] = [];
  if (messages.length > 0)
    unit.push({ op: "add", ...place, items: parseMessages(messages, now).rows, existing: "same" });
  for (const write of writes) if (write.op === "upsert_fact") unit.push(factWrite(place, write, now));
  for (const write of writes) {
    if (write.op !== "store_embedding") continue;
    const { op: _, ...point } = write;
    unit.push(parsePoint(place, point));
  }
  const edited = new Map<string, Block>();
  for (const write of writes) {
    if (write.op !== "edit_block") continue;
    const plan = await planEdit(place, write, edited, blocks, counters, now);
    unit.push(...plan.writes);
    edited.set(write.block, plan.next);
  }
  if (unit.length === 0) return undefined;
  const ids = [...edited.values()].map(({ id }) => id);
  return { unit, messages: unit.length, bytes: bytesOfUnit(unit), saved: messages.length, blocks: ids };
}

function factWrite(place: ParsedScope, fact: UpsertFact, now: number): Write {
  const { op: _, sourceSession, sourceMessage, ...given } = fact;
  const isSourced = sourceSession !== undefined || sourceMessage !== undefined;
  const source = {
    ...(sourceSession !== undefined && { session: sourceSession }),
    ...(sourceMessage !== undefined && { message: sourceMessage }),
  };
  return parseFact(place, { ...given, ...(isSourced && { source }) }, now);
}

/** Plans an edit. If the same turn has already edited the block, the edit applies to that result. */
async function planEdit(
  place: ParsedScope,
  write: EditBlock,
  edited: ReadonlyMap<string, Block>,
  blocks: MemoryBlocks,
  counters: Counters,
  now: number,
) {
  const { op: _, block: name, ...edit } = write;
  const parsed = parseEdit(edit);
  const block = edited.get(name) ?? (await blocks.get(place, parseBlockName(name)));
  if (!block) {
    throw new HoldfastError("not_found", "there is no block of this name in this space", {
      hint: "create it before the turn that edits it",
      details: { name },
    });
  }
  const state = { ...stateOf(block), content: await blocks.contentAfter(block, parsed) };
  return planBlock({ place, block, state, note: parsed.options, overflow: "policy", now }, counters);
}
