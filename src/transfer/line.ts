/** Parses and validates a line of a file. Throws `invalid_input`. */

import { parseNewBlock, parseVersion } from "../blocks/block-input.js";
import { HoldfastError } from "../errors.js";
import { parseText } from "../input/content.js";
import { parseIdentity } from "../input/identity.js";
import { parseInstant } from "../input/instant.js";
import { parseInteger } from "../input/integer.js";
import { checkJsonBounds } from "../input/json-text.js";
import { parseItems, parseMessages } from "../input/message.js";
import { parsePoint } from "../input/points.js";
import { type Fields, invalid, objectWith, parseChoice, quote, wrongType } from "../input/refusal.js";
import { parseSpace } from "../input/scope.js";
import type { BlockState } from "../stores/blocks.js";
import type { PutPointWrite } from "../stores/points.js";
import type { Promotion } from "../stores/promotions.js";
import type { NewRow } from "../stores/store.js";
import { repairText } from "../text.js";
import type { SpaceKind, SpaceRef } from "../types.js";
import { type FactInput, parseFactLine } from "./fact-line.js";
import { type Counts, FORMAT, FORMAT_VERSION, NO_COUNTS } from "./format.js";
import { named } from "./named.js";

export interface EntryInput {
  readonly type: "entry";
  readonly kind: SpaceKind;
  readonly name: string;
  readonly description?: string;
  readonly retentionMs?: number;
}

export interface SessionInput {
  readonly type: "session";
  readonly space: SpaceRef;
  readonly name: string;
  readonly agent?: string;
}

export interface ItemInput {
  readonly type: "item";
  readonly space: SpaceRef;
  readonly session?: string;
  readonly agent?: string;
  /** Items that were added in one call have the same number in their session. */
  readonly round?: number;
  readonly row: NewRow;
}

export interface BlockInput {
  readonly type: "block";
  readonly space: SpaceRef;
  readonly id: string;
  readonly version: number;
  readonly presentName: string;
  readonly state: BlockState;
  readonly reason: string;
  readonly actor?: string;
}

export interface SupersededInput {
  readonly type: "superseded";
  readonly space: SpaceRef;
  readonly id: string;
  readonly from: number;
  readonly by: string;
}

export interface PointInput extends Omit<PutPointWrite, "op" | "existing"> {
  readonly type: "point";
}

export interface PromotionInput extends Omit<Promotion, "to"> {
  readonly type: "promotion";
  readonly space: SpaceRef;
}

export type BodyInput =
  | EntryInput
  | SessionInput
  | ItemInput
  | BlockInput
  | FactInput
  | SupersededInput
  | PointInput
  | PromotionInput;
export type LineInput = BodyInput | { readonly type: "end"; readonly counts: Counts } | { readonly type: "cursor" };

const SPACE_KINDS = ["user", "agent", "team"] as const;
const keys = (text: string): ReadonlySet<string> => new Set(["type", ...text.split(" ")]);
const HEADER = keys("version exportedAt spaces session");
const ENTRY = keys("kind name description retentionMs");
const SESSION = keys("space name agent");
const ITEM = keys(
  "space id kind session round agent role name content metadata tier occurredAt expiresAt recordedAt version",
);
const BLOCK = keys(
  "space id version name presentName content description maxTokens counter policy readOnly reason actor at",
);
const SUPERSEDED = keys("space id from by");
const POINT = keys("space collection id session vector payload storedAt");
const PROMOTION = keys("space id from actor reason at");
const CURSOR = keys("cursor");
const END = keys("counts");

/** The JSON object of a line; undefined if it is not one, as the last line of a truncated file may be. */
export function jsonOf(text: string): Fields | undefined {
  checkJsonBounds(text, "it");
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
    return value as Fields;
  } catch {
    return undefined; // the parser's message would quote the content
  }
}

export function notJson(line: number, text: string): HoldfastError {
  const hint = text.trimStart().startsWith("[")
    ? "a JSON array has to become lines, one object per line: jq -c '.[]' FILE"
    : "each line must be one JSON object; check that the file is complete and not compressed";
  return new HoldfastError("invalid_input", `line ${line}: not a JSON object`, { hint, details: { line } });
}

export const isHeader = (fields: Fields): boolean => fields["type"] === FORMAT;

export function checkHeader(fields: Fields): void {
  const { version } = objectWith(fields, HEADER, "the header");
  if (version === FORMAT_VERSION) return;
  throw invalid("the header", `has version ${quote(String(version))}`, `this program reads version ${FORMAT_VERSION}`);
}

export function parseLine(fields: Fields, now: number): LineInput {
  switch (fields["type"]) {
    case "entry":
      return parseEntry(objectWith(fields, ENTRY, "the line"));
    case "session":
      return parseSession(objectWith(fields, SESSION, "the line"));
    case "item":
      return parseItem(objectWith(fields, ITEM, "the line"), now);
    case "block":
      return parseBlock(objectWith(fields, BLOCK, "the line"));
    case "fact":
      return parseFactLine(fields);
    case "superseded":
      return parseSuperseded(objectWith(fields, SUPERSEDED, "the line"));
    case "point":
      return parsePointLine(objectWith(fields, POINT, "the line"));
    case "promotion":
      return parsePromotion(objectWith(fields, PROMOTION, "the line"));
    case "cursor":
      objectWith(fields, CURSOR, "the line");
      return { type: "cursor" };
    case "end":
      return { type: "end", counts: parseCounts(objectWith(fields, END, "the line")["counts"]) };
    default:
      throw invalid("type", "is unknown", "was the file written by a newer version?");
  }
}

function parseEntry({ kind, name, description, retentionMs }: Fields): EntryInput {
  if (description !== undefined && typeof description !== "string") {
    throw wrongType("description", "a string", description);
  }
  return {
    type: "entry",
    kind: parseChoice(kind, SPACE_KINDS, "kind"),
    name: parseIdentity(name, "name"),
    ...(description !== undefined && { description: repairText(description) }),
    ...(retentionMs !== undefined && {
      retentionMs: parseInteger(retentionMs, "retentionMs", 1, Number.MAX_SAFE_INTEGER),
    }),
  };
}

function parseSession({ space, name, agent }: Fields): SessionInput {
  return { type: "session", space: parseSpace(space), name: parseIdentity(name, "name"), ...named("agent", agent) };
}

function parseItem(fields: Fields, now: number): ItemInput {
  const { type: _, space, session, round, agent, recordedAt: _at, version: _version, ...rest } = fields;
  parseIdentity(rest["id"], "id");
  return {
    type: "item",
    space: parseSpace(space),
    ...named("session", session),
    ...named("agent", agent),
    ...(round !== undefined && { round: parseInteger(round, "round", 0, Number.MAX_SAFE_INTEGER) }),
    row: parseRow(rest, now),
  };
}

/** A message, or an item of another kind. */
export function parseRow({ kind, ...message }: Fields, now: number): NewRow {
  const isMessage = kind === undefined || kind === "message";
  const { rows } = isMessage ? parseMessages([message], now) : parseItems([{ kind, ...message }], now);
  return rows[0] as NewRow;
}

function parseBlock(fields: Fields): BlockInput {
  const { type: _, space, id, version, presentName, at: _at, ...rest } = fields;
  const { state, note } = parseNewBlock(rest);
  return {
    type: "block",
    space: parseSpace(space),
    id: parseIdentity(id, "id"),
    version: parseVersion(version, "version"),
    presentName: presentName === undefined ? state.name : parseIdentity(presentName, "presentName"),
    state,
    reason: note.reason ?? "",
    ...(note.actor !== undefined && { actor: note.actor }),
  };
}

function parseSuperseded({ space, id, from, by }: Fields): SupersededInput {
  return {
    type: "superseded",
    space: parseSpace(space),
    id: parseIdentity(id, "id"),
    from: parseInstant(from, "from"),
    by: parseIdentity(by, "by"),
  };
}

function parsePointLine({ space, session, collection, id, vector, payload }: Fields): PointInput {
  const place = { space: parseSpace(space), ...named("session", session) };
  const { op: _, existing: _existing, ...point } = parsePoint(place, { collection, pointId: id, vector, payload });
  return { type: "point", ...point };
}

function parsePromotion({ space, id, from, actor, reason, at }: Fields): PromotionInput {
  for (const [key, text] of Object.entries({ reason, actor: actor ?? "" })) {
    if (typeof text !== "string") throw wrongType(key, "a string", text);
  }
  return {
    type: "promotion",
    space: parseSpace(space),
    id: parseIdentity(id, "id"),
    ...(from !== undefined && { from: parseSpace(from, "from") }),
    ...(actor !== undefined && { actor: parseText(String(actor), "actor") }),
    reason: parseText(String(reason), "reason"),
    at: parseInstant(at, "at"),
  };
}

function parseCounts(value: unknown): Counts {
  const counts = objectWith(value, new Set(Object.keys(NO_COUNTS)), "counts");
  const { point = 0 } = counts; // earlier exports have none
  const parsed = Object.keys(NO_COUNTS).map((type) => [
    type,
    parseInteger({ ...counts, point }[type], `counts.${type}`, 0, Number.MAX_SAFE_INTEGER),
  ]);
  return Object.fromEntries(parsed) as Counts;
}
