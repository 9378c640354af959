/** The facts of one scope's space. */
import { keepingAlive } from "../clock.js";
import type { WriteOptions } from "../input/call.js";
import type { Grants } from "../input/grants.js";
import type { ParsedScope } from "../input/scope.js";
import type { Fact } from "../stores/facts.js";
import type { Page } from "../types.js";
import type { Extraction, ExtractOptions } from "./extraction-run.js";
import type { EndOptions, FactQueryOptions, FactsOptions, NewFact } from "./fact-input.js";
import type { FactOutcome, MemoryFacts } from "./memory-facts.js";

/** The facts of a scope, in process or through a server. */
export type Facts = Pick<SessionFacts, keyof SessionFacts>;

export class SessionFacts {
  readonly #facts: MemoryFacts;
  readonly #place: ParsedScope;
  readonly #grants: Grants;

  constructor(facts: MemoryFacts, place: ParsedScope, grants: Grants) {
    this.#facts = facts;
    this.#place = place;
    this.#grants = grants;
  }

  /**
   * Records that a fact holds: a new fact, or a known one with other confidence and sources.
   *
   * @example
   * const { fact } = await session.facts.upsert({ category: "home", content: "Ada lives in Lisbon", supersedes: oldId });
   */
  upsert(fact: NewFact, options?: WriteOptions): Promise<FactOutcome> {
    return this.#facts.upsert(this.#place, fact, options);
  }

  /** Marks a fact as never true. It stays retracted when it is offered again, unless forced. */
  async retract(id: string, options?: WriteOptions): Promise<Fact> {
    return this.#facts.retract(this.#place, id, options);
  }

  /** Marks a fact as no longer true, from now or from the given time. */
  async end(id: string, options?: EndOptions & WriteOptions): Promise<Fact> {
    return this.#facts.end(this.#place, id, options);
  }

  /** Facts in any state; missing ones are left out. */
  get(ids: readonly string[]): Promise<readonly Fact[]> {
    return this.#facts.get(this.#place, ids);
  }

  /**
   * Facts that hold, or in other states, or that held at a given time, in the order in which they were first recorded.
   */
  async list(options: FactsOptions = {}): Promise<Page<Fact>> {
    this.#grants.check(options?.spaces);
    return this.#facts.list(this.#place, options);
  }

  /** The facts that match a question, best first. */
  async query(text: string, options: FactQueryOptions = {}): Promise<readonly Fact[]> {
    this.#grants.check(options?.spaces);
    return keepingAlive(this.#facts.query(this.#place, text, options));
  }

  /** Runs the extractor over the session's messages since the last run. */
  extract(options?: ExtractOptions): Promise<Extraction> {
    return keepingAlive(this.#facts.extract(this.#place, options));
  }
}
