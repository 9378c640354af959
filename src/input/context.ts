/** What a call for context says → what is to be put together, in how many tokens, from which spaces. */

import { CHARS4 } from "../tokens/chars4.js";
import { ESTIMATE } from "../tokens/estimate.js";
import { isKnownTokenModel } from "../tokens/models.js";
import type { Instant, SpaceRef } from "../types.js";
import { fitsBytes } from "./content.js";
import { parseInstant } from "./instant.js";
import { parseInteger } from "./integer.js";
import { QUERY_BYTES_MAX, RESULTS_MAX } from "./limits.js";
import { normaliseQuestion } from "./normalise.js";
import { invalid, objectWith, quote, tooLarge, wrongType } from "./refusal.js";
import { type ParsedScope, parseSpaces } from "./scope.js";

/** What a context is made of. */
export const CONTEXT_PARTS = ["blocks", "facts", "turns", "recall"] as const;
export type ContextPart = (typeof CONTEXT_PARTS)[number];

/**
 * How the budget is divided, as weights: only their ratios count. What a part does not need goes to the others. A part of
 * weight 0 is left out. `facts` stands for the pinned ones in the prefix and for the relevant ones in the tail.
 */
export type ContextShares = { readonly [part in ContextPart]?: number };

export interface ContextOptions {
  /** What the context is for: facts and recalled text are chosen by it. Left out, there are none but the pinned facts. */
  readonly query?: string;
  /**
   * How many tokens the whole text has at most. 2000 if left out. What stands in the window already takes its place in it:
   * a call gives what an empty window would be given, less that.
   */
  readonly budgetTokens?: number;
  /** What counts the tokens: `chars4`, `estimate` (neither needs a vocabulary), or the name of a model. */
  readonly counter?: string;
  /** Left out: blocks 0.3, facts 0.1, turns 0.2, recall 0.4; each on its own. */
  readonly shares?: ContextShares;
  /** How many of the session's newest messages, 0 to 1000; 5 if left out. */
  readonly turns?: number;
  /** How many recalled items, and how many facts, at most: 1 to 1000. Left out: as many as the budget may hold. */
  readonly topK?: number;
  /** The spaces that may be read instead of the caller's own. Their order is that of the blocks. */
  readonly spaces?: readonly SpaceRef[];
  /** Relevant facts are those that held then. The prefix shows what is pinned and holds now, whatever is asked. */
  readonly asOf?: Instant;
  /** When the question is asked, if not now. See `QueryOptions`. */
  readonly askedAt?: Instant;
  /** True: the model's window is empty each time. The ledger is neither read nor written. */
  readonly fresh?: boolean;
  /** True: shows what would be given. Nothing is written. */
  readonly dryRun?: boolean;
  /** What cannot be read by then is left out, and the context is marked `partial`. 2000 if left out. */
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
/** Few items take fewer tokens than this, with the line that says where they come from. */
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

/** So many that the budget is used, and none is searched for that it cannot hold. */
const topKOf = (budgetTokens: number): number =>
  Math.min(Math.max(Math.ceil(budgetTokens / ITEM_TOKENS), TOP_K_MIN), RESULTS_MAX);

/** Nothing but white space asks for nothing. */
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
