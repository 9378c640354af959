/**
 * Drafts: chunks that are not yet known to fit the model. A draft has its own text and its context (the speaker and
 * what was said before). Drafts are immutable; one that is too long is replaced by shorter ones, until all fit or
 * nothing is left to shorten.
 */

import { graphemeStart, leading, type Span, trimmed } from "../../graphemes.js";
import { ending, middleCut } from "./cuts.js";
import { SENTENCE_UNITS } from "./sentences.js";

/** A version of another item. */
export interface ItemVersion {
  readonly key: number;
  readonly version: number;
}

/** A part of what was said before. */
export interface Context {
  readonly name: string;
  readonly text: string;
  /** The item it comes from; absent if it is from the same item. */
  readonly source?: ItemVersion;
}

export interface ChunkDraft extends Span {
  /** The speaker; empty if there is no name. */
  readonly name: string;
  /** Oldest first. */
  readonly context: readonly Context[];
  /** The text of the span. If a single grapheme is too long for the model, only its leading code points. */
  readonly body: string;
}

/** Context shorter than this is useless. */
const CONTEXT_UNITS_MIN = 16;

/** A span longer than SENTENCE_UNITS is a single grapheme. */
export function draftOf(content: string, { start, end }: Span, name: string, context: readonly Context[]): ChunkDraft {
  const body = content.slice(start, end);
  return { start, end, name, context, body: body.length > SENTENCE_UNITS ? leading(body, SENTENCE_UNITS) : body };
}

export function textOf({ name, context, body }: ChunkDraft): string {
  if (context.length === 0) return said(name, body);
  return [...context.map((part) => said(part.name, part.text)), said(name, body)].join("\n");
}

const said = (name: string, text: string): string => (name === "" ? text : `${name}: ${text}`);

/**
 * The drafts that replace a draft that is too long; none if it cannot be shortened. Whichever is longer is shortened:
 * the context, or the draft's own text, which is cut in two. A grapheme is cut last.
 */
export function shorter(draft: ChunkDraft): readonly ChunkDraft[] {
  const added = textOf(draft).length - draft.body.length;
  if (added > draft.body.length) return [withLess(draft)];
  const cut = middleCut(draft.body);
  if (cut !== undefined) return halves(draft, cut);
  if (added > 0) return [withLess(draft)];
  const body = leading(draft.body, Math.floor(draft.body.length / 2));
  return body === "" ? [] : [{ ...draft, body }];
}

function halves(draft: ChunkDraft, cut: number): readonly ChunkDraft[] {
  return [trimmed(draft.body, 0, cut), trimmed(draft.body, cut, draft.body.length)].flatMap((span) => {
    if (!span) return [];
    const body = draft.body.slice(span.start, span.end);
    return [{ ...draft, start: draft.start + span.start, end: draft.start + span.end, body }];
  });
}

/** Drops the oldest context, then half of the last one, then half of the name. */
function withLess(draft: ChunkDraft): ChunkDraft {
  const [oldest, ...younger] = draft.context;
  if (!oldest) {
    const half = graphemeStart(draft.name, 0, Math.floor(draft.name.length / 2));
    return { ...draft, name: draft.name.slice(0, half).trimEnd() };
  }
  if (younger.length > 0) return { ...draft, context: younger };
  const text = ending(oldest.text, Math.floor(oldest.text.length / 2));
  return { ...draft, context: text.length < CONTEXT_UNITS_MIN ? [] : [{ ...oldest, text }] };
}
