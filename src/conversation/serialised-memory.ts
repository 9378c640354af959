/**
 * A conversation memory as JSON, in the format of the reference implementation. Unknown keys are ignored. Its times
 * have nanoseconds, ours milliseconds: the rest is truncated.
 */
import { parseInstant } from "../input/instant.js";
import { type Fields, wrongType } from "../input/refusal.js";
import { type MemoryConfig, parseLimit } from "./memory-config.js";
import { makeTurn, type Speaker, type TurnRecord } from "./turn-record.js";

/** A conversation memory as JSON. */
export interface SerialisedMemory {
  /** Oldest first. */
  readonly turns: readonly SerialisedTurn[];
  /** The limits. */
  readonly config: {
    readonly max_turns: number;
    readonly budget_chars: number;
    /** Our own; the reference implementation ignores it. */
    readonly budget_tokens?: number;
  };
}

export interface SerialisedTurn {
  readonly role: Speaker;
  readonly content: string;
  /** RFC 3339. */
  readonly timestamp: string;
}

export function serialise(turns: readonly TurnRecord[], config: MemoryConfig): SerialisedMemory {
  const { maxTurns, budgetChars, budgetTokens } = config;
  return {
    turns: turns.map(({ role, content, timestamp }) => ({
      role,
      content,
      timestamp: new Date(timestamp).toISOString(),
    })),
    config: {
      max_turns: maxTurns,
      budget_chars: budgetChars,
      ...(budgetTokens !== undefined && { budget_tokens: budgetTokens }),
    },
  };
}

export interface ParsedMemory {
  readonly turns: readonly TurnRecord[];
  readonly config: Partial<MemoryConfig>;
}

/** Refuses other formats. The error names the field but never quotes its value. */
export function parseSerialised(value: unknown): ParsedMemory {
  const { turns, config } = fieldsOf(value, "memory");
  if (!Array.isArray(turns)) throw wrongType("turns", "a list", turns);
  const { max_turns, budget_chars, budget_tokens } = fieldsOf(config, "config");
  return {
    turns: Array.from(turns, (turn: unknown, index) => parseTurn(turn, `turns[${index}]`)),
    config: {
      maxTurns: parseLimit(max_turns, "config.max_turns"),
      budgetChars: parseLimit(budget_chars, "config.budget_chars"),
      ...(budget_tokens !== undefined &&
        budget_tokens !== null && { budgetTokens: parseLimit(budget_tokens, "config.budget_tokens") }),
    },
  };
}

function parseTurn(value: unknown, where: string): TurnRecord {
  const { role, content, timestamp } = fieldsOf(value, where);
  if (typeof timestamp !== "string") throw wrongType(`${where}.timestamp`, "a string", timestamp);
  return makeTurn(role, content, parseInstant(timestamp, `${where}.timestamp`), `${where}.`);
}

function fieldsOf(value: unknown, where: string): Fields {
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw wrongType(where, "an object", value);
  return value as Fields;
}
