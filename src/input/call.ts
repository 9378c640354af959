/** The smaller things that calls are given: their options, and lists of ids and rounds. */
import { parseIdentity } from "./identity.js";
import { parseInteger } from "./integer.js";
import { IDS_MAX } from "./limits.js";
import { type ParsedRound, parseMessages } from "./message.js";
import { objectWith, tooLarge, wrongType } from "./refusal.js";

export interface AddOptions {
  /** A retry with the same key and payload gives the first answer and adds nothing, for 7 days. */
  readonly idempotencyKey?: string;
}

export interface UpdateOptions {
  /** The edit is refused with `conflict` if the item has another version by now. */
  readonly expectVersion?: number;
}

const ADD_KEYS: ReadonlySet<string> = new Set(["idempotencyKey"]);
const UPDATE_KEYS: ReadonlySet<string> = new Set(["expectVersion"]);

/** The idempotency key of an add, if it has one. */
export function parseAddOptions(options: unknown): string | undefined {
  const { idempotencyKey } = objectWith(options ?? {}, ADD_KEYS, "options");
  return idempotencyKey === undefined ? undefined : parseIdentity(idempotencyKey, "options.idempotencyKey");
}

export function parseUpdateOptions(options: unknown): UpdateOptions {
  const { expectVersion } = objectWith(options ?? {}, UPDATE_KEYS, "options");
  if (expectVersion === undefined) return {};
  return { expectVersion: parseInteger(expectVersion, "options.expectVersion", 1, Number.MAX_SAFE_INTEGER) };
}

export function parseRounds(rounds: unknown, now: number): readonly ParsedRound[] {
  if (!Array.isArray(rounds)) throw wrongType("rounds", "a list of lists of messages", rounds);
  return rounds.map((messages: unknown) => parseMessages(messages, now));
}

/** Ids in the order given, each once. */
export function parseIds(ids: unknown): readonly string[] {
  if (!Array.isArray(ids)) throw wrongType("ids", "a list of ids", ids, "put a single one into a list: [ id ]");
  if (ids.length > IDS_MAX) throw tooLarge("ids", `${IDS_MAX} ids`, "ask in several calls");
  return [...new Set(ids.map((id: unknown, at) => parseIdentity(id, `ids[${at}]`)))];
}
