/**
 * Fill: an answer that is put together piece by piece, in both its forms, until it is full. The text and the structured
 * content are each kept within the tokens that one answer may have. Only the first piece is always taken, however long its
 * names are: an answer with nothing in it would never get anybody any further.
 */
import { quoted } from "../context/fence.js";
import { graphemeStart, leading } from "../graphemes.js";
import { estimatedHead, estimateTokens, TOKEN_UNITS_MAX } from "../tokens/estimate.js";
import { fenced } from "./rendering.js";

/** What stands around the pieces: the preamble, our notes, names of fields. */
const FRAME_TOKENS = 120;

export interface Excerpt {
  readonly text: string;
  /** Where the rest begins; absent: this is all of it. */
  readonly next?: number;
}

export class Fill<T> {
  readonly shown: T[] = [];
  readonly #pieces: string[] = [];
  #left: number;

  constructor(maxTokens: number) {
    this.#left = maxTokens - FRAME_TOKENS;
  }

  /** How many tokens are left. */
  get left(): number {
    return this.#left;
  }

  get isEmpty(): boolean {
    return this.shown.length === 0;
  }

  /** False: there is no room for it any more. */
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

/** The tokens of a piece, in the longer one of its two forms. */
export const costOf = (piece: string, shown: unknown): number =>
  Math.max(estimateTokens(piece), estimateTokens(JSON.stringify(shown)));

/**
 * As much of a text, from an offset on, as fits in either form: behind its margin, and as JSON, where line ends and quotes
 * take more room. It is never less than a line, however little room there is: whoever reads on must get on.
 */
export function excerpt(text: string, maxTokens: number, from = 0): Excerpt {
  const rest = text.slice(from);
  const end = fittingEnd(rest, Math.max(maxTokens, LINE_TOKENS));
  return end === rest.length ? { text: rest } : { text: rest.slice(0, end), next: from + end };
}

/** Between graphemes, if the first of them fits. */
function fittingEnd(text: string, maxTokens: number): number {
  const cost = (end: number): number => costOf(quoted(text.slice(0, end)), text.slice(0, end));
  const head = estimatedHead(text, maxTokens);
  if (head > 0 && cost(head) <= maxTokens + QUOTES) return head;
  let fitting = 0;
  let over = head || Math.min(text.length, maxTokens * TOKEN_UNITS_MAX);
  while (over - fitting > 1) {
    const middle = (fitting + over) >> 1;
    // One less, because a shorter head may have a token more: it may end inside a word.
    if (cost(middle) <= maxTokens + QUOTES - 1) fitting = middle;
    else over = middle;
  }
  return graphemeStart(text, 0, fitting) || leading(text, fitting).length;
}

const LINE_TOKENS = 20;
/** Around a text in JSON. */
const QUOTES = 2;
