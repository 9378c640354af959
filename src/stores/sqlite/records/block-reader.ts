/** Reads memory blocks and their logs. */
import type { Page, SpaceRef } from "../../../types.js";
import type {
  Block,
  BlockEdit,
  BlockLogRequest,
  BlockPolicy,
  BlockState,
  BlocksRequest,
  BlockVersion,
  BlockVersionsRequest,
} from "../../blocks.js";
import type { Statements } from "../file/connection.js";
import type { Row } from "../file/driver.js";
import type { Registry } from "../rows/registry.js";

/** Blocks in the state of their newest edit. */
export const BLOCK_SELECT = `
  SELECT block.id, block.version, block.created_at, edit.name, edit.content, edit.description, edit.max_tokens,
    edit.counter, edit.policy, edit.read_only, edit.at
  FROM block JOIN block_edit AS edit ON edit.block = block.key AND edit.version = block.version`;

/** Edits, each with the state before it. */
const EDIT_SELECT = `
  SELECT edit.version, edit.name, edit.content, edit.reason, edit.actor, edit.at,
    former.name AS former_name, former.content AS former_content
  FROM block JOIN block_edit AS edit ON edit.block = block.key
  LEFT JOIN block_edit AS former ON former.block = edit.block AND former.version = edit.version - 1`;

/** Versions of blocks, each with its full state. */
const VERSION_SELECT = `
  SELECT block.key, block.id, block.name AS present_name, edit.* FROM block JOIN block_edit AS edit ON edit.block = block.key
  WHERE block.space = ? AND (block.key, edit.version) > (?, ?)`;

export class BlockReader {
  readonly #statements: Statements;
  readonly #registry: Registry;

  constructor(statements: Statements, registry: Registry) {
    this.#statements = statements;
    this.#registry = registry;
  }

  blocks({ spaces, names, ids }: BlocksRequest): readonly Block[] {
    const isAll = names === undefined && ids === undefined;
    const wanted = "SELECT value FROM json_each(?)";
    const narrowing = isAll ? "" : ` AND (block.name IN (${wanted}) OR block.id IN (${wanted}))`;
    const values = isAll ? [] : [JSON.stringify(names ?? []), JSON.stringify(ids ?? [])];
    const select = this.#statements.get(`${BLOCK_SELECT} WHERE block.space = ?${narrowing}`);
    const bySpace = new Map<number, readonly Block[]>();
    for (const ref of spaces) {
      const space = this.#registry.findSpace(ref)?.key;
      if (space === undefined || bySpace.has(space)) continue;
      const found = select.all(space, ...values).map((row) => readBlock(row, ref));
      bySpace.set(space, found.sort(byName));
    }
    return [...bySpace.values()].flat();
  }

  log({ space: ref, id, limit, version }: BlockLogRequest): readonly BlockEdit[] {
    const space = this.#registry.findSpace(ref)?.key;
    if (space === undefined) return [];
    const narrowing = version === undefined ? "" : " AND edit.version = ?";
    const order = "ORDER BY edit.version DESC LIMIT ?";
    const select = this.#statements.get(`${EDIT_SELECT} WHERE block.id = ? AND block.space = ?${narrowing} ${order}`);
    const values = version === undefined ? [id, space] : [id, space, version];
    return select.all(...values, limit === 0 ? -1 : limit).map(readEdit);
  }

  versions({ space: ref, id, version, limit, cursor }: BlockVersionsRequest): Page<BlockVersion> {
    const space = this.#registry.findSpace(ref)?.key;
    if (space === undefined) return { items: [] };
    const list = ["block versions", space, id, version] as const;
    const after = cursor === undefined ? [0, 0] : this.#registry.cursors.open(list, cursor);
    const narrowing = `${id === undefined ? "" : " AND block.id = ?"}${version === undefined ? "" : " AND edit.version = ?"}`;
    const values = [...(id === undefined ? [] : [id]), ...(version === undefined ? [] : [version])];
    const select = this.#statements.get(`${VERSION_SELECT}${narrowing} ORDER BY block.key, edit.version LIMIT ?`);
    const rows = select.all(space, ...after, ...values, limit + 1);
    const items = rows.slice(0, limit).map(readVersion);
    const last = rows[limit - 1];
    if (rows.length <= limit || !last) return { items };
    return { items, next: this.#registry.cursors.seal(list, [Number(last["key"]), Number(last["version"])]) };
  }
}

/**
 * Compares by UTF-16 code unit. SQLite would compare UTF-8 bytes, which orders characters beyond the basic plane
 * differently.
 */
const byName = (a: Block, b: Block): number => (a.name < b.name ? -1 : 1);

/** Requires a row of `BLOCK_SELECT`. */
export function readBlock(row: Row, space: SpaceRef): Block {
  return {
    id: String(row["id"]),
    space: { ...space },
    ...readState(row),
    version: Number(row["version"]),
    createdAt: Number(row["created_at"]),
    updatedAt: Number(row["at"]),
  };
}

function readState(row: Row): BlockState {
  return {
    name: String(row["name"]),
    content: String(row["content"]),
    ...(row["description"] !== null && { description: String(row["description"]) }),
    maxTokens: Number(row["max_tokens"]),
    counter: String(row["counter"]),
    policy: String(row["policy"]) as BlockPolicy,
    readOnly: row["read_only"] === 1,
  };
}

function readVersion(row: Row): BlockVersion {
  return {
    id: String(row["id"]),
    version: Number(row["version"]),
    ...readState(row),
    presentName: String(row["present_name"]),
    reason: String(row["reason"]),
    ...(row["actor"] !== null && { actor: String(row["actor"]) }),
    at: Number(row["at"]),
  };
}

function readEdit(row: Row): BlockEdit {
  const name = String(row["name"]);
  const formerName = row["former_name"] === null ? name : String(row["former_name"]);
  return {
    version: Number(row["version"]),
    old: row["former_content"] === null ? "" : String(row["former_content"]),
    new: String(row["content"]),
    name,
    ...(formerName !== name && { formerName }),
    reason: String(row["reason"]),
    ...(row["actor"] !== null && { actor: String(row["actor"]) }),
    at: Number(row["at"]),
  };
}
