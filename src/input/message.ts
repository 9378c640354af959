/** Parses messages and items into rows. This is on the hot path of `add`: plain checks, few allocations. */
import { newId } from "../ids.js";
import type { NewRow } from "../stores/store.js";
import { repairText } from "../text.js";
import { KINDS, type Kind, ROLES, TIERS } from "../types.js";
import { parseContent, parseText } from "./content.js";
import { parseIdentity } from "./identity.js";
import { parseInstant } from "./instant.js";
import { NAME_UNITS_MAX } from "./limits.js";
import { NO_METADATA, parseMetadata } from "./metadata.js";
import { type Fields, invalid, objectWith, parseChoice, tooLarge, wrongType } from "./refusal.js";

/**
 * Which fields of a row the caller supplied; the others are generated. A retry of the same call generates other ids and
 * times.
 */
export interface GivenFields {
  readonly id: boolean;
  readonly occurredAt: boolean;
}

/** The rows of one call, in order, and for each row which fields the caller supplied. */
export interface ParsedRound {
  readonly rows: readonly NewRow[];
  readonly given: readonly GivenFields[];
}

type RowDraft = { -readonly [key in keyof NewRow]: NewRow[key] };

const MESSAGE_KEYS: ReadonlySet<string> = new Set("id role name content occurredAt metadata tier expiresAt".split(" "));
const ITEM_KEYS: ReadonlySet<string> = new Set(["kind", ...MESSAGE_KEYS]);
const ITEM_KINDS = KINDS.filter((kind) => kind !== "message");

/** Parses the messages of one add call. `now` is the time of the call. */
export function parseMessages(messages: unknown, now: number): ParsedRound {
  return parseRound(messages, "messages", now);
}

/** Parses the items of one call, of any kind except message. */
export function parseItems(items: unknown, now: number): ParsedRound {
  return parseRound(items, "items", now);
}

function parseRound(list: unknown, noun: "messages" | "items", now: number): ParsedRound {
  if (!Array.isArray(list)) throw wrongType(noun, "a list", list, "put a single one into a list: [ … ]");
  const keys = noun === "messages" ? MESSAGE_KEYS : ITEM_KEYS;
  const rows: NewRow[] = [];
  const given: GivenFields[] = [];
  for (let index = 0; index < list.length; index++) {
    const where = `${noun}[${index}]`;
    const fields = objectWith(list[index], keys, where);
    rows.push(parseRow(fields, kindOf(fields, noun, where), where, now));
    given.push({ id: fields["id"] !== undefined, occurredAt: fields["occurredAt"] !== undefined });
  }
  refuseRepeatedIds(rows, given, noun);
  return { rows, given };
}

function kindOf(fields: Fields, noun: "messages" | "items", where: string): Kind {
  return noun === "messages" ? "message" : parseChoice(fields["kind"], ITEM_KINDS, `${where}.kind`);
}

function parseRow(fields: Fields, kind: Kind, where: string, now: number): NewRow {
  const { id, role, name, content, occurredAt, metadata, tier, expiresAt } = fields;
  const row: RowDraft = {
    id: id === undefined ? newId(now) : parseIdentity(id, `${where}.id`),
    kind,
    content: "",
    metadata: metadata === undefined ? NO_METADATA : parseMetadata(metadata, `${where}.metadata`),
    tier: tier === undefined ? "episodic" : parseChoice(tier, TIERS, `${where}.tier`),
    occurredAt: occurredAt === undefined ? now : parseInstant(occurredAt, `${where}.occurredAt`),
  };
  if (role !== undefined || kind === "message") row.role = parseChoice(role, ROLES, `${where}.role`);
  if (typeof content === "string") row.content = parseText(content, `${where}.content`);
  else Object.assign(row, parseContent(content, `${where}.content`));
  if (name !== undefined) row.name = parseSpeaker(name, `${where}.name`);
  if (expiresAt !== undefined) row.expiresAt = parseInstant(expiresAt, `${where}.expiresAt`);
  return row;
}

/** Parses the name of a speaker. It is content, not an identity: it is repaired and may be any text. */
export function parseSpeaker(value: unknown, where: string): string {
  if (typeof value !== "string") throw wrongType(where, "a string", value);
  if (value.length > NAME_UNITS_MAX) throw tooLarge(where, `${NAME_UNITS_MAX} characters`, "use a shorter name");
  return repairText(value);
}

function refuseRepeatedIds(rows: readonly NewRow[], given: readonly GivenFields[], noun: string): void {
  if (rows.length === 1) return;
  const seen = new Map<string, number>();
  for (const [index, { id }] of rows.entries()) {
    if (!given[index]?.id) continue;
    const first = seen.get(id);
    if (first !== undefined) {
      throw invalid(`${noun}[${index}].id`, `is the id of ${noun}[${first}] too`, "ids are unique within a space");
    }
    seen.set(id, index);
  }
}
