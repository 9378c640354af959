/**
 * Correlation: remembers, per space, which question followed which, and guesses it when a similar question is asked
 * again. Two questions are similar if they share at least half of their content words.
 */
import { LRUCache } from "lru-cache";
import { analyse } from "../../retrieval/words/analyse.js";
import { contentTerms } from "../../retrieval/words/stop.js";
import { Confidence } from "./confidence.js";
import type { Guess, Predictor, Trace } from "./predictor.js";

const SPACES_MAX = 64;
const QUESTIONS_MAX = 128;
/** Per space. */
const CHARACTERS_MAX = 32_000;
const SIMILAR = 0.5;

interface Followed {
  readonly terms: ReadonlySet<string>;
  readonly next: string;
  /** Of what was guessed to follow this question. */
  readonly confidence: Confidence;
}

export class Correlation implements Predictor {
  readonly name = "correlation";
  readonly after = "answered";
  /** By space, then by the text of the earlier question. */
  readonly #spaces = new LRUCache<string, LRUCache<string, Followed>>({ max: SPACES_MAX });

  guess({ space, asked }: Trace): readonly Guess[] {
    const followed = this.#spaces.get(space);
    const last = asked.at(-1);
    if (!followed || !last) return [];
    const same = followed.get(last.text);
    if (same) return [{ text: same.next, confidence: same.confidence }];
    const terms = termsOf(last.text);
    let best: Followed | undefined;
    let bestScore = SIMILAR;
    for (const candidate of followed.values()) {
      const score = overlap(terms, candidate.terms);
      if (score >= bestScore && candidate.next !== last.text) [best, bestScore] = [candidate, score];
    }
    return best ? [{ text: best.next, confidence: best.confidence }] : [];
  }

  learn({ space, asked }: Trace): void {
    const [before, last] = asked.slice(-2);
    if (!before || !last || before.text === last.text) return;
    const size = before.text.length + last.text.length + 1; // an empty text has a size, too
    if (size > CHARACTERS_MAX) return;
    const followed =
      this.#spaces.get(space) ?? new LRUCache<string, Followed>({ max: QUESTIONS_MAX, maxSize: CHARACTERS_MAX });
    this.#spaces.set(space, followed);
    const { terms, confidence } = followed.get(before.text) ?? {
      terms: termsOf(before.text),
      confidence: new Confidence(),
    };
    followed.set(before.text, { terms, next: last.text, confidence }, { size });
  }

  forget(space?: string): void {
    if (space === undefined) this.#spaces.clear();
    else this.#spaces.delete(space);
  }
}

const termsOf = (text: string): ReadonlySet<string> => new Set(contentTerms([...analyse(text).keys()]));

/** The number of shared terms relative to all terms of both. */
function overlap(a: ReadonlySet<string>, b: ReadonlySet<string>): number {
  let shared = 0;
  for (const term of a) if (b.has(term)) shared++;
  return shared === 0 ? 0 : shared / (a.size + b.size - shared);
}
