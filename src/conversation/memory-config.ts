/** The limits of a conversation memory, as the seed names them, with its defaults. */
import { parseInteger } from "../input/integer.js";
import { objectWith, wrongType } from "../input/refusal.js";
import { countChars4 } from "../tokens/chars4.js";

export interface MemoryConfig {
  /** How many turns are kept; the oldest leave first. 0 keeps none. */
  readonly maxTurns: number;
  /** How many characters the context may have, header and line ends included. Graphemes: what a reader calls a character. */
  readonly budgetChars: number;
  /** How many tokens the context may have, as `countTokens` counts them; no limit if left out. */
  readonly budgetTokens?: number;
  /** Counts a text's tokens. Left out: a token for each four characters. It is not serialised. */
  readonly countTokens: (text: string) => number;
}

const MAX_TURNS = 5;
const BUDGET_CHARS = 4000;
/** The seed's numbers have 64 bits. Beyond what we can count, more makes no difference. */
const SEED_NUMBER_MAX = 2 ** 64;

const KEYS: ReadonlySet<string> = new Set(["maxTurns", "budgetChars", "budgetTokens", "countTokens"]);

/** The config, checked, complete and frozen. A key whose value is undefined counts as left out. */
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
  return Math.min(parseInteger(value, where, 0, SEED_NUMBER_MAX), Number.MAX_SAFE_INTEGER);
}
