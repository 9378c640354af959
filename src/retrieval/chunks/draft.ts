/**
 * A chunk before it is known to fit the model: its own text, and what it is told besides (who speaks, what came before).
 * Drafts never change; one that is too long is replaced by shorter ones, until all fit or nothing is left to shorten.
 */

import { graphemeStart, leading, type Span, trimmed } from "../../graphemes.js";
import { ending, middleCut } from "./cuts.js";
import { SENTENCE_UNITS } from "./sentences.js";

/** A version of another item. */
export interface Source {
  readonly key: number;
  readonly version: number;
}

/** What was said before, as far as it is carried along. */
export interface Context {
  readonly name: string;
  readonly text: string;
  /** The item it comes from; absent if it is the chunk's own. */
  readonly source?: Source;
}

export interface Draft extends Span {
  /** Who speaks; empty if nobody is named. */
  readonly name: string;
  /** Oldest first. */
  readonly context: readonly Context[];
  /** The text of the span; its leading code points only where a single grapheme is too long for the model. */
  readonly body: string;
}

/** Context that has less than this left says nothing. */
const CONTEXT_UNITS_MIN = 16;

/** A span is a single grapheme if it is longer than SENTENCE_UNITS. */
export function draftOf(content: string, { start, end }: Span, name: string, context: readonly Context[]): Draft {
  const body = content.slice(start, end);
  return { start, end, name, context, body: body.length > SENTENCE_UNITS ? leading(body, SENTENCE_UNITS) : body };
}

export function textOf({ name, context, body }: Draft): string {
  if (context.length === 0) return said(name, body);
  return [...context.map((part) => said(part.name, part.text)), said(name, body)].join("\n");
}

const said = (name: string, text: string): string => (name === "" ? text : `${name}: ${text}`);

/**
 * What takes the place of a draft that is too long; nothing if it cannot become shorter. The longer of the two gives
 * way: what the chunk is told besides, or its own text, which is cut in two. A grapheme is cut last of all.
 */
export function shorter(draft: Draft): readonly Draft[] {
  const besides = textOf(draft).length - draft.body.length;
  if (besides > draft.body.length) return [withLess(draft)];
  const cut = middleCut(draft.body);
  if (cut !== undefined) return halves(draft, cut);
  if (besides > 0) return [withLess(draft)];
  const body = leading(draft.body, Math.floor(draft.body.length / 2));
  return body === "" ? [] : [{ ...draft, body }];
}

function halves(draft: Draft, cut: number): readonly Draft[] {
  return [trimmed(draft.body, 0, cut), trimmed(draft.body, cut, draft.body.length)].flatMap((span) => {
    if (!span) return [];
    const body = draft.body.slice(span.start, span.end);
    return [{ ...draft, start: draft.start + span.start, end: draft.start + span.end, body }];
  });
}

/** Drops the oldest context, then half of the last, then half of the name. */
function withLess(draft: Draft): Draft {
  const [oldest, ...younger] = draft.context;
  if (!oldest) {
    const half = graphemeStart(draft.name, 0, Math.floor(draft.name.length / 2));
    return { ...draft, name: draft.name.slice(0, half).trimEnd() };
  }
  if (younger.length > 0) return { ...draft, context: younger };
  const text = ending(oldest.text, Math.floor(oldest.text.length / 2));
  return { ...draft, context: text.length < CONTEXT_UNITS_MIN ? [] : [{ ...oldest, text }] };
}
