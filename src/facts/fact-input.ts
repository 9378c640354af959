/** Parses callers' input about facts. */
import { HoldfastError } from "../errors.js";
import { parseIds } from "../input/call.js";
import { parseText } from "../input/content.js";
import { parseIdentity } from "../input/identity.js";
import { parseInstant } from "../input/instant.js";
import { parseInteger } from "../input/integer.js";
import { RESULTS_MAX } from "../input/limits.js";
import { parseCursor } from "../input/page.js";
import { type Fields, invalid, objectWith, parseChoice, tooLarge, wrongType } from "../input/refusal.js";
import { type ParsedScope, parseSpaces } from "../input/scope.js";
import { factId } from "../stores/fact-id.js";
import { FACT_STATES, type FactSource, type FactState, type FactsRequest, type PutFactWrite } from "../stores/facts.js";
import type { Instant, SpaceRef } from "../types.js";

/** A fact to record. */
export interface NewFact {
  /** For instance "preference" or "home". */
  readonly category: string;
  /** The fact, in one sentence. */
  readonly content: string;
  /** 0 to 1; 1 (certain) by default. */
  readonly confidence?: number;
  /** The evidence: a message or a session. By default the scope's session, if it has one; otherwise none. */
  readonly source?: FactSource;
  /** Ids of facts that this fact replaces. */
  readonly supersedes?: string | readonly string[];
  /** The time since which it holds; now by default. */
  readonly validFrom?: Instant;
  /** If true, the fact is part of every context. */
  readonly pinned?: boolean;
  /** If true, the fact is recorded even if it was retracted. */
  readonly force?: boolean;
}

/** The options of `facts.end`. */
export interface EndOptions {
  /** The time from which it no longer holds; now by default. */
  readonly at?: Instant;
}

/** The options of `facts.list`. */
export interface FactsOptions {
  /** Only facts of this category, or of one of these. */
  readonly category?: string | readonly string[];
  /** Only pinned facts (true), or only others (false). */
  readonly pinned?: boolean;
  /** Only facts that hold by default. */
  readonly state?: FactState | readonly FactState[];
  /** Only facts that held at this time. */
  readonly asOf?: Instant;
  /** The spaces to read instead of the caller's own. */
  readonly spaces?: readonly SpaceRef[];
  /** 1 to 1000; 100 by default. */
  readonly limit?: number;
  /** The `next` of the previous page. */
  readonly cursor?: string;
}

/** The options of `facts.query`. */
export interface FactQueryOptions extends Pick<FactsOptions, "category" | "asOf" | "spaces"> {
  /** 1 to 1000; 10 by default. */
  readonly topK?: number;
}

export interface ParsedFactQuery {
  readonly spaces: readonly SpaceRef[];
  readonly categories?: readonly string[];
  readonly asOf?: number;
  readonly topK: number;
}

const PAGE = 100;
const TOP_K = 10;
const CATEGORY_UNITS_MAX = 512;
const NEW_KEYS: ReadonlySet<string> = new Set(
  "category content confidence source supersedes validFrom pinned force".split(" "),
);
const SOURCE_KEYS: ReadonlySet<string> = new Set(["session", "message"]);
const END_KEYS: ReadonlySet<string> = new Set(["at"]);
const LIST_KEYS: ReadonlySet<string> = new Set("category pinned state asOf spaces limit cursor".split(" "));
const QUERY_KEYS: ReadonlySet<string> = new Set("category asOf spaces topK".split(" "));

export function parseFact(place: ParsedScope, value: unknown, now: number, where = "fact"): PutFactWrite {
  const fields = objectWith(value, NEW_KEYS, where);
  const { content, confidence = 1, supersedes = [], validFrom, pinned, force } = fields;
  const category = parseCategory(fields["category"], `${where}.category`);
  if (typeof content !== "string") throw wrongType(`${where}.content`, "a string", content);
  if (content.trim() === "") throw invalid(`${where}.content`, "must not be empty");
  if (typeof confidence !== "number" || !(confidence >= 0 && confidence <= 1)) {
    throw new HoldfastError("invalid_input", `${where}.confidence must be a number from 0 to 1`, {
      hint: "1 means certain",
      details: { field: `${where}.confidence` },
    });
  }
  const from = validFrom === undefined ? now : parseInstant(validFrom, `${where}.validFrom`);
  if (from > now) throw invalid(`${where}.validFrom`, "is in the future", "record it when it holds");
  const text = parseText(content, `${where}.content`);
  return {
    op: "put_fact",
    space: place.space,
    ...(place.agent !== undefined && { agent: place.agent }),
    id: factId(category, text),
    category,
    content: text,
    confidence,
    ...(pinned !== undefined && { pinned: parseFlag(pinned, `${where}.pinned`) }),
    source: parseSource(fields["source"], place, `${where}.source`),
    from,
    supersedes: parseIds(typeof supersedes === "string" ? [supersedes] : supersedes),
    force: force !== undefined && parseFlag(force, `${where}.force`),
  };
}

/** The time at which a fact ends. */
export function parseEnd(value: unknown, now: number): number {
  const { at } = objectWith(value ?? {}, END_KEYS, "options");
  const end = at === undefined ? now : parseInstant(at, "options.at");
  if (end > now) throw invalid("options.at", "is in the future", "end it when it no longer holds");
  return end;
}

export function parseFacts(value: unknown, place: ParsedScope, now: number): FactsRequest {
  const fields = objectWith(value ?? {}, LIST_KEYS, "options");
  const { pinned, state, asOf, limit, cursor } = fields;
  return {
    spaces: spacesOf(fields, place),
    ...categoriesOf(fields),
    ...(pinned !== undefined && { pinned: parseFlag(pinned, "options.pinned") }),
    ...(state !== undefined && { states: listOf(state).map((one) => parseChoice(one, FACT_STATES, "options.state")) }),
    ...(asOf !== undefined && { asOf: parseInstant(asOf, "options.asOf") }),
    limit: limit === undefined ? PAGE : parseInteger(limit, "options.limit", 1, RESULTS_MAX),
    ...(cursor !== undefined && { cursor: parseCursor(cursor) }),
    now,
  };
}

export function parseFactQuery(value: unknown, place: ParsedScope): ParsedFactQuery {
  const fields = objectWith(value ?? {}, QUERY_KEYS, "options");
  const { asOf, topK } = fields;
  return {
    spaces: spacesOf(fields, place),
    ...categoriesOf(fields),
    ...(asOf !== undefined && { asOf: parseInstant(asOf, "options.asOf") }),
    topK: topK === undefined ? TOP_K : parseInteger(topK, "options.topK", 1, RESULTS_MAX),
  };
}

const spacesOf = ({ spaces }: Fields, place: ParsedScope): readonly SpaceRef[] =>
  spaces === undefined ? [place.space] : parseSpaces(spaces, "options.spaces");

function categoriesOf({ category }: Fields): { readonly categories?: readonly string[] } {
  if (category === undefined) return {};
  return { categories: listOf(category).map((one) => parseCategory(one, "options.category")) };
}

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? Array.from(value) : [value]);

/** A category is a label, normalised so that different spellings are equal. */
function parseCategory(value: unknown, where: string): string {
  if (typeof value !== "string") throw wrongType(where, "a string", value);
  if (value.trim() === "") throw invalid(where, "must not be empty", 'such as "preference"');
  if (value.length > CATEGORY_UNITS_MAX) throw tooLarge(where, `${CATEGORY_UNITS_MAX} characters`, "use a shorter one");
  return parseText(value, where).normalize("NFKC").trim().replace(/\s+/gu, " ").toLowerCase();
}

/** The scope's session by default, so that a fact learned in a session is forgotten with it. */
function parseSource(value: unknown, { session }: ParsedScope, where: string): FactSource {
  if (value === undefined) return session === undefined ? {} : { session };
  const source = objectWith(value, SOURCE_KEYS, where);
  return {
    ...(source["session"] !== undefined && { session: parseIdentity(source["session"], `${where}.session`) }),
    ...(source["message"] !== undefined && { message: parseIdentity(source["message"], `${where}.message`) }),
  };
}

function parseFlag(value: unknown, where: string): boolean {
  if (typeof value !== "boolean") throw wrongType(where, "true or false", value);
  return value;
}
