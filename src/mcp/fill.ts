/**
 * Fill: an answer that is put together piece by piece, in both its forms, until it is full. The text and the structured
 * content are each kept within the tokens that one answer may have.
 */
import { estimatedHead, estimateTokens } from "../tokens/estimate.js";
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
    const cost = Math.max(estimateTokens(piece), estimateTokens(JSON.stringify(shown)));
    if (cost > this.#left) return false;
    this.#left -= cost;
    this.#pieces.push(piece);
    this.shown.push(shown);
    return true;
  }

  text(...notes: readonly string[]): string {
    return fenced(this.#pieces, ...notes);
  }
}

/** As much of a text, from an offset on, as fits in either form: in JSON line ends and quotes take more room. */
export function excerpt(text: string, maxTokens: number, from = 0): Excerpt {
  const rest = text.slice(from);
  let end = estimatedHead(rest, maxTokens);
  while (end > 0) {
    const cost = estimateTokens(JSON.stringify(rest.slice(0, end)));
    if (cost <= maxTokens + QUOTES) break;
    end = estimatedHead(rest.slice(0, end), Math.floor((maxTokens * estimateTokens(rest.slice(0, end))) / cost) - 1);
  }
  return end === rest.length ? { text: rest } : { text: rest.slice(0, end), next: from + end };
}

const QUOTES = 2;
