/** Memory blocks in memory. Records are never changed in place: an edit puts a new one in the old one's place. */

import type { Page } from "../../types.js";
import { refuseConflict } from "../block-conflicts.js";
import type {
  Block,
  BlockEdit,
  BlockLogRequest,
  BlockState,
  BlocksRequest,
  BlockVersion,
  BlockVersionsRequest,
  PutBlockDone,
  PutBlockWrite,
} from "../blocks.js";
import type { Attempt } from "./attempt.js";
import { pageOf } from "./page.js";
import type { Space } from "./space.js";
import type { State } from "./state.js";

export interface BlockRecord {
  /** In the order in which blocks were made; never given twice. */
  readonly key: number;
  /** Without its space, which may be renamed. */
  readonly newest: Omit<Block, "space">;
  /** Oldest first. */
  readonly edits: readonly BlockEdit[];
  /** What each edit left. */
  readonly states: readonly BlockState[];
}

export function putBlock(write: PutBlockWrite, all: State, attempt: Attempt): PutBlockDone {
  const { id, expect } = write;
  const space = all.registry.ensure(write.space, attempt);
  const before = space.blocks.get(id);
  refuseConflict(write, before?.newest.version ?? 0, holderOf(write.state.name, space));
  const state = copyState(write.state);
  const version = expect + 1;
  const createdAt = before?.newest.createdAt ?? attempt.now;
  const newest = { id, ...state, version, createdAt, updatedAt: attempt.now };
  const edits = [...(before?.edits ?? []), editOf(write, version, before, attempt.now)];
  const states = [...(before?.states ?? []), state];
  attempt.set(space.blocks, id, { key: before?.key ?? all.nextArrival(), newest, edits, states });
  attempt.changed = true; // no search shows a block, so the version of the space stays as it is
  return { op: "put_block", block: { ...newest, space: space.ref } };
}

function editOf({ state, reason, actor }: PutBlockWrite, version: number, before: BlockRecord | undefined, at: number) {
  const { name, content } = state;
  const formerName = before?.newest.name ?? name;
  return {
    version,
    old: before?.newest.content ?? "",
    new: content,
    name,
    ...(formerName !== name && { formerName }),
    reason,
    ...(actor !== undefined && { actor }),
    at,
  };
}

function copyState({ name, content, description, maxTokens, counter, policy, readOnly }: BlockState): BlockState {
  const settings = { maxTokens, counter, policy, readOnly };
  return { name, content, ...(description !== undefined && { description }), ...settings };
}

/** The id of the block of this name. */
function holderOf(name: string, space: Space): string | undefined {
  for (const { newest } of space.blocks.values()) if (newest.name === name) return newest.id;
  return undefined;
}

/** Removes the block with all its versions. False if there is no such block. */
export function forgetBlock(space: Space, id: string, attempt: Attempt): boolean {
  if (!space.blocks.has(id)) return false;
  attempt.delete(space.blocks, id);
  attempt.changed = true;
  return true;
}

export function blocks({ spaces, names, ids }: BlocksRequest, { registry }: State): readonly Block[] {
  const isAll = names === undefined && ids === undefined;
  return registry.findAll(spaces).flatMap((space) =>
    [...space.blocks.values()]
      .filter(({ newest }) => isAll || names?.includes(newest.name) || ids?.includes(newest.id))
      .map(({ newest }) => ({ ...newest, space: space.ref }))
      .sort((a, b) => (a.name < b.name ? -1 : 1)),
  );
}

export function blockLog({ space, id, limit, version }: BlockLogRequest, { registry }: State): readonly BlockEdit[] {
  const edits = registry.find(space)?.blocks.get(id)?.edits ?? [];
  const asked = edits.filter((edit) => version === undefined || edit.version === version).reverse();
  return asked.slice(0, limit === 0 ? undefined : limit).map((edit) => ({ ...edit }));
}

export function blockVersions(request: BlockVersionsRequest, { registry }: State): Page<BlockVersion> {
  const { space, id, version, limit, cursor } = request;
  const found = [...(registry.find(space)?.blocks.values() ?? [])]
    .filter(({ newest }) => id === undefined || newest.id === id)
    .flatMap((record) => record.edits.map((edit, at) => ({ record, edit, state: record.states[at] as BlockState })))
    .filter(({ edit }) => version === undefined || edit.version === version);
  const page = pageOf(found, {
    list: "blockVersions",
    key: ({ record, edit }) => [record.key, edit.version],
    order: "asc",
    limit,
    cursor,
  });
  return { ...page, items: page.items.map(versionOf) };
}

interface FoundVersion {
  readonly record: BlockRecord;
  readonly edit: BlockEdit;
  readonly state: BlockState;
}

function versionOf({ record: { newest }, edit: { version, reason, actor, at }, state }: FoundVersion): BlockVersion {
  const how = { presentName: newest.name, reason, ...(actor !== undefined && { actor }), at };
  return { id: newest.id, version, ...state, ...how };
}
