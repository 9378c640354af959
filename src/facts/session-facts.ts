/** The facts of one scope's space. */
import type { Grants } from "../input/grants.js";
import type { ParsedScope } from "../input/scope.js";
import type { Fact } from "../stores/facts.js";
import type { Page } from "../types.js";
import type { Extraction, ExtractOptions } from "./extraction-run.js";
import type { EndOptions, FactQueryOptions, FactsOptions, NewFact } from "./fact-input.js";
import type { FactOutcome, MemoryFacts } from "./memory-facts.js";

/** The facts of a scope as callers hold them, here or behind a server. */
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

  /** Records that a fact holds: a new one, or the same again with other confidence and sources. */
  upsert(fact: NewFact): Promise<FactOutcome> {
    return this.#facts.upsert(this.#place, fact);
  }

  /** It was never right. Offered again it stays retracted, unless forced. */
  async retract(id: string): Promise<Fact> {
    return this.#facts.retract(this.#place, id);
  }

  /** It holds no longer: from now on, or from then. */
  async end(id: string, options?: EndOptions): Promise<Fact> {
    return this.#facts.end(this.#place, id, options);
  }

  /** Whether they hold or not; absent ones are left out. */
  get(ids: readonly string[]): Promise<readonly Fact[]> {
    return this.#facts.get(this.#place, ids);
  }

  /** Those that hold, or in other states, or that held at a time; in the order in which they were first recorded. */
  async list(options: FactsOptions = {}): Promise<Page<Fact>> {
    this.#grants.check(options?.spaces);
    return this.#facts.list(this.#place, options);
  }

  /** The facts that a question is about, best first. */
  async query(text: string, options: FactQueryOptions = {}): Promise<readonly Fact[]> {
    this.#grants.check(options?.spaces);
    return this.#facts.query(this.#place, text, options);
  }

  /** Has the extractor read what was said in the session since the last time. */
  extract(options?: ExtractOptions): Promise<Extraction> {
    return this.#facts.extract(this.#place, options);
  }
}
