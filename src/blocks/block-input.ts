/** Parses callers' input about blocks. */

import { parseText } from "../input/content.js";
import { parseIdentity } from "../input/identity.js";
import { parseInteger } from "../input/integer.js";
import { type Fields, invalid, objectWith, parseChoice, tooLarge, wrongType } from "../input/refusal.js";
import { BLOCK_POLICIES, type BlockPolicy, type BlockState } from "../stores/blocks.js";
import { CHARS4 } from "../tokens/chars4.js";
import { type BlockChange, CHANGE_KEYS, parseBlockText, parseChange } from "./edit.js";

/** A note kept with every edit. */
export interface EditNote {
  /** The reason; kept in the history. */
  readonly reason?: string;
  /** Who made the edit; the scope's agent or user by default. */
  readonly actor?: string;
}

/** A block to create. */
export interface NewBlock extends EditNote {
  /** The block's name, unique in its space. */
  readonly name: string;
  /** Its text; "" by default. */
  readonly content?: string;
  /** The purpose of the block, for those who edit it. */
  readonly description?: string;
  /** 4096 by default. */
  readonly maxTokens?: number;
  /** `chars4` (four characters per token, the default), or the name of a model whose tokens are counted. */
  readonly counter?: string;
  /** What to do with an edit that exceeds `maxTokens`; `manual` by default. */
  readonly policy?: BlockPolicy;
  /** If true, edits, renames and deletes are refused until `configure` changes it. */
  readonly readOnly?: boolean;
}

/** How an edit handles other edits made meanwhile. Without `expectVersion`, it is reapplied to the latest version. */
export interface EditOptions extends EditNote {
  /**
   * The version that the edit was made from. If the block has another version by now, the edit is refused (`conflict`).
   */
  readonly expectVersion?: number;
  /** With `expectVersion`: merge edits that do not overlap with later ones, instead of refusing. */
  readonly merge?: boolean;
}

/** An edit of a block: exactly one change, with an optional reason, actor and expected version. */
export type BlockEditInput = BlockChange & EditOptions;

/** The settings of a block that `configure` changes. Omitted keys stay unchanged. */
export interface BlockSettings extends EditNote {
  /** null removes it. */
  readonly description?: string | null;
  /** The budget in tokens. */
  readonly maxTokens?: number;
  /** The token counter: `chars4`, or the name of a model. */
  readonly counter?: string;
  /** What to do with an edit over the budget. */
  readonly policy?: BlockPolicy;
  /** If true, edits, renames and deletes are refused. */
  readonly readOnly?: boolean;
}

/** How much of a block's history to read. */
export interface HistoryOptions {
  /** The number of edits, newest first; 0 for all. 20 by default. */
  readonly limit?: number;
  /** If true, the creation of the block (version 1) is listed as well. Default false. */
  readonly creation?: boolean;
}

/** An edit, its note and its condition. */
export interface ParsedEdit {
  readonly change: BlockChange;
  readonly options: EditOptions;
}

const MAX_TOKENS = 4_096;
const MAX_TOKENS_MAX = 10_000_000;
const HISTORY = 20;
const HISTORY_KEYS: ReadonlySet<string> = new Set<keyof HistoryOptions>(["limit", "creation"]);
const NOTE_UNITS_MAX = 4_096;
const SETTING_KEYS = ["description", "maxTokens", "counter", "policy", "readOnly"] as const;
const NOTE_KEYS = ["reason", "actor"] as const;
const EDIT_KEYS = [...NOTE_KEYS, "expectVersion", "merge"] as const;
const NEW_KEYS: ReadonlySet<string> = new Set(["name", "content", ...SETTING_KEYS, ...NOTE_KEYS]);
const CONFIGURE_KEYS: ReadonlySet<string> = new Set([...SETTING_KEYS, ...NOTE_KEYS]);
const EDIT_AND_CHANGE_KEYS: ReadonlySet<string> = new Set([...CHANGE_KEYS, ...EDIT_KEYS]);
const OPTION_KEYS: ReadonlySet<string> = new Set(EDIT_KEYS);

export function parseNewBlock(value: unknown): { readonly state: BlockState; readonly note: EditNote } {
  const fields = objectWith(value, NEW_KEYS, "block");
  const { content } = fields;
  if (content !== undefined && typeof content !== "string") throw wrongType("block.content", "a string", content);
  if (fields["description"] === null) throw wrongType("block.description", "a string", null, "leave it out for none");
  const state: BlockState = {
    name: parseBlockName(fields["name"]),
    content: content === undefined ? "" : parseBlockText(content, "block.content"),
    maxTokens: MAX_TOKENS,
    counter: CHARS4,
    policy: "manual",
    readOnly: false,
  };
  return { state: withSettings(state, fields, "block"), note: parseNote(fields, "block") };
}

export function parseBlockName(value: unknown): string {
  return parseIdentity(value, "block.name");
}

/** The change and the options are keys of one object. */
export function parseEdit(value: unknown): ParsedEdit {
  const fields = objectWith(value, EDIT_AND_CHANGE_KEYS, "edit");
  const of = (keys: ReadonlySet<string>): Fields =>
    Object.fromEntries(Object.entries(fields).filter(([key]) => keys.has(key)));
  return { change: parseChange(of(CHANGE_KEYS), "edit"), options: parseEditOptions(of(OPTION_KEYS), "edit") };
}

export function parseEditOptions(value: unknown, where = "options"): EditOptions {
  const fields = objectWith(value ?? {}, OPTION_KEYS, where);
  const { expectVersion, merge } = fields;
  if (merge !== undefined && typeof merge !== "boolean") throw wrongType(`${where}.merge`, "true or false", merge);
  if (merge && expectVersion === undefined) {
    throw invalid(`${where}.merge`, "needs expectVersion", "say which version the edit was made from");
  }
  return {
    ...parseNote(fields, where),
    ...(expectVersion !== undefined && { expectVersion: parseVersion(expectVersion, `${where}.expectVersion`) }),
    ...(merge !== undefined && { merge }),
  };
}

export function parseSettings(value: unknown): { readonly apply: (state: BlockState) => BlockState } & EditNote {
  const fields = objectWith(value, CONFIGURE_KEYS, "settings");
  if (SETTING_KEYS.every((key) => fields[key] === undefined)) {
    throw invalid("settings", "change nothing", `give at least one of ${SETTING_KEYS.join(", ")}`);
  }
  withSettings(
    { name: "", content: "", maxTokens: 1, counter: CHARS4, policy: "manual", readOnly: false },
    fields,
    "settings",
  );
  return { apply: (state) => withSettings(state, fields, "settings"), ...parseNote(fields, "settings") };
}

export function parseHistory(options: unknown): Required<HistoryOptions> {
  const { limit, creation = false } = objectWith(options ?? {}, HISTORY_KEYS, "options");
  if (typeof creation !== "boolean") throw wrongType("options.creation", "true or false", creation);
  return {
    limit: limit === undefined ? HISTORY : parseInteger(limit, "options.limit", 0, Number.MAX_SAFE_INTEGER),
    creation,
  };
}

export const parseVersion = (value: unknown, where: string): number =>
  parseInteger(value, where, 1, Number.MAX_SAFE_INTEGER);

function withSettings(state: BlockState, fields: Fields, where: string): BlockState {
  const { description, maxTokens, counter, policy, readOnly } = fields;
  if (readOnly !== undefined && typeof readOnly !== "boolean") {
    throw wrongType(`${where}.readOnly`, "true or false", readOnly);
  }
  if (counter !== undefined && typeof counter !== "string") throw wrongType(`${where}.counter`, "a string", counter);
  const { description: known, ...rest } = state;
  const next = description === undefined ? known : parseDescription(description, `${where}.description`);
  return {
    ...rest,
    ...(next !== undefined && { description: next }),
    ...(maxTokens !== undefined && {
      maxTokens: parseInteger(maxTokens, `${where}.maxTokens`, 1, MAX_TOKENS_MAX),
    }),
    ...(counter !== undefined && { counter }),
    ...(policy !== undefined && { policy: parseChoice(policy, BLOCK_POLICIES, `${where}.policy`) }),
    ...(readOnly !== undefined && { readOnly }),
  };
}

const parseDescription = (value: unknown, where: string): string | undefined =>
  value === null ? undefined : parseShortText(value, where);

function parseNote({ reason, actor }: Fields, where: string): EditNote {
  return {
    ...(reason !== undefined && { reason: parseShortText(reason, `${where}.reason`) }),
    ...(actor !== undefined && { actor: parseShortText(actor, `${where}.actor`) }),
  };
}

function parseShortText(value: unknown, where: string): string {
  if (typeof value !== "string") throw wrongType(where, "a string", value);
  if (value.length > NOTE_UNITS_MAX) throw tooLarge(where, `${NOTE_UNITS_MAX} characters`, "say it in fewer words");
  return parseText(value, where);
}
