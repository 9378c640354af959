/** The limits of a conversation memory and their defaults. */
import { parseInteger } from "../input/integer.js";
import { objectWith, wrongType } from "../input/refusal.js";
import { countChars4 } from "../tokens/chars4.js";

/** The limits of a conversation window. */
export interface MemoryConfig {
  /** The number of turns kept; the oldest are evicted first. 0 keeps none. */
  readonly maxTurns: number;
  /** The maximal length of the context in characters (graphemes), header and line breaks included. */
  readonly budgetChars: number;
  /** The maximal number of tokens of the context, as counted by `countTokens`; no limit by default. */
  readonly budgetTokens?: number;
  /** Counts the tokens of a text; one token per four characters by default. It is not serialised. */
  readonly countTokens: (text: string) => number;
}

const MAX_TURNS = 5;
const BUDGET_CHARS = 4000;
/** The reference implementation uses 64-bit numbers. Beyond the safe integers, the exact value makes no difference. */
const LIMIT_MAX = 2 ** 64;

const KEYS: ReadonlySet<string> = new Set(["maxTurns", "budgetChars", "budgetTokens", "countTokens"]);

/** The config, validated, complete and frozen. A key with the value undefined counts as absent. */
export function completeConfig(config: Partial<MemoryConfig>): MemoryConfig {
  const { maxTurns, budgetChars, budgetTokens, countTokens } = objectWith(config, KEYS, "config");
  if (countTokens !== undefined && typeof countTokens !== "function") {
    throw wrongType("config.countTokens", "a function", countTokens);
  }
  return Object.freeze({
    maxTurns: maxTurns === undefined ? MAX_TURNS : parseLimit(maxTurns, "config.maxTurns"),
    budgetChars: budgetChars === undefined ? BUDGET_CHARS : parseLimit(budgetChars, "config.budgetChars"),
    ...(budgetTokens !== undefined && { budgetTokens: parseLimit(budgetTokens, "config.budgetTokens") }),
    countTokens: (countTokens as MemoryConfig["countTokens"] | undefined) ?? countChars4,
  });
}

/** A whole number, zero or more. */
export function parseLimit(value: unknown, where: string): number {
  return Math.min(parseInteger(value, where, 0, LIMIT_MAX), Number.MAX_SAFE_INTEGER);
}
