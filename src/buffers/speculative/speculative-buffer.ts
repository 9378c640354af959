/**
 * SpeculativeBuffer: answers questions before they are asked.
 *
 *   observe   after an add or an answer: extend the session's trace, score the guesses made before, guess anew
 *   search    guesses that are worth it, one at a time, while no question is in progress (prefetches.ts)
 *   hand over the finished answers to the QueryBuffer, which serves them if the question and the versions match
 *
 * Invariants:
 * - Speculation changes when work is done, never what an answer contains: an answer made ahead is served under the same
 *   rule as a cached one, for the same question at the same versions of its spaces.
 * - It delays no caller. The service reports what happened after the caller has its result (`Later`). A question, and
 *   the report of an add, interrupt a search.
 * - It is bounded: answers by number and bytes, sessions by number and text, guesses per session.
 */
import { LRUCache } from "lru-cache";
import type { Clock } from "../../clock.js";
import { HoldfastError } from "../../errors.js";
import type { Events } from "../../events/events.js";
import { normaliseQuestion, type ParsedQuery, type QueryOptions } from "../../input/query.js";
import type { ParsedScope } from "../../input/scope.js";
import { PREDICTORS, type PredictorName } from "../../options.js";
import { laneIn, laneKey, spaceKey } from "../../space-key.js";
import type { Store } from "../../stores/store.js";
import type { SpaceRef } from "../../types.js";
import type { Entry } from "../query/answer-cache.js";
import { Correlation } from "./correlation.js";
import { NextLine } from "./next-line.js";
import type { Asked, Guess, Predictor, Said, Trace } from "./predictor.js";
import { Prefetches, type PrefetchesOptions } from "./prefetches.js";
import { Stride } from "./stride.js";
import { Topic } from "./topic.js";
import { type PredictorStats, TrackRecord } from "./track-record.js";

/** How long `anticipate` waits for more typing. */
const TYPING_MS = 150;
const SESSIONS_MAX = 1_000;
const TRACE_CHARACTERS_MAX = 1_000_000;
/** Longer messages are not expected as questions. */
const TEXT_CHARACTERS_MAX = 4_000;
const ASKED_MAX = 4;
/** Different options with which one text is asked: `context` asks for items and for facts. */
const FORMS_MAX = 3;
/** A space with fewer commits is read into memory in no time. */
const LARGE_VERSION = 50;
/** Spaces that wait for their first question. */
const OPENINGS_MAX = 16;

export interface SpeculativeBufferOptions extends Omit<PrefetchesOptions, "records" | "tell"> {
  readonly clock: Clock;
  readonly store: Pick<Store, "versions">;
  /** Number of newest messages that predictors see. */
  readonly contextWindow: number;
  /** The predictors in use, comma-separated. */
  readonly predictors: string;
  readonly parse: (place: ParsedScope, text: string, options: QueryOptions) => ParsedQuery;
  /** Stops a search in progress. */
  readonly interrupt: () => void;
  /** Told what becomes of each search. */
  readonly events: Pick<Events, "tell">;
}

export interface SpeculativeStats {
  /** Answers held, and their estimated size. */
  readonly entries: number;
  readonly bytes: number;
  readonly maxSize: number;
  /** Sessions with a trace. */
  readonly sessions: number;
  readonly predictors: { readonly [name in PredictorName]?: PredictorStats };
}

interface Session {
  readonly place: ParsedScope;
  readonly said: readonly Said[];
  readonly asked: readonly Asked[];
  /** The options with which the newest text was asked. */
  readonly forms: readonly QueryOptions[];
  readonly guesses: readonly StandingGuess[];
}

/** A guess that the next question will confirm or refute. */
interface StandingGuess extends Guess {
  readonly predictor: PredictorName;
  readonly requests: readonly string[];
  readonly isScored: boolean;
}

export class SpeculativeBuffer {
  readonly #options: SpeculativeBufferOptions;
  readonly #predictors: readonly Predictor[];
  readonly #records: ReadonlyMap<PredictorName, TrackRecord>;
  readonly #prefetches: Prefetches;
  readonly #sessions = new LRUCache<string, Session>({
    max: SESSIONS_MAX,
    maxSize: TRACE_CHARACTERS_MAX,
    sizeCalculation: ({ said, asked }) => [...said, ...asked].reduce((size, { text }) => size + text.length, 1),
  });
  /** Spaces in use in this process; with the request that reads them into memory, until they are asked. */
  readonly #opened = new LRUCache<string, { readonly warming?: string }>({ max: SESSIONS_MAX });
  /** How questions were asked last in any session, for sessions that have asked none. */
  #forms: readonly QueryOptions[] = [];
  /** By lane: how to cancel an announcement that waits for more typing. */
  readonly #typing = new Map<string, { readonly place: ParsedScope; readonly cancel: () => void }>();
  #isClosed = false;

  /** `entries` is shared with the QueryBuffer, which takes the answers that it serves. */
  constructor(entries: Map<string, Entry>, options: SpeculativeBufferOptions) {
    this.#options = options;
    const { contextWindow, events } = options;
    const predictors = PREDICTORS.filter((name) => options.predictors.split(",").includes(name));
    const all = [new NextLine(), new Stride(), new Correlation(), new Topic(contextWindow)];
    this.#predictors = all.filter(({ name }) => predictors.includes(name));
    this.#records = new Map(predictors.map((name) => [name, new TrackRecord(TRUSTED.has(name))]));
    this.#prefetches = new Prefetches(entries, {
      ...options,
      records: this.#records,
      tell: ({ place, predictor }, outcome) =>
        events.tell({ type: "prefetched", ...laneIn(place), predictor, outcome }),
    });
  }

  /** Observes messages that were added. */
  added(
    place: ParsedScope,
    messages: readonly { readonly role?: string | undefined; readonly content: string }[],
  ): void {
    this.#options.interrupt(); // what it finds would be outdated
    const session = this.#session(place);
    const said = messages.flatMap(({ role, content }) =>
      content.length > TEXT_CHARACTERS_MAX ? [] : [{ role, text: normaliseQuestion(content) }],
    );
    const window = this.#options.contextWindow;
    this.#save({ ...session, said: [...session.said, ...said.filter(({ text }) => text !== "")].slice(-window) });
    this.#guess(place, "added");
    this.#open(place);
    this.#prefetches.outdated(spaceKey(place.space));
    this.#prefetches.run();
  }

  /** Observes a question that was answered, with the options that it was asked with. */
  answered(place: ParsedScope, query: ParsedQuery, options: QueryOptions): void {
    if (query.presentation.explain) return; // such answers are never cached
    const asked = { text: query.question.text, options };
    this.#prefetches.asked(requestId(place, query));
    this.#reached(place);
    this.#score(place, asked);
    this.#note(place, asked);
    this.#guess(place, "answered");
    this.#prefetches.run();
  }

  /** Observes that items were embedded or vectors written, which gives spaces new versions. */
  settled(): void {
    this.#prefetches.outdated();
    this.#prefetches.run();
  }

  /** Observes that a session is in use. */
  opened(place: ParsedScope): void {
    this.#open(place);
  }

  /** Takes the text that a user is typing as a guess. Without options, it is expected to be asked as questions were before. */
  anticipate(place: ParsedScope, question: string, options?: QueryOptions): void {
    const lane = laneKey(place);
    this.#typing.get(lane)?.cancel();
    const cancel = this.#options.clock.after(TYPING_MS, () => {
      this.#typing.delete(lane);
      const text = normaliseQuestion(question);
      this.#stand(place, "anticipate", text === "" ? [] : [{ text, ...(options && { options }) }]);
      this.#prefetches.run();
    });
    this.#typing.set(lane, { place, cancel });
  }

  /** Drops everything known of a space, or everything. */
  forget(space?: SpaceRef): void {
    const name = space && spaceKey(space);
    const isGone = ({ place }: { readonly place: ParsedScope }): boolean =>
      name === undefined || spaceKey(place.space) === name;
    for (const [lane, session] of [...this.#sessions.entries()]) if (isGone(session)) this.#sessions.delete(lane);
    for (const [lane, typing] of [...this.#typing]) {
      if (!isGone(typing)) continue;
      typing.cancel();
      this.#typing.delete(lane);
    }
    for (const predictor of this.#predictors) predictor.forget?.(name);
    this.#prefetches.forget(name);
  }

  get stats(): SpeculativeStats {
    return {
      entries: this.#prefetches.size,
      bytes: this.#prefetches.bytes,
      maxSize: this.#options.maxSize,
      sessions: this.#sessions.size,
      predictors: Object.fromEntries([...this.#records].map(([name, record]) => [name, record.stats])),
    };
  }

  /** Drops everything and waits for the search in progress. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.forget();
    await this.#prefetches.close();
  }

  #session(place: ParsedScope): Session {
    return this.#sessions.get(laneKey(place)) ?? { place, said: [], asked: [], forms: [], guesses: [] };
  }

  #save(session: Session): void {
    this.#sessions.set(laneKey(session.place), session);
  }

  /** Scores the standing guesses against a question. Those refuted are dropped. */
  #score(place: ParsedScope, asked: Asked): void {
    const session = this.#session(place);
    const last = session.asked.at(-1);
    if (last && isSameStep(last, asked)) return;
    const guesses = session.guesses.flatMap((guess): readonly StandingGuess[] => {
      const isHit = !guess.isScored && guess.text === asked.text && (!guess.options || isSameStep(guess, asked));
      if (!guess.isScored) this.#recordOf(guess.predictor).scored(isHit);
      if (isHit) return [{ ...guess, isScored: true }];
      for (const id of guess.requests) this.#prefetches.cancel(id);
      return [];
    });
    this.#save({ ...session, guesses });
  }

  #note(place: ParsedScope, asked: Asked): void {
    const session = this.#session(place);
    const last = session.asked.at(-1);
    const isNext = !last || !isSameStep(last, asked);
    const isOther = last?.text !== asked.text;
    const known = isOther ? [] : session.forms;
    const isForm = isOther || !isNext;
    const forms = isForm ? [asked.options, ...known.filter((form) => !isEqual(form, asked.options))] : known;
    this.#save({
      ...session,
      forms: forms.slice(0, FORMS_MAX),
      asked: isNext ? [...session.asked, asked].slice(-ASKED_MAX) : session.asked,
    });
    if (isNext) for (const predictor of this.#predictors) predictor.learn?.(traceOf(this.#session(place)));
    this.#forms = forms.flatMap((form) => elsewhere(form, place)).slice(0, FORMS_MAX);
  }

  #guess(place: ParsedScope, after: Predictor["after"]): void {
    for (const predictor of this.#predictors) {
      if (predictor.after !== after) continue;
      const guesses = predictor.guess(traceOf(this.#session(place)));
      this.#stand(place, predictor.name, guesses);
    }
  }

  /** Replaces the predictor's guesses in this session, and queues their searches if they are worth it. */
  #stand(place: ParsedScope, predictor: PredictorName, guesses: readonly Guess[]): void {
    const record = this.#records.get(predictor);
    if (!record) return; // not in use
    const session = this.#session(place);
    const known = session.guesses.filter((guess) => guess.predictor === predictor);
    const kept = known.filter((guess) => guesses.some((other) => isSameGuess(guess, other)));
    for (const guess of known) {
      if (kept.includes(guess)) continue;
      if (!guess.isScored && predictor !== "anticipate") record.scored(false); // text being typed is not wrong
      for (const id of guess.requests) this.#prefetches.cancel(id);
    }
    const added = guesses
      .filter((guess) => !kept.some((other) => isSameGuess(guess, other)))
      .map((guess): StandingGuess => {
        const requests = record.isThrottled ? [] : this.#request(session, predictor, guess);
        return { ...guess, predictor, requests, isScored: false };
      });
    const others = session.guesses.filter((guess) => guess.predictor !== predictor);
    this.#save({ ...session, guesses: [...others, ...kept, ...added] });
  }

  /** Queues the searches that answer a guess. */
  #request({ place, forms }: Session, predictor: PredictorName, { text, options }: Guess): readonly string[] {
    const asked = options ? [options] : forms.length > 0 ? forms : this.#forms;
    return asked.flatMap((form) => {
      const query = this.#parse(place, text, form);
      if (!query) return [];
      const id = requestId(place, query);
      this.#prefetches.add({ id, predictor, place, query });
      return [id];
    });
  }

  /**
   * Undefined if a query would be refused: another session's options may need what this one lacks, and joined messages
   * may be too long.
   */
  #parse(place: ParsedScope, text: string, options: QueryOptions): ParsedQuery | undefined {
    try {
      return this.#options.parse(place, text, options);
    } catch (error) {
      if (error instanceof HoldfastError) return undefined;
      throw error;
    }
  }

  /** Reads a space into memory that this process has not used yet, if that takes noticeable time. */
  #open(place: ParsedScope): void {
    const space = spaceKey(place.space);
    if (!this.#records.has("opening") || this.#opened.has(space)) return;
    this.#opened.set(space, {});
    this.#options.store.versions([place.space]).then(
      ([known]) => {
        if (known && known.version >= LARGE_VERSION) this.#warm(place);
      },
      () => undefined, // the question will report it
    );
  }

  #warm(place: ParsedScope): void {
    const space = spaceKey(place.space);
    const record = this.#recordOf("opening");
    const text = this.#session(place).said.at(-1)?.text ?? space;
    const query = this.#parse(place, text, { topK: 1 });
    if (this.#isClosed || !query) return;
    const warming = `opening ${space}`;
    this.#opened.set(space, { warming });
    if (!record.isThrottled) {
      this.#prefetches.add({ id: warming, predictor: "opening", place, query, isWarming: true });
      this.#prefetches.run();
    }
    const unasked = [...this.#opened.entries()].filter(([, { warming }]) => warming !== undefined);
    for (const [other, { warming: id = "" }] of unasked.slice(OPENINGS_MAX)) {
      this.#opened.set(other, {});
      this.#prefetches.cancel(id);
      record.scored(false);
    }
  }

  /** The space is asked. */
  #reached({ space }: ParsedScope): void {
    const name = spaceKey(space);
    const { warming } = this.#opened.get(name) ?? {};
    this.#opened.set(name, {});
    if (warming === undefined) return;
    this.#prefetches.asked(warming);
    this.#records.get("opening")?.scored(true);
  }

  #recordOf(predictor: PredictorName): TrackRecord {
    const record = this.#records.get(predictor);
    if (!record) throw new Error(`${predictor} is not in use`);
    return record;
  }
}

/** What the application announces, and the first use of a space, need no proof. */
const TRUSTED: ReadonlySet<PredictorName> = new Set(["anticipate", "opening"]);

/** Equal for equal questions of one session, however their options were written. */
const requestId = (place: ParsedScope, { question, presentation }: ParsedQuery): string =>
  JSON.stringify([laneKey(place), question, presentation]);

const isEqual = (a: QueryOptions, b: QueryOptions): boolean => JSON.stringify(a) === JSON.stringify(b);

/** Whether both ask for the same page of the same text, in whatever form. */
const isSameStep = (a: Guess, b: Asked): boolean =>
  a.text === b.text &&
  (a.options?.offset ?? 0) === (b.options.offset ?? 0) &&
  JSON.stringify(a.options?.session) === JSON.stringify(b.options.session);

const isSameGuess = (a: Guess, b: Guess): boolean =>
  a.text === b.text && JSON.stringify(a.options) === JSON.stringify(b.options);

const traceOf = ({ place, said, asked }: Session): Trace => ({ space: spaceKey(place.space), said, asked });

/** The form for sessions of other spaces, if it does not name spaces besides its own. */
function elsewhere(form: QueryOptions, { space }: ParsedScope): readonly QueryOptions[] {
  const { spaces, ...rest } = form;
  if (spaces === undefined) return [form];
  return spaces.length === 1 && spaces.every((one) => spaceKey(one) === spaceKey(space)) ? [rest] : [];
}
