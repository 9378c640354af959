/** An entry of the QueryBuffer: what a question found in one state of the store, and the answers made of it. */

import type { Question } from "../../input/question.js";
import type { Hits } from "../../types.js";
import { spaceName } from "../lane-name.js";
import { Flights } from "./flights.js";
import type { Ranking } from "./ranking.js";
import { bytesOfFound, bytesOfText } from "./weight.js";

/** Pages, sortings and asking sessions of one question whose answers are kept. */
const ANSWERS_MAX = 8;
/** What an entry weighs beside what it holds: itself, its maps, its places in the caches. */
const ENTRY_BYTES = 1_024;

/** An answer, and how much of its ranking had changed when it was read. */
export interface Answered {
  readonly hits: Hits;
  readonly dropped: number;
}

export interface RankedQuestion {
  readonly key: string;
  /** The versions of the question's spaces, as read before the search. */
  readonly versions: string;
  /** The place of its search among all searches. */
  readonly order: number;
  readonly question: Question;
  readonly ranking: Ranking;
}

export class Entry {
  readonly key: string;
  readonly versions: string;
  readonly order: number;
  /** The names of the spaces it was found in. */
  readonly spaces: ReadonlySet<string>;
  readonly ranking: Ranking;
  /** How deep a question it can answer; without end if all that there is was found. */
  readonly reach: number;
  /**
   * Whether the same question would get the same answer as long as nothing is written. What was cut short, depends on
   * the time or on what happens to be in RAM would not.
   */
  readonly isKeepable: boolean;
  /** Answers being read. */
  readonly reading = new Flights<Answered>();
  readonly #answers = new Map<string, { readonly hits: Hits; readonly bytes: number }>();
  readonly #ownBytes: number;
  #bytes: number;

  constructor({ key, versions, order, question, ranking }: RankedQuestion) {
    this.key = key;
    this.versions = versions;
    this.order = order;
    this.spaces = new Set(question.spaces.map(spaceName));
    this.ranking = ranking;
    const expires = ranking.found.some(({ until }) => until !== undefined);
    const isWhole = !ranking.partial && ranking.degraded === undefined;
    this.isKeepable = isWhole && !ranking.isClockBound && !expires && !question.bufferOnly;
    this.reach = ranking.found.length < question.depth ? Infinity : ranking.found.length;
    this.#ownBytes = ENTRY_BYTES + bytesOfText(key) + bytesOfText(versions) + bytesOfFound(ranking.found);
    this.#bytes = this.#ownBytes;
  }

  get bytes(): number {
    return this.#bytes;
  }

  answer(page: string): Hits | undefined {
    return this.#answers.get(page)?.hits;
  }

  /** Puts a finished answer in; the oldest gives way. */
  put(page: string, hits: Hits, bytes: number): void {
    this.#remove(page);
    this.#answers.set(page, { hits, bytes });
    this.#bytes += bytes;
    const [oldest] = this.#answers.keys();
    if (this.#answers.size > ANSWERS_MAX && oldest !== undefined) this.#remove(oldest);
  }

  /** Lets go of all content; the ranking stays. */
  strip(): void {
    this.#answers.clear();
    this.#bytes = this.#ownBytes;
  }

  #remove(page: string): void {
    this.#bytes -= this.#answers.get(page)?.bytes ?? 0;
    this.#answers.delete(page);
  }
}
