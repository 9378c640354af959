/** Parses smaller arguments of calls: write options, and lists of ids and rounds. */
import { parseIdentity } from "./identity.js";
import { parseInteger } from "./integer.js";
import { IDS_MAX } from "./limits.js";
import { type ParsedRound, parseMessages } from "./message.js";
import { objectWith, tooLarge, wrongType } from "./refusal.js";

/** The options of every write that is not idempotent by itself. */
export interface WriteOptions {
  /**
   * A retry with the same key and the same arguments writes nothing and returns the first answer. The key is kept for 7
   * days in which the memory is used. With other arguments the call fails with `conflict`.
   */
  readonly idempotencyKey?: string;
}

/** The options of an edit of an item. */
export interface UpdateOptions extends WriteOptions {
  /** If the item's current version differs, the edit fails with `conflict`. */
  readonly expectVersion?: number;
}

const WRITE_KEYS: ReadonlySet<string> = new Set(["idempotencyKey"]);
const UPDATE_KEYS: ReadonlySet<string> = new Set(["expectVersion"]);

/** The idempotency key of a write without other options. */
export function parseWriteOptions(options: unknown): string | undefined {
  const { idempotencyKey } = objectWith(options ?? {}, WRITE_KEYS, "options");
  return parseKey(idempotencyKey);
}

/** Splits the idempotency key of a write from its other options, which are not parsed yet. */
export function splitKey<T extends WriteOptions>(
  options: T | undefined,
): { readonly key: string | undefined; readonly rest: Omit<T, "idempotencyKey"> } {
  if (typeof options !== "object" || options === null) return { key: undefined, rest: options ?? ({} as T) };
  const { idempotencyKey, ...rest } = options;
  return { key: parseKey(idempotencyKey), rest };
}

function parseKey(value: unknown): string | undefined {
  return value === undefined ? undefined : parseIdentity(value, "options.idempotencyKey");
}

export function parseUpdateOptions(options: unknown): Omit<UpdateOptions, keyof WriteOptions> {
  const { expectVersion } = objectWith(options ?? {}, UPDATE_KEYS, "options");
  if (expectVersion === undefined) return {};
  return { expectVersion: parseInteger(expectVersion, "options.expectVersion", 1, Number.MAX_SAFE_INTEGER) };
}

export function parseRounds(rounds: unknown, now: number): readonly ParsedRound[] {
  if (!Array.isArray(rounds)) throw wrongType("rounds", "a list of lists of messages", rounds);
  return Array.from(rounds, (messages: unknown) => parseMessages(messages, now));
}

/** The ids in the given order, without duplicates. */
export function parseIds(ids: unknown): readonly string[] {
  if (!Array.isArray(ids)) throw wrongType("ids", "a list of ids", ids, "put a single one into a list: [ id ]");
  if (ids.length > IDS_MAX) throw tooLarge("ids", `${IDS_MAX} ids`, "ask in several calls");
  return [...new Set(Array.from(ids, (id: unknown, at) => parseIdentity(id, `ids[${at}]`)))];
}
