/** Edits one item: the next version takes the row's place. */
import { HoldfastError } from "../../errors.js";
import { notEditable } from "../fact-rules.js";
import type { Done, UpdateWrite } from "../store.js";
import type { Attempt } from "./attempt.js";
import { isVisible, plain, type Row } from "./row.js";
import type { State } from "./state.js";

/** `of`: "fact" for what a write of the fact changes of its item. */
export function update(write: UpdateWrite, state: State, attempt: Attempt, of: "item" | "fact" = "item"): Done {
  const { content, name, metadata } = write.patch;
  const space = state.registry.find(write.space);
  const row = space?.rows.get(write.id);
  if (!space || !row || !isVisible(row, space, attempt.now)) {
    throw new HoldfastError("not_found", `There is no item "${write.id}" in this space.`, {
      hint: "Check the id and the space; the item may have been forgotten or have expired.",
      details: { id: write.id },
    });
  }
  const isText = content !== undefined || name !== undefined || metadata !== undefined;
  if (of === "item" && isText && space.facts.has(write.id)) throw notEditable(write.id);
  if (write.expectVersion !== undefined && write.expectVersion !== row.version) {
    throw new HoldfastError("conflict", `The item "${write.id}" has changed: it is at version ${row.version}.`, {
      hint: "Read the item again, then repeat the edit with the version you have read.",
      details: { id: write.id, version: row.version },
    });
  }
  const edited = { ...patched(row, write.patch), updatedAt: attempt.now, version: row.version + 1 };
  state.put(space, { ...edited, commit: attempt.commit }, attempt);
  return { op: "update", version: edited.version };
}

function patched(row: Row, patch: UpdateWrite["patch"]): Row {
  const { name, parts, expiresAt, ...kept } = row;
  const after = {
    name: patch.name === undefined ? name : patch.name,
    // Parts belong to their content: new content without parts is plain text.
    parts: patch.content === undefined && patch.parts === undefined ? parts : patch.parts,
    expiresAt: patch.expiresAt === undefined ? expiresAt : patch.expiresAt,
  };
  return {
    ...kept,
    ...(patch.content !== undefined && { content: patch.content }),
    ...(patch.role !== undefined && { role: patch.role }),
    ...(patch.metadata && { metadata: plain(patch.metadata) }),
    ...(patch.tier !== undefined && { tier: patch.tier }),
    ...(patch.occurredAt !== undefined && { occurredAt: patch.occurredAt }),
    ...(typeof after.name === "string" && { name: after.name }),
    ...(after.parts && { parts: plain(after.parts) }),
    ...(typeof after.expiresAt === "number" && { expiresAt: after.expiresAt }),
  };
}
