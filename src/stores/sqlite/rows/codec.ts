/** Conversions between rows and the model's values. */
import type { Mutable } from "../../../mutable.js";
import type {
  Entry,
  Item,
  Kind,
  Metadata,
  Part,
  Role,
  SessionEntry,
  SpaceKind,
  SpaceRef,
  Tier,
} from "../../../types.js";
import type { KeyedItem, SpaceVersion } from "../../store.js";
import type { Row, Value } from "../file/driver.js";

/** Codes are indexes into these lists: append only. */
const ROLE_CODES: readonly Role[] = ["user", "assistant", "system", "tool"];
const TIER_CODES: readonly Tier[] = ["working", "episodic", "semantic"];
const KIND_CODES: readonly Kind[] = ["message", "knowledge", "fact", "overflow"];
const SPACE_CODES: readonly SpaceKind[] = ["user", "agent", "team"];

export const roleCode = (role: Role): number => ROLE_CODES.indexOf(role);
export const roleOf = (code: number): Role => ROLE_CODES[code] ?? "user";
export const tierCode = (tier: Tier): number => TIER_CODES.indexOf(tier);
export const kindCode = (kind: Kind): number => KIND_CODES.indexOf(kind);
export const kindOf = (code: number): Kind => KIND_CODES[code] ?? "message";

export function spaceParts(space: SpaceRef): readonly [kind: SpaceKind, code: number, name: string] {
  if ("user" in space) return ["user", 0, space.user];
  if ("agent" in space) return ["agent", 1, space.agent];
  return ["team", 2, space.team];
}

export const spaceCode = (kind: SpaceKind): number => SPACE_CODES.indexOf(kind);

export const spaceKind = (code: Value | undefined): SpaceKind => SPACE_CODES[Number(code)] ?? "user";

export function spaceRef(code: Value | undefined, name: Value | undefined): SpaceRef {
  return { [spaceKind(code)]: String(name) } as unknown as SpaceRef;
}

/** The columns of an item, with the names of the entries it refers to. `@` precedes a column alias. */
const ITEM_COLUMNS = `item.key, item.id, item.kind, item.agent, item.seq, item.round, item.role, item.name, item.content,
  item.parts, item.metadata, item.tier, item.occurred_at, item.recorded_at, item.updated_at, item.expires_at, item.version,
  space.retention_ms, space.kind @space_kind, space.name @space_name, session.name @session_name, session.id @session_id,
  agent.name @agent_name`;

const ITEM_FROM = `FROM item
  JOIN space ON space.key = item.space
  LEFT JOIN session ON session.key = item.session
  LEFT JOIN space AS agent ON agent.key = item.agent`;

export const ITEM_SELECT = `SELECT ${ITEM_COLUMNS.replaceAll("@", "AS ")} ${ITEM_FROM}`;

/**
 * The same with each row as one JSON text for `unpackItem`: transferring single columns takes longer than reading them.
 */
export const PACKED_ITEM_SELECT = `SELECT json_array(${ITEM_COLUMNS.replaceAll(/ @\w+/g, "")}) AS packed ${ITEM_FROM}`;

export function unpackItem({ packed }: Row): Row {
  const values = JSON.parse(String(packed)) as Value[];
  return {
    key: values[0] as Value,
    id: values[1] as Value,
    kind: values[2] as Value,
    agent: values[3] as Value,
    seq: values[4] as Value,
    round: values[5] as Value,
    role: values[6] as Value,
    name: values[7] as Value,
    content: values[8] as Value,
    parts: values[9] as Value,
    metadata: values[10] as Value,
    tier: values[11] as Value,
    occurred_at: values[12] as Value,
    recorded_at: values[13] as Value,
    updated_at: values[14] as Value,
    expires_at: values[15] as Value,
    version: values[16] as Value,
    retention_ms: values[17] as Value,
    space_kind: values[18] as Value,
    space_name: values[19] as Value,
    session_name: values[20] as Value,
    session_id: values[21] as Value,
    agent_name: values[22] as Value,
  };
}

const EMPTY: Metadata = Object.freeze({});

/** Assigns field by field: an object literal with spreads is six times slower, and every query reads ten items. */
export function readItem(row: Row): Item {
  return itemOf(row);
}

/** The item without its key. */
function itemOf(row: Row): Mutable<Item> {
  const item = {
    id: String(row["id"]),
    kind: kindOf(Number(row["kind"])),
    space: spaceRef(row["space_kind"], row["space_name"]),
  } as Mutable<Item>;
  if (row["session_name"] !== null) {
    item.session = String(row["session_name"]);
    item.sessionId = String(row["session_id"]);
    item.sequence = Number(row["seq"]);
    item.round = Number(row["round"]);
  }
  if (row["agent_name"] !== null) item.agent = String(row["agent_name"]);
  if (row["role"] !== null) item.role = roleOf(Number(row["role"]));
  if (row["name"] !== null) item.name = String(row["name"]);
  item.content = String(row["content"]);
  if (row["parts"] !== null) item.parts = JSON.parse(String(row["parts"])) as Part[];
  item.metadata = row["metadata"] === null ? EMPTY : (JSON.parse(String(row["metadata"])) as Metadata);
  item.tier = TIER_CODES[Number(row["tier"])] ?? "episodic";
  item.occurredAt = Number(row["occurred_at"]);
  item.recordedAt = Number(row["recorded_at"]);
  item.updatedAt = Number(row["updated_at"]);
  if (row["expires_at"] !== null) item.expiresAt = Number(row["expires_at"]);
  item.version = Number(row["version"]);
  return item;
}

export function readKeyed(row: Row): KeyedItem {
  const item: Mutable<KeyedItem> = Object.assign(itemOf(row), { key: Number(row["key"]) });
  const retained = row["retention_ms"] === null ? Infinity : item.recordedAt + Number(row["retention_ms"]);
  const until = Math.min(item.expiresAt ?? Infinity, retained);
  if (until !== Infinity) item.until = until;
  return item;
}

/** A space as reads need it. */
export interface SpaceRow extends SpaceVersion {
  readonly key: number;
  readonly ref: SpaceRef;
  readonly retentionMs: number | null;
  readonly items: number;
  readonly terms: number;
}

export function readSpace(row: Row, ref: SpaceRef): SpaceRow {
  return {
    key: Number(row["key"]),
    ref,
    retentionMs: row["retention_ms"] === null ? null : Number(row["retention_ms"]),
    items: Number(row["items"]),
    terms: Number(row["terms"]),
    id: String(row["id"]),
    version: Number(row["version"]),
  };
}

export function readEntry(row: Row): Entry {
  return {
    id: String(row["id"]),
    kind: spaceKind(row["kind"]),
    name: String(row["name"]),
    ...(row["description"] !== null && { description: String(row["description"]) }),
    createdAt: Number(row["created_at"]),
    updatedAt: Number(row["updated_at"]),
    ...(row["retention_ms"] !== null && { retentionMs: Number(row["retention_ms"]) }),
  };
}

export function readSession(row: Row): SessionEntry {
  return {
    id: String(row["id"]),
    name: String(row["name"]),
    space: spaceRef(row["space_kind"], row["space_name"]),
    ...(row["agent_name"] !== null && { agent: String(row["agent_name"]) }),
    createdAt: Number(row["created_at"]),
    updatedAt: Number(row["updated_at"]),
  };
}

export const jsonOrNull = (value: Metadata | readonly Part[] | null | undefined): string | null =>
  value === undefined || value === null || Object.keys(value).length === 0 ? null : JSON.stringify(value);

/** The stored form of analysed words: "term" or "term*count", separated by spaces. Terms contain neither character. */
export function packWords(words: ReadonlyMap<string, number>): string {
  let packed = "";
  for (const [term, count] of words) packed += `${packed && " "}${count > 1 ? `${term}*${count}` : term}`;
  return packed;
}

export function unpackWords(packed: string): Map<string, number> {
  const words = new Map<string, number>();
  if (packed === "") return words;
  for (const word of packed.split(" ")) {
    const star = word.indexOf("*");
    if (star < 0) words.set(word, 1);
    else words.set(word.slice(0, star), Number(word.slice(star + 1)));
  }
  return words;
}

/** The numbers of a vector of float32. A driver may return bytes that are not aligned. */
export function floatsOf(value: Row[string] | undefined): Float32Array {
  const bytes = value as Uint8Array;
  if (bytes.byteOffset % Float32Array.BYTES_PER_ELEMENT > 0) return floatsOf(new Uint8Array(bytes));
  return new Float32Array(bytes.buffer, bytes.byteOffset, bytes.byteLength / Float32Array.BYTES_PER_ELEMENT);
}
