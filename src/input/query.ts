/** What a query says → the question as the read path sees it, and how its answer is to be shown. */
import { HoldfastError } from "../errors.js";
import type { Mutable } from "../mutable.js";
import { ORDERS, type ResolvedOptions, SORTS, type SortBy } from "../options.js";
import type { RowFilter } from "../stores/store.js";
import { repairText } from "../text.js";
import type { Filter, Instant, Order, SpaceRef } from "../types.js";
import { parseIds } from "./call.js";
import { parseChoice } from "./choice.js";
import { fitsBytes } from "./content.js";
import { FILTER_KEYS, filterOf } from "./filter.js";
import { parseInstant } from "./instant.js";
import { parseInteger } from "./integer.js";
import { QUERY_BYTES_MAX, RESULTS_MAX } from "./limits.js";
import { normaliseQuestion } from "./normalise.js";
import { ARMS, type By, type Presentation, type Question } from "./question.js";
import { type Fields, invalid, objectWith, tooLarge, wrongType } from "./refusal.js";
import { type ParsedScope, parseSpaces } from "./scope.js";

/** How a query is asked; what is left out comes from the options under `buffer.query`. */
export interface QueryOptions extends Filter {
  /** How many hits at most, 1 to 1000. Left out: 10, or `buffer.query.maxSize` if that is less. */
  readonly topK?: number;
  /** How many of the best to leave out, for the next page. With `topK` at most 1000. */
  readonly offset?: number;
  /** score: the best match first · timestamp: the hits of the page by the time they occurred. */
  readonly sortBy?: SortBy;
  readonly order?: Order;
  /** user: all of the caller's space (the default; `space` says the same) · session, agent: only the caller's own. */
  readonly within?: "user" | "space" | "session" | "agent";
  /** The spaces to search instead of the caller's own. */
  readonly spaces?: readonly SpaceRef[];
  /**
   * When the question is asked, if not now: "last week" is counted from here, and what occurred more than a day later
   * is left out. (A day, because times come without time zones.)
   */
  readonly askedAt?: Instant;
  /** How much being new counts, 0 (not at all, the default) to 1 (as much as everything else). Halves in 30 days. */
  readonly recency?: number;
  /** The answer is given by then, with what is there, and marked `partial` if something is missing. */
  readonly deadlineMs?: number;
  /** Search only what is not indexed yet: the RoundBuffer's tail and the HybridBuffer. */
  readonly bufferOnly?: boolean;
  /** One arm alone, which finds less than both (the default). `meaning` is `unsupported` without an embedding model. */
  readonly by?: By;
  /** True: hits say what their scores are made of, and the answer how it came about. Ids: also why these are not hits. */
  readonly explain?: boolean | readonly string[];
}

export interface ParsedQuery {
  readonly question: Question;
  readonly presentation: Presentation;
}

const TOP_K = 10;
const WITHIN = ["user", "space", "session", "agent"] as const;
const DAY_MS = 86_400_000;
/** Rankings are made in these steps, so that whoever asks for a few hits more finds one that is deep enough. */
const DEPTH_STEP = 10;
const DEADLINE_MS_MAX = 3_600_000;
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

function parsePresentation(fields: Fields, defaults: ResolvedOptions["buffer"]["query"]): Presentation {
  const { topK, offset, sortBy, order, explain } = fields;
  const count =
    topK === undefined ? Math.min(TOP_K, defaults.maxSize) : parseInteger(topK, "options.topK", 1, RESULTS_MAX);
  const presentation: Mutable<Presentation> = {
    topK: count,
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

/** The filter, with what `within` adds to it. */
function parseWithin(fields: Fields, { session, agent }: ParsedScope): RowFilter {
  const filter = filterOf(fields, "options");
  const within = fields["within"] === undefined ? "space" : parseChoice(fields["within"], WITHIN, "options.within");
  if (within === "user" || within === "space") return filter;
  const own = within === "session" ? session : agent;
  if (own === undefined) {
    throw new HoldfastError("invalid_input", `within "${within}" needs a ${within} in the scope`, {
      hint: `name the ${within} when you make the session object`,
    });
  }
  return within === "session" ? { ...filter, sessions: [own] } : { ...filter, agents: [own] };
}

/** What was not known yet when it was asked is left out. */
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

function parseQueryText(value: unknown): string {
  if (typeof value !== "string") throw wrongType("query", "a string", value);
  const text = repairText(value);
  if (!fitsBytes(text, QUERY_BYTES_MAX)) {
    throw tooLarge("query", `${QUERY_BYTES_MAX / 1024} KiB of text`, "ask with the sentences that matter");
  }
  return normaliseQuestion(text);
}
