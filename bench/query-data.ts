/**
 * Messages and questions. Both are derived from seeds, so that every process of a run has the same.
 *
 * Words are distributed as in natural text (Zipf): about half are function words, and a content word occurs in at most 3 % of
 * the messages. A message has 1 to 4 sentences of 8 to 20 words, 2.3 on average; each is a piece.
 */
import { randomFrom } from "./data.js";

/** The number of messages, evenly distributed over the users. */
export interface Shape {
  readonly messages: number;
  readonly users: number;
}

export interface Question {
  /** The user who is asked, from 0. */
  readonly user: number;
  /** Unique in this process. */
  readonly text: string;
  /** Its content words, all from one message of that user. */
  readonly words: readonly string[];
}

const FUNCTION_WORDS =
  "the a and i to you it of is that in we was for my have on me this so what be with they are do at but not had if or about your he she can did there will would when as from how been them were our some could am an by any has his her who which these those their then should where why than him its".split(
    " ",
  );
const SYLLABLES = "ka lo mi ter an ver so pel du ran ti gos we na bri kol es ma fin der ju pla o chi sta ne".split(" ");
const VOCABULARY = 20_000;
/** Probabilities of 1, 2, 3 and 4 sentences. */
const SENTENCES = [0.2, 0.45, 0.2, 0.15];
const WORDS_MIN = 8;
const WORDS_MAX = 20;

export class Chat {
  readonly shape: Shape;
  readonly #vocabulary: readonly string[];
  readonly #texts: readonly string[];
  readonly #random: () => number;
  readonly #asked = new Set<string>();

  /** Processes that query the same file use different seeds. */
  constructor(shape: Shape, seed: number) {
    this.shape = shape;
    this.#vocabulary = vocabulary();
    this.#random = randomFrom(1);
    this.#texts = Array.from({ length: shape.messages }, () => this.text());
    this.#random = randomFrom(seed);
  }

  get perUser(): number {
    return this.shape.messages / this.shape.users;
  }

  /** The messages of a user, oldest first. */
  textsOf(user: number): readonly string[] {
    return this.#texts.slice(user * this.perUser, (user + 1) * this.perUser);
  }

  /** A new message. */
  text(): string {
    const share = this.#random();
    let sentences = 1;
    for (let sum = SENTENCES[0] ?? 1; share >= sum && sentences < SENTENCES.length; sentences++) {
      sum += SENTENCES[sentences] ?? 0;
    }
    return Array.from({ length: sentences }, () => this.#sentence()).join(" ");
  }

  #sentence(): string {
    const length = WORDS_MIN + this.#pick(WORDS_MAX - WORDS_MIN + 1);
    const words = Array.from({ length }, () => this.#word()).join(" ");
    return `${words.charAt(0).toUpperCase()}${words.slice(1)}.`;
  }

  /** Zipf's law: the logarithm of a word's rank is uniformly distributed. */
  #word(): string {
    return this.#vocabulary[Math.floor(VOCABULARY ** this.#random()) - 1] ?? "";
  }

  #pick(limit: number): number {
    return Math.floor(this.#random() * limit);
  }

  /** A question about 3 to 5 words of one message of this user, or of any. */
  question(user = this.#pick(this.shape.users)): Question {
    for (;;) {
      const said = this.#texts[user * this.perUser + this.#pick(this.perUser)] ?? "";
      const content = said
        .toLowerCase()
        .split(/\W+/)
        .filter((word) => word !== "" && !FUNCTION_WORDS.includes(word));
      const wanted = 3 + this.#pick(3);
      const words = new Set<string>();
      for (let tries = 0; tries < 20 && words.size < wanted; tries++) {
        const word = content[this.#pick(content.length)];
        if (word !== undefined) words.add(word);
      }
      const text = `What did I say about ${[...words].join(" and ")}?`;
      if (words.size === 0 || this.#asked.has(text)) continue;
      this.#asked.add(text);
      return { user, text, words: [...words] };
    }
  }
}

/** Most common first: function words, then made-up ones. */
function vocabulary(): readonly string[] {
  const random = randomFrom(3);
  const pick = (limit: number): number => Math.floor(random() * limit);
  const words = new Set(FUNCTION_WORDS);
  while (words.size < VOCABULARY) {
    words.add(Array.from({ length: 2 + pick(3) }, () => SYLLABLES[pick(SYLLABLES.length)]).join(""));
  }
  return [...words];
}

export const userName = (user: number): string => `user-${user}`;
