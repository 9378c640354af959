/**
 * AnswerBuilder: builds an answer piece by piece within a token budget, which applies to its text and to its structured
 * content. The first piece is always included, however long its names are: an empty answer would not help the model.
 */
import { quoted } from "../context/fence.js";
import { graphemeStart, leading } from "../graphemes.js";
import { estimatedHead, estimateTokens, TOKEN_UNITS_MAX } from "../tokens/estimate.js";
import { fenced } from "./rendering.js";

/** Reserved for the preamble, notes, and names of fields. */
const FRAME_TOKENS = 120;

export interface Excerpt {
  readonly text: string;
  /** Where the rest begins; undefined: the text is complete. */
  readonly next?: number;
}

export class AnswerBuilder<T> {
  readonly shown: T[] = [];
  readonly #pieces: string[] = [];
  #left: number;

  constructor(maxTokens: number) {
    this.#left = maxTokens - FRAME_TOKENS;
  }

  /** The remaining tokens. */
  get left(): number {
    return this.#left;
  }

  get isEmpty(): boolean {
    return this.shown.length === 0;
  }

  /** False if the piece does not fit. */
  add(piece: string, shown: T): boolean {
    const cost = costOf(piece, shown);
    if (cost > this.#left && !this.isEmpty) return false;
    this.#left -= cost;
    this.#pieces.push(piece);
    this.shown.push(shown);
    return true;
  }

  text(...notes: readonly string[]): string {
    return fenced(this.#pieces, ...notes);
  }
}

/** The tokens of a piece in the longer of its two forms. */
export const costOf = (piece: string, shown: unknown): number =>
  Math.max(estimateTokens(piece), estimateTokens(JSON.stringify(shown)));

/**
 * As much of a text, from an offset, as fits in both forms: quoted behind ">", and as JSON, where line breaks and quotes take
 * more room. At least one line, so that reading in pieces always makes progress.
 */
export function excerpt(text: string, maxTokens: number, from = 0): Excerpt {
  const rest = text.slice(from);
  const end = fittingEnd(rest, Math.max(maxTokens, LINE_TOKENS));
  return end === rest.length ? { text: rest } : { text: rest.slice(0, end), next: from + end };
}

/** Cuts between graphemes, if the first of them fits. */
function fittingEnd(text: string, maxTokens: number): number {
  const cost = (end: number): number => costOf(quoted(text.slice(0, end)), text.slice(0, end));
  const head = estimatedHead(text, maxTokens);
  if (head > 0 && cost(head) <= maxTokens + QUOTES) return head;
  let fitting = 0;
  let over = head || Math.min(text.length, maxTokens * TOKEN_UNITS_MAX);
  while (over - fitting > 1) {
    const middle = (fitting + over) >> 1;
    // Minus one, because a shorter head may take one token more: it may end inside a word.
    if (cost(middle) <= maxTokens + QUOTES - 1) fitting = middle;
    else over = middle;
  }
  return graphemeStart(text, 0, fitting) || leading(text, fitting).length;
}

const LINE_TOKENS = 20;
/** The quotes around a JSON string. */
const QUOTES = 2;
