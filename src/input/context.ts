/** Parses the options of a context call: which parts to assemble, within how many tokens, from which spaces. */

import { fitsBytes } from "../text.js";
import { CHARS4 } from "../tokens/chars4.js";
import { ESTIMATE } from "../tokens/estimate.js";
import { isKnownTokenModel } from "../tokens/models.js";
import type { Instant, SpaceRef } from "../types.js";
import type { WriteOptions } from "./call.js";
import { parseInstant } from "./instant.js";
import { parseInteger } from "./integer.js";
import { QUERY_BYTES_MAX, RESULTS_MAX } from "./limits.js";
import { normaliseQuestion } from "./query.js";
import { invalid, objectWith, quote, tooLarge, wrongType } from "./refusal.js";
import { type ParsedScope, parseSpaces } from "./scope.js";

/** The parts of a context. */
export const CONTEXT_PARTS = ["blocks", "facts", "turns", "recall"] as const;
/** The parts of a context. */
export type ContextPart = (typeof CONTEXT_PARTS)[number];

/**
 * How the budget is divided, as weights: only their ratios count. Tokens that a part does not need go to the others. A
 * part with weight 0 is omitted. `facts` covers the pinned facts in the prefix and the relevant ones in the tail.
 */
export type ContextShares = { readonly [part in ContextPart]?: number };

/** The options of `session.context`. */
export interface ContextOptions extends WriteOptions {
  /** Selects facts and recalled text. Without it, nothing is recalled and only the pinned facts are included. */
  readonly query?: string;
  /**
   * Upper bound on the tokens of the whole text. Default 2000. Text already in the window counts against it: a call
   * returns what it would return for an empty window, minus that text.
   */
  readonly budgetTokens?: number;
  /** The token counter: `chars4`, `estimate` (neither needs a vocabulary), or the name of a model. */
  readonly counter?: string;
  /** Default: blocks 0.3, facts 0.1, turns 0.2, recall 0.4. Each default applies separately. */
  readonly shares?: ContextShares;
  /** How many of the session's newest messages to include, 0 to 1000. Default 5. */
  readonly turns?: number;
  /** Upper bound on recalled items, and on facts: 1 to 1000. Default: as many as the budget may hold. */
  readonly topK?: number;
  /** The spaces to read instead of the caller's own. They determine the order of the blocks. */
  readonly spaces?: readonly SpaceRef[];
  /** Relevant facts are those that held at this time. The prefix always shows the pinned facts that hold now. */
  readonly asOf?: Instant;
  /** When the question is asked, if not now. See `QueryOptions`. */
  readonly askedAt?: Instant;
  /** If true, the model's window is assumed to be empty. The ledger is neither read nor written. */
  readonly fresh?: boolean;
  /** If true, returns what the call would return, without writing anything. */
  readonly dryRun?: boolean;
  /** Time limit. Parts that cannot be read in time are omitted, and the context is marked `partial`. Default 2000. */
  readonly deadlineMs?: number;
}

export interface ParsedContext {
  readonly query?: string;
  readonly budgetTokens: number;
  readonly counter?: string;
  readonly shares: { readonly [part in ContextPart]: number };
  readonly turns: number;
  readonly topK: number;
  readonly spaces: readonly SpaceRef[];
  readonly asOf?: number;
  readonly askedAt?: number;
  readonly fresh: boolean;
  readonly dryRun: boolean;
  readonly deadlineMs: number;
}

const BUDGET_TOKENS = 2000;
const BUDGET_TOKENS_MAX = 10_000_000;
const SHARES: ParsedContext["shares"] = { blocks: 0.3, facts: 0.1, turns: 0.2, recall: 0.4 };
const SHARE_MAX = 1_000_000;
const TURNS = 5;
/** Few items take fewer tokens than this, including the line that names their source. */
const ITEM_TOKENS = 40;
const TOP_K_MIN = 10;
const DEADLINE_MS = 2_000;
const DEADLINE_MS_MAX = 3_600_000;
const PART_KEYS: ReadonlySet<string> = new Set(CONTEXT_PARTS);
const OPTION_KEYS: ReadonlySet<string> = new Set([
  "query",
  "budgetTokens",
  "counter",
  "shares",
  "turns",
  "topK",
  "spaces",
  "asOf",
  "askedAt",
  "fresh",
  "dryRun",
  "deadlineMs",
]);

export function parseContext(options: unknown, place: ParsedScope): ParsedContext {
  const fields = objectWith(options ?? {}, OPTION_KEYS, "options");
  const { counter, spaces, asOf, askedAt } = fields;
  const query = parseQueryText(fields["query"]);
  const integer = (key: string, otherwise: number, min: number, max: number): number =>
    fields[key] === undefined ? otherwise : parseInteger(fields[key], `options.${key}`, min, max);
  const budgetTokens = integer("budgetTokens", BUDGET_TOKENS, 1, BUDGET_TOKENS_MAX);
  return {
    ...(query !== undefined && { query }),
    budgetTokens,
    ...(counter !== undefined && { counter: parseCounter(counter) }),
    shares: parseShares(fields["shares"]),
    turns: integer("turns", TURNS, 0, RESULTS_MAX),
    topK: integer("topK", topKOf(budgetTokens), 1, RESULTS_MAX),
    spaces: spaces === undefined ? [place.space] : parseSpaces(spaces, "options.spaces"),
    ...(asOf !== undefined && { asOf: parseInstant(asOf, "options.asOf") }),
    ...(askedAt !== undefined && { askedAt: parseInstant(askedAt, "options.askedAt") }),
    fresh: parseFlag(fields["fresh"], "options.fresh"),
    dryRun: parseFlag(fields["dryRun"], "options.dryRun"),
    deadlineMs: integer("deadlineMs", DEADLINE_MS, 0, DEADLINE_MS_MAX),
  };
}

/** Enough items to use the budget, without searching for more than it can hold. */
const topKOf = (budgetTokens: number): number =>
  Math.min(Math.max(Math.ceil(budgetTokens / ITEM_TOKENS), TOP_K_MIN), RESULTS_MAX);

/** A query of white space only counts as absent. */
function parseQueryText(value: unknown): string | undefined {
  if (value === undefined) return undefined;
  if (typeof value !== "string") throw wrongType("options.query", "a string", value);
  if (!fitsBytes(value, QUERY_BYTES_MAX)) {
    throw tooLarge("options.query", `${QUERY_BYTES_MAX / 1024} KiB of text`, "ask with the sentences that matter");
  }
  return normaliseQuestion(value) === "" ? undefined : value;
}

function parseCounter(value: unknown): string {
  if (typeof value !== "string") throw wrongType("options.counter", `"${CHARS4}" or the name of a model`, value);
  if (value === CHARS4 || value === ESTIMATE || isKnownTokenModel(value)) return value;
  const hint = `use "${CHARS4}", which needs no model, or a model such as "gpt-4o-mini"`;
  throw invalid("options.counter", `must be a counter that is known, got ${quote(value)}`, hint);
}

function parseShares(value: unknown): ParsedContext["shares"] {
  if (value === undefined) return SHARES;
  const fields = objectWith(value, PART_KEYS, "options.shares");
  const shares = { ...SHARES };
  for (const part of CONTEXT_PARTS) {
    if (fields[part] !== undefined) shares[part] = parseWeight(fields[part], `options.shares.${part}`);
  }
  if (CONTEXT_PARTS.some((part) => shares[part] > 0)) return shares;
  throw invalid("options.shares", "leave nothing to put into the context", "give one of them a weight above 0");
}

function parseWeight(value: unknown, where: string): number {
  const expected = `a number from 0 to ${SHARE_MAX}`;
  if (typeof value !== "number") throw wrongType(where, expected, value);
  if (!(value >= 0 && value <= SHARE_MAX)) throw invalid(where, `must be ${expected}, got ${value}`);
  return value;
}

function parseFlag(value: unknown, where: string): boolean {
  if (value === undefined) return false;
  if (typeof value !== "boolean") throw wrongType(where, "true or false", value);
  return value;
}
