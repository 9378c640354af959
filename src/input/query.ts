/** Parses a query into the question for the read path and the presentation of its answer. */
import { HoldfastError } from "../errors.js";
import type { Mutable } from "../mutable.js";
import { ORDERS, type ResolvedOptions, SORTS, type SortBy } from "../options.js";
import type { RowFilter } from "../stores/store.js";
import { fitsBytes, repairText } from "../text.js";
import type { Filter, Instant, Order, SpaceRef } from "../types.js";
import { parseIds } from "./call.js";
import { FILTER_KEYS, filterOf } from "./filter.js";
import { parseInstant } from "./instant.js";
import { parseInteger } from "./integer.js";
import { QUERY_BYTES_MAX, RESULTS_MAX } from "./limits.js";
import { ARMS, type By, type Presentation, type Question } from "./question.js";
import { type Fields, invalid, objectWith, parseChoice, tooLarge, wrongType } from "./refusal.js";
import { type ParsedScope, parseSpaces } from "./scope.js";

/** The options of a query. Defaults come from the options under `buffer.query`. */
export interface QueryOptions extends Filter {
  /** Upper bound on hits, 1 to 1000. Default 10. The answer never has more than `buffer.query.maxSize`. */
  readonly topK?: number;
  /** How many of the best hits to skip, for the next page. Together with `topK` at most 1000. */
  readonly offset?: number;
  /** score: best match first · timestamp: the hits of the page by the time they occurred. */
  readonly sortBy?: SortBy;
  /** The order of the hits; `desc` by default. */
  readonly order?: Order;
  /** user: all of the caller's space (the default; `space` means the same) · session, agent: only the caller's own. */
  readonly within?: "user" | "space" | "session" | "agent";
  /** The spaces to search instead of the caller's own. */
  readonly spaces?: readonly SpaceRef[];
  /**
   * The time of the question, if not now. "Last week" is relative to it, and items that occurred more than a day later
   * are excluded. (The tolerance is a day because times come without time zones.)
   */
  readonly askedAt?: Instant;
  /** The weight of recency, from 0 (none, the default) to 1 (as much as everything else). Its half-life is 30 days. */
  readonly recency?: number;
  /** Time limit. The answer then contains what is available, and is marked `partial` if something is missing. */
  readonly deadlineMs?: number;
  /** Search only items that are not indexed yet: the RoundBuffer's tail and the HybridBuffer. */
  readonly bufferOnly?: boolean;
  /**
   * Search by words or by meaning alone, which finds less than both (the default). `meaning` fails with `unsupported`
   * without an embedding model.
   */
  readonly by?: By;
  /**
   * If true, hits explain their scores, and the answer explains how it was produced. With ids, it also explains why
   * these items are not among the hits.
   */
  readonly explain?: boolean | readonly string[];
}

export interface ParsedQuery {
  readonly question: Question;
  readonly presentation: Presentation;
}

const TOP_K = 10;
const WITHIN = ["user", "space", "session", "agent"] as const;
const DAY_MS = 86_400_000;
/**
 * Depths are rounded up to a multiple of this, so that a request for a few more hits finds a cached ranking that is
 * deep enough.
 */
const DEPTH_STEP = 10;
const DEADLINE_MS_MAX = 3_600_000;
/** Of options that are remembered, as JSON. */
const REMEMBERED_CHARACTERS_MAX = 4_000;
const OPTION_KEYS: ReadonlySet<string> = new Set([
  "topK",
  "offset",
  "sortBy",
  "order",
  "within",
  "spaces",
  "askedAt",
  "recency",
  "deadlineMs",
  "bufferOnly",
  "by",
  "explain",
  ...FILTER_KEYS,
]);

export function parseQuery(
  text: unknown,
  options: unknown,
  place: ParsedScope,
  defaults: ResolvedOptions["buffer"]["query"],
): ParsedQuery {
  const fields = objectWith(options ?? {}, OPTION_KEYS, "options");
  const presentation = parsePresentation(fields, defaults);
  return { question: parseQuestion(text, fields, place, presentation), presentation };
}

/** A copy of options, which their owner may change later. Undefined if they are too long to be kept. Requires valid ones. */
export function remembered(options: QueryOptions): QueryOptions | undefined {
  const text = JSON.stringify(options);
  return text.length > REMEMBERED_CHARACTERS_MAX ? undefined : JSON.parse(text);
}

function parsePresentation(fields: Fields, defaults: ResolvedOptions["buffer"]["query"]): Presentation {
  const { topK, offset, sortBy, order, explain } = fields;
  const count = topK === undefined ? TOP_K : parseInteger(topK, "options.topK", 1, RESULTS_MAX);
  const presentation: Mutable<Presentation> = {
    topK: Math.min(count, defaults.maxSize),
    offset: offset === undefined ? 0 : parseInteger(offset, "options.offset", 0, RESULTS_MAX - count),
    sortBy: sortBy === undefined ? defaults.defaultSortBy : parseChoice(sortBy, SORTS, "options.sortBy"),
    order: order === undefined ? defaults.defaultOrder : parseChoice(order, ORDERS, "options.order"),
  };
  if (explain !== undefined && explain !== false) presentation.explain = parseExplain(explain);
  return presentation;
}

function parseQuestion(text: unknown, fields: Fields, place: ParsedScope, { topK, offset }: Presentation): Question {
  const { spaces, askedAt, recency, deadlineMs, bufferOnly, by } = fields;
  const asked = askedAt === undefined ? undefined : parseInstant(askedAt, "options.askedAt");
  const question: Mutable<Question> = {
    text: parseQueryText(text),
    spaces: spaces === undefined ? [place.space] : parseSpaces(spaces, "options.spaces"),
    filter: until(parseWithin(fields, place), asked),
    depth: Math.ceil((offset + topK) / DEPTH_STEP) * DEPTH_STEP,
    bufferOnly: bufferOnly === undefined ? false : parseFlag(bufferOnly, "options.bufferOnly"),
    recency: recency === undefined ? 0 : parseShare(recency, "options.recency"),
  };
  if (by !== undefined) question.by = parseChoice(by, ARMS, "options.by");
  if (asked !== undefined) question.askedAt = asked;
  if (deadlineMs !== undefined) {
    question.deadlineMs = parseInteger(deadlineMs, "options.deadlineMs", 0, DEADLINE_MS_MAX);
  }
  return question;
}

/** The filter, including the restriction by `within`. */
function parseWithin(fields: Fields, { session, agent }: ParsedScope): RowFilter {
  const filter = filterOf(fields, "options");
  const within = fields["within"] === undefined ? "space" : parseChoice(fields["within"], WITHIN, "options.within");
  if (within === "user" || within === "space") return filter;
  const own = within === "session" ? session : agent;
  if (own === undefined) {
    throw new HoldfastError("invalid_input", `within "${within}" needs a ${within} in the scope`, {
      hint: `name the ${within} in the scope`,
    });
  }
  return within === "session" ? { ...filter, sessions: [own] } : { ...filter, agents: [own] };
}

/** Excludes items that were not known yet when the question was asked. */
const until = (filter: RowFilter, asked: number | undefined): RowFilter =>
  asked === undefined ? filter : { ...filter, to: Math.min(filter.to ?? Infinity, asked + DAY_MS) };

function parseExplain(value: unknown): NonNullable<Presentation["explain"]> {
  if (value === true) return { ids: [] };
  if (!Array.isArray(value)) throw wrongType("options.explain", "true, false or a list of ids", value);
  return { ids: parseIds(value as readonly string[]) };
}

function parseFlag(value: unknown, where: string): boolean {
  if (typeof value !== "boolean") throw wrongType(where, "true or false", value);
  return value;
}

function parseShare(value: unknown, where: string): number {
  if (typeof value !== "number") throw wrongType(where, "a number from 0 to 1", value);
  if (!(value >= 0 && value <= 1)) throw invalid(where, `must be a number from 0 to 1, got ${value}`);
  return value;
}

export function parseQueryText(value: unknown): string {
  if (typeof value !== "string") throw wrongType("query", "a string", value);
  const text = repairText(value);
  if (!fitsBytes(text, QUERY_BYTES_MAX)) {
    throw tooLarge("query", `${QUERY_BYTES_MAX / 1024} KiB of text`, "ask with the sentences that matter");
  }
  return normaliseQuestion(text);
}

/**
 * The form of a question that is searched, embedded and cached. Differences in Unicode composition and white space,
 * which a reader cannot see, are removed. Everything else stays, because it may change the answer: case distinguishes
 * Rose from rose and US from us; punctuation distinguishes a question from a statement, and C from C++.
 */
export const normaliseQuestion = (text: string): string => text.normalize("NFC").replace(/\s+/gu, " ").trim();
