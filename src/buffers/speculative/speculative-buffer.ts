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
 * - It delays no caller. The service reports what happened after the caller has its result (`DeferredTasks`). A question, and
 *   the report of an add, interrupt a search.
 * - It is bounded: answers by number and bytes, sessions by number and text, guesses per session.
 */
import { LRUCache } from "lru-cache";
import type { Clock } from "../../clock.js";
import { HoldfastError } from "../../errors.js";
import type { Events } from "../../events/events.js";
import { normaliseQuestion, type ParsedQuery, type QueryOptions, remembered } from "../../input/query.js";
import type { ParsedScope } from "../../input/scope.js";
import { PREDICTORS, type PredictorName } from "../../options.js";
import { laneIn, laneKey, spaceKey } from "../../space-key.js";
import type { Store } from "../../stores/store.js";
import type { SpaceRef } from "../../types.js";
import type { AnswerEntry } from "../query/answer-cache.js";
import { Correlation } from "./correlation.js";
import { elsewhere, type Forms, formsOf, withForm } from "./forms.js";
import { NextLine } from "./next-line.js";
import type { AskedQuestion, Guess, Predictor, Said, Trace } from "./predictor.js";
import { Prefetches, type PrefetchesOptions, type Request } from "./prefetches.js";
import { SpacePreloader } from "./space-preloader.js";
import { Stride } from "./stride.js";
import { Topic } from "./topic.js";
import { type PredictorStats, TrackRecord } from "./track-record.js";

/** How long `anticipate` waits for more typing. */
const TYPING_MS = 150;
const SESSIONS_MAX = 1_000;
/** Of all sessions together: texts, options, and the guesses made of them. */
const TRACE_CHARACTERS_MAX = 4_000_000;
/** Longer questions are not expected, and nothing is predicted from them: analysing them would block the event loop. */
const TEXT_CHARACTERS_MAX = 4_000;
const ASKED_MAX = 4;

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
  readonly maxBytes: number;
  /** Sessions with a trace. */
  readonly sessions: number;
  readonly predictors: { readonly [name in PredictorName]?: PredictorStats };
}

interface Added {
  readonly role?: string | undefined;
  readonly content: string;
}

interface ObservedSession {
  readonly place: ParsedScope;
  readonly said: readonly Said[];
  readonly asked: readonly AskedQuestion[];
  readonly forms: Forms;
  readonly guesses: readonly StandingGuess[];
}

/** A guess that the next question will confirm or refute. */
interface StandingGuess extends Guess {
  readonly predictor: PredictorName;
  /** One for each expected form; empty while no form is known. */
  readonly requests: readonly string[];
  /** The text was asked. */
  readonly isConfirmed: boolean;
  /** The requests that came. */
  readonly asked: readonly string[];
}

export class SpeculativeBuffer {
  readonly #options: SpeculativeBufferOptions;
  readonly #predictors: readonly Predictor[];
  readonly #records: ReadonlyMap<PredictorName, TrackRecord>;
  readonly #prefetches: Prefetches;
  readonly #sessions = new LRUCache<string, ObservedSession>({
    max: SESSIONS_MAX,
    maxSize: TRACE_CHARACTERS_MAX,
    sizeCalculation: ({ said, asked, forms, guesses }) => charactersIn([said, asked, forms, guesses]),
  });
  readonly #preloader: SpacePreloader | undefined;
  /** How questions were asked last in any session, for sessions that have asked none. */
  #forms: Forms = {};
  /** By lane: how to cancel an announcement that waits for more typing. */
  readonly #typing = new Map<string, { readonly place: ParsedScope; readonly cancel: () => void }>();
  #isConstrained = false;

  /** `entries` is shared with the QueryBuffer, which takes the answers that it serves. */
  constructor(entries: Map<string, AnswerEntry>, options: SpeculativeBufferOptions) {
    this.#options = options;
    const { contextWindow, events } = options;
    const named = options.predictors.split(",").map((name) => name.trim());
    const predictors = PREDICTORS.filter((name) => named.includes(name));
    const all = [new NextLine(), new Stride(), new Correlation(), new Topic(contextWindow)];
    this.#predictors = all.filter(({ name }) => predictors.includes(name));
    this.#records = new Map(predictors.map((name) => [name, new TrackRecord(TRUSTED.has(name))]));
    this.#prefetches = new Prefetches(entries, {
      ...options,
      isBusy: () => this.#isConstrained || options.isBusy(),
      records: this.#records,
      tell: ({ place, predictor }, outcome) =>
        events.tell({ type: "prefetched", ...laneIn(place), predictor, outcome }),
    });
    const opening = this.#records.get("opening");
    this.#preloader =
      opening &&
      new SpacePreloader({
        store: options.store,
        record: opening,
        prefetches: this.#prefetches,
        parse: (place, text) => this.#parse(place, text, { topK: 1 }),
        run: () => this.#prefetches.run(),
      });
  }

  /** Observes messages that were added. */
  added(place: ParsedScope, messages: readonly Added[]): void {
    this.#options.interrupt(); // what it finds would be outdated
    const session = this.#session(place);
    const window = this.#options.contextWindow;
    const said = messages
      .slice(-window)
      .flatMap(({ role, content }) =>
        content.length > TEXT_CHARACTERS_MAX ? [] : [{ role, text: normaliseQuestion(content) }],
      );
    this.#save({ ...session, said: [...session.said, ...said.filter(({ text }) => text !== "")].slice(-window) });
    this.#guess(place, "added");
    this.#preloader?.open(place, this.#session(place).said.at(-1)?.text);
    this.#prefetches.outdated(spaceKey(place.space));
    this.#prefetches.run();
  }

  /** Observes a question that was answered, with the options that it was asked with (`remembered`). */
  answered(place: ParsedScope, query: ParsedQuery, options: QueryOptions): void {
    if (query.presentation.explain) return; // such answers are never cached
    const asked = { text: query.question.text, options };
    const id = requestId(place, query);
    const isScored = this.#prefetches.asked(id);
    this.#preloader?.asked(place);
    if (asked.text.length > TEXT_CHARACTERS_MAX) return;
    this.#note(place, asked, id, isScored);
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
    this.#preloader?.open(place, undefined);
  }

  /**
   * Takes the text that a user is typing as a guess, with the options of the question to come. Without options, it is
   * expected to be asked as questions were before.
   */
  anticipate(place: ParsedScope, question: string, given?: QueryOptions): void {
    if (given?.explain) return; // such answers are never cached
    const options = given && remembered(given);
    if (given && !options) return;
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

  /** Holds no answers and searches nothing while the process is short of memory. Guesses are still scored. */
  constrain(isConstrained: boolean): void {
    this.#isConstrained = isConstrained;
    if (isConstrained) this.#prefetches.forget();
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
    this.#preloader?.forget(name);
    this.#prefetches.forget(name);
  }

  get stats(): SpeculativeStats {
    return {
      entries: this.#prefetches.size,
      bytes: this.#prefetches.bytes,
      maxSize: this.#options.maxSize,
      maxBytes: this.#options.maxBytes,
      sessions: this.#sessions.size,
      predictors: Object.fromEntries([...this.#records].map(([name, record]) => [name, record.stats])),
    };
  }

  /** Drops everything and searches no more. Does not wait for the search in progress, whose embedder may hang. */
  close(): void {
    this.#options.interrupt();
    this.forget();
    this.#prefetches.close();
  }

  #session(place: ParsedScope): ObservedSession {
    return this.#sessions.get(laneKey(place)) ?? { place, said: [], asked: [], forms: {}, guesses: [] };
  }

  #save(session: ObservedSession): void {
    this.#sessions.set(laneKey(session.place), session);
  }

  /** Scores the standing guesses against a question, unless its search was scored, and drops those refuted. */
  #note(place: ParsedScope, asked: AskedQuestion, id: string, isScored: boolean): void {
    const session = this.#session(place);
    const isNext = isNextStep(session, asked);
    let forms = withForm(session.forms, "any", asked.options, session.asked.at(-1)?.text !== asked.text);
    const guesses: StandingGuess[] = [];
    for (const guess of session.guesses) {
      if (!isAnswering(guess, asked)) {
        if (isNext) this.#end(guess);
        else guesses.push(guess);
        continue;
      }
      forms = withForm(forms, guess.predictor, asked.options, !guess.isConfirmed);
      const isExpected = guess.requests.includes(id) && !guess.asked.includes(id);
      const isHit = isExpected || (guess.requests.length === 0 && !guess.isConfirmed);
      if (isHit && !isScored) this.#recordOf(guess.predictor).scored(true, guess.confidence);
      guesses.push({ ...guess, isConfirmed: true, asked: isExpected ? [...guess.asked, id] : guess.asked });
    }
    const noted = {
      ...session,
      guesses,
      forms,
      asked: isNext ? [...session.asked, asked].slice(-ASKED_MAX) : session.asked,
    };
    this.#save(noted);
    this.#forms = { ...this.#forms, ...elsewhere(forms, place) };
    if (isNext) for (const predictor of this.#predictors) predictor.learn?.(traceOf(noted));
  }

  #guess(place: ParsedScope, after: Predictor["after"]): void {
    for (const predictor of this.#predictors) {
      if (predictor.after !== after) continue;
      const guesses = predictor.guess(traceOf(this.#session(place)));
      this.#stand(place, predictor.name, guesses);
    }
  }

  /** Replaces the predictor's guesses in this session, and queues their searches if they are worth it. */
  #stand(place: ParsedScope, predictor: PredictorName, all: readonly Guess[]): void {
    const record = this.#records.get(predictor);
    if (!record) return; // not in use
    const guesses = all.filter(({ text }) => text.length <= TEXT_CHARACTERS_MAX);
    const session = this.#session(place);
    const known = session.guesses.filter((guess) => guess.predictor === predictor);
    // A guess that came true has done its work: the same guess again is a new one.
    const kept = known.filter((guess) => !guess.isConfirmed && guesses.some((other) => isSameGuess(guess, other)));
    for (const guess of known) if (!kept.includes(guess)) this.#end(guess);
    const added = guesses
      .filter((guess) => !kept.some((other) => isSameGuess(guess, other)))
      .map((guess): StandingGuess => {
        const requests = this.#requests(session, predictor, guess);
        if (record.admits(guess.confidence)) for (const request of requests) this.#prefetches.add(request);
        return { ...guess, predictor, requests: requests.map(({ id }) => id), isConfirmed: false, asked: [] };
      });
    const others = session.guesses.filter((guess) => guess.predictor !== predictor);
    this.#save({ ...session, guesses: [...others, ...kept, ...added] });
  }

  /** Ends a guess. Each request that did not come was wrong, searched or not. */
  #end({ predictor, confidence, requests, asked, isConfirmed }: StandingGuess): void {
    const isWrong = predictor !== "anticipate" || isConfirmed; // text being typed is not wrong
    const searched = requests.filter((id) => !asked.includes(id)).map((id) => this.#prefetches.cancel(id, isWrong));
    const misses = requests.length === 0 && !isConfirmed ? [false] : searched;
    for (const wasSearched of misses) if (isWrong && !wasSearched) this.#recordOf(predictor).scored(false, confidence);
  }

  /** The searches that answer a guess. */
  #requests(
    { place, forms }: ObservedSession,
    predictor: PredictorName,
    { text, options, confidence }: Guess,
  ): readonly Request[] {
    const asked = options ? [options] : formsOf(predictor, forms, this.#forms);
    return asked.flatMap((form) => {
      const query = this.#parse(place, text, form);
      return query ? [{ id: requestId(place, query), predictor, place, query, confidence }] : [];
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

  #recordOf(predictor: PredictorName): TrackRecord {
    const record = this.#records.get(predictor);
    if (!record) throw new Error(`${predictor} is not in use`);
    return record;
  }
}

/** What the application announces, and the first use of a space, need no proof. */
const TRUSTED: ReadonlySet<PredictorName> = new Set(["anticipate", "opening"]);

/** The characters of all strings in a value, and 1 for anything else. */
function charactersIn(value: unknown): number {
  if (typeof value === "string") return value.length;
  if (typeof value !== "object" || value === null) return 1;
  return Object.values(value).reduce((sum: number, one) => sum + charactersIn(one), 1);
}

/** Equal for equal questions of one session, however their options were written. */
const requestId = (place: ParsedScope, { question, presentation }: ParsedQuery): string =>
  JSON.stringify([laneKey(place), question, presentation]);

/** Whether both ask for the same page of the same text, in whatever form. */
const isSameStep = (a: Guess, b: AskedQuestion): boolean =>
  a.text === b.text &&
  (a.options?.offset ?? 0) === (b.options.offset ?? 0) &&
  JSON.stringify(a.options?.session) === JSON.stringify(b.options.session);

const isNextStep = ({ asked }: ObservedSession, question: AskedQuestion): boolean => {
  const last = asked.at(-1);
  return !last || !isSameStep(last, question);
};

/** Whether a question is the one that was guessed, in whatever form. */
const isAnswering = (guess: Guess, asked: AskedQuestion): boolean =>
  guess.text === asked.text && (!guess.options || isSameStep(guess, asked));

const isSameGuess = (a: Guess, b: Guess): boolean =>
  a.text === b.text && JSON.stringify(a.options) === JSON.stringify(b.options);

const traceOf = ({ place, said, asked }: ObservedSession): Trace => ({ space: spaceKey(place.space), said, asked });
