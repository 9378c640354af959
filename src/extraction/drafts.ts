/**
 * Validates drafts from an untrusted source, usually a model. Invalid drafts are refused one by one, with a reason that
 * does not quote them; the others are kept in order.
 *
 * Kept drafts can be written: their text is well-formed and on one line, confidence is from 0 to 1, source and
 * superseded facts are among those shown, no fact occurs twice, and none supersedes itself.
 */

import { factId } from "../stores/fact-id.js";
import { repairText } from "../text.js";
import type { ExtractionRequest, FactDraft } from "./extractor.js";

export interface Refusal {
  /** For instance "drafts[2].confidence is not a number from 0 to 1". Never content. */
  readonly why: string;
}

export interface ParsedDrafts {
  readonly drafts: readonly FactDraft[];
  readonly refused: readonly Refusal[];
}

/** A page of messages with more facts than this is a sign of a confused model. */
export const DRAFTS_MAX = 50;
export const CATEGORY_UNITS_MAX = 64;
/** A fact is a sentence or two. */
export const CONTENT_UNITS_MAX = 1_000;

export function parseDrafts(value: unknown, request: ExtractionRequest): ParsedDrafts {
  if (!Array.isArray(value)) return { drafts: [], refused: [{ why: "drafts is not a list" }] };
  const parser = new DraftParser(request);
  const drafts: FactDraft[] = [];
  const refused: Refusal[] = [];
  for (const [index, entry] of value.slice(0, DRAFTS_MAX).entries()) {
    const result = parser.parse(entry);
    if (typeof result === "string") refused.push({ why: `drafts[${index}]${result}` });
    else drafts.push(result);
  }
  const excess = value.length - DRAFTS_MAX;
  if (excess > 0) refused.push({ why: `drafts has ${excess} more than the ${DRAFTS_MAX} that are read` });
  return { drafts, refused };
}

/** The part of a refusal after the draft's position. */
type Problem = string;
type Draft = { -readonly [Key in keyof FactDraft]: FactDraft[Key] };

class DraftParser {
  readonly #messages: ReadonlySet<string>;
  readonly #known: ReadonlySet<string>;
  /** The ids of the same facts by content, for facts that are known by another id. */
  readonly #byContent: ReadonlyMap<string, string>;
  readonly #seen = new Set<string>();

  constructor({ messages, known }: ExtractionRequest) {
    this.#messages = new Set(messages.map(({ id }) => id));
    this.#known = new Set(known.map(({ id }) => id));
    this.#byContent = new Map(known.map(({ id, category, content }) => [factId(category, content), id]));
  }

  parse(entry: unknown): FactDraft | Problem {
    if (typeof entry !== "object" || entry === null || Array.isArray(entry)) return " is not an object";
    const fields = entry as { readonly [key: string]: unknown };
    const category = lineOf(fields["category"]);
    if (category === undefined) return ".category is not a string";
    if (!hasText(category)) return ".category is blank";
    if (category.length > CATEGORY_UNITS_MAX) return `.category has more than ${CATEGORY_UNITS_MAX} characters`;
    const content = lineOf(fields["content"]);
    if (content === undefined) return ".content is not a string";
    if (!hasText(content)) return ".content is blank";
    if (content.length > CONTENT_UNITS_MAX) return `.content has more than ${CONTENT_UNITS_MAX} characters`;
    const confidence = fields["confidence"];
    if (typeof confidence !== "number" || !(confidence >= 0 && confidence <= 1)) {
      return ".confidence is not a number from 0 to 1";
    }
    const draft: Draft = { category, content, confidence };
    return this.#relate(draft, fields) ?? this.#once(draft);
  }

  /** Source and superseded facts. Models write null for absent fields. */
  #relate(draft: Draft, fields: { readonly [key: string]: unknown }): Problem | undefined {
    const source = fields["source"] ?? undefined;
    if (source !== undefined) {
      if (typeof source !== "string" || !this.#messages.has(source)) return ".source is not one of the messages";
      draft.source = source;
    }
    const supersedes = fields["supersedes"] ?? [];
    if (!Array.isArray(supersedes)) return ".supersedes is not a list";
    if (!supersedes.every((id): id is string => this.#known.has(id))) {
      return ".supersedes names an unknown fact";
    }
    const self = factId(draft.category, draft.content);
    if (supersedes.some((id) => id === self || id === this.#byContent.get(self))) return " supersedes itself";
    if (supersedes.length > 0) draft.supersedes = [...new Set(supersedes)];
    return undefined;
  }

  #once(draft: Draft): FactDraft | Problem {
    const id = factId(draft.category, draft.content);
    if (this.#seen.has(id)) return " repeats an earlier draft";
    this.#seen.add(id);
    return draft;
  }
}

/** On one line, so that a fact cannot pass for several lines of the text it is printed in. */
function lineOf(value: unknown): string | undefined {
  return typeof value === "string" ? repairText(value).replace(/\s+/gu, " ").trim() : undefined;
}

function hasText(text: string): boolean {
  return /[\p{L}\p{N}]/u.test(text);
}
