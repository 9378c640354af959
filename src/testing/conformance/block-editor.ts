/** Shorthands for blocks under test. */
import { expect } from "vitest";
import type { Block, BlockEdit, BlockState, PutBlockWrite } from "../../stores/blocks.js";
import type { ForgetDone } from "../../stores/store.js";
import type { SpaceRef } from "../../types.js";
import { ADA, type Probe } from "./probe.js";

/** The parts of a write that matter to the test. */
export type BlockDraft = Partial<BlockState> & {
  readonly space?: SpaceRef;
  readonly reason?: string;
  readonly actor?: string;
};

/** A write of a block, by default in ada's space, with its id as its name. */
export function putting(id: string, expect: number, draft: BlockDraft = {}): PutBlockWrite {
  const { space = ADA, reason = `edit ${expect + 1}`, actor, ...state } = draft;
  const defaults = { name: id, content: `text ${expect + 1}`, maxTokens: 4096, counter: "chars4" } as const;
  return {
    op: "put_block",
    space,
    id,
    expect,
    state: { ...defaults, policy: "refuse", readOnly: false, ...state },
    reason,
    ...(actor !== undefined && { actor }),
  };
}

/** Writes the block; it must succeed. */
export async function put(probe: Probe, id: string, expected: number, draft?: BlockDraft): Promise<Block> {
  const [done] = await probe.unit(putting(id, expected, draft));
  if (done?.op !== "put_block") throw new Error("the write was answered as another one");
  expect(done.block.version).toBe(expected + 1);
  return done.block;
}

export function log(probe: Probe, id: string, space: SpaceRef = ADA): Promise<readonly BlockEdit[]> {
  return probe.store.blockLog({ space, id, limit: 0 });
}

export async function blockNames(probe: Probe, ...spaces: SpaceRef[]): Promise<readonly string[]> {
  return (await probe.store.blocks({ spaces })).map(({ name }) => name);
}

export async function forgetBlock(probe: Probe, block: string, space: SpaceRef = ADA): Promise<ForgetDone> {
  const [done] = await probe.unit({ op: "forget", target: { space, block } });
  if (done?.op !== "forget") throw new Error("the write was answered as another one");
  return done;
}
