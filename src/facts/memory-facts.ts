/**
 * Facts: what is known, since when, and on whose word.
 *
 * The same fact is found by what it says and updated; one that another takes the place of is kept with the time in which it
 * held; one that was retracted stays so when it is offered again. What holds is searched like any other item.
 */
import { HoldfastError } from "../errors.js";
import type { Extractor } from "../extraction/extractor.js";
import { parseIds } from "../input/call.js";
import { parseIdentity } from "../input/identity.js";
import type { QueryOptions } from "../input/query.js";
import type { ParsedScope } from "../input/scope.js";
import { type EndFactWrite, FACT_STATES, type Fact, type PutFactDone, type PutFactWrite } from "../stores/facts.js";
import type { Done, Store, Unit } from "../stores/store.js";
import type { Hits, Page, SpaceRef } from "../types.js";
import { type Extraction, ExtractionRun, type ExtractOptions } from "./extraction-run.js";
import {
  type EndOptions,
  type FactQueryOptions,
  type FactsOptions,
  type NewFact,
  type ParsedFactQuery,
  parseEnd,
  parseFact,
  parseFactQuery,
  parseFacts,
} from "./fact-input.js";
import { rankFacts } from "./past.js";

export interface MemoryFactsParts {
  readonly store: Pick<Store, "facts" | "extracted" | "list">;
  readonly now: () => number;
  /** Commits a unit, after those of the same lane. */
  readonly write: (lane: string, unit: Unit) => Promise<readonly Done[]>;
  readonly query: (place: ParsedScope, text: string, options: QueryOptions) => Promise<Hits>;
  /** Facts have been added, edited or ended. */
  readonly changed: (space: SpaceRef) => Promise<void>;
  /** Absent: nothing is extracted. */
  readonly extractor?: Extractor | undefined;
}

/** What became of a fact that was offered. */
export type FactOutcome = Omit<PutFactDone, "op">;

/** Facts that held at some time are read and ranked so many at a time, and no more than so many. */
const PAGE = 1_000;
const PAST_MAX = 20_000;

export class MemoryFacts {
  readonly #parts: MemoryFactsParts;
  readonly #extraction: ExtractionRun;

  constructor(parts: MemoryFactsParts) {
    this.#parts = parts;
    this.#extraction = new ExtractionRun(parts);
  }

  /** Records that a fact holds: a new one, or the same again with other confidence and sources. */
  async upsert(place: ParsedScope, fact: NewFact): Promise<FactOutcome> {
    const done = await this.#write(place, parseFact(place, fact, this.#parts.now()));
    if (done?.op !== "put_fact") throw noAnswer();
    const { op: _, ...outcome } = done;
    return outcome;
  }

  /** It was never right. Offered again it stays retracted, unless forced. */
  retract(place: ParsedScope, id: string): Promise<Fact> {
    return this.#end(place, id, "retracted", this.#parts.now());
  }

  /** It holds no longer: from now on, or from then. */
  end(place: ParsedScope, id: string, options: EndOptions = {}): Promise<Fact> {
    return this.#end(place, id, "ended", parseEnd(options, this.#parts.now()));
  }

  /** Whether they hold or not, in the order asked for; absent ones are left out. */
  async get(place: ParsedScope, ids: readonly string[]): Promise<readonly Fact[]> {
    const wanted = parseIds(ids);
    const found = await this.#read([place.space], wanted, true);
    const byId = new Map(found.map((fact) => [fact.id, fact]));
    return wanted.flatMap((id) => byId.get(id) ?? []);
  }

  list(place: ParsedScope, options: FactsOptions = {}): Promise<Page<Fact>> {
    return this.#parts.store.facts(parseFacts(options, place, this.#parts.now()));
  }

  /** The facts that a question is about, best first: those that hold, or that held at a time. */
  query(place: ParsedScope, text: string, options: FactQueryOptions = {}): Promise<readonly Fact[]> {
    return this.find(place, text, parseFactQuery(options, place));
  }

  async find(place: ParsedScope, text: string, asked: ParsedFactQuery): Promise<readonly Fact[]> {
    if (asked.asOf !== undefined) return rankFacts(await this.#heldAt(asked, asked.asOf), text).slice(0, asked.topK);
    const { spaces, categories, topK } = asked;
    const hits = await this.#parts.query(place, text, {
      spaces,
      kind: "fact",
      topK,
      ...(categories && { metadata: { category: categories } }),
    });
    const found = await this.#read(
      spaces,
      hits.map(({ id }) => id),
      false,
    );
    const byName = new Map(found.map((fact) => [nameOf(fact), fact]));
    return hits.flatMap((hit) => byName.get(nameOf(hit)) ?? []);
  }

  /** Has the extractor read what was said in the session since the last time. */
  extract(place: ParsedScope, options: ExtractOptions = {}): Promise<Extraction> {
    return this.#extraction.run(place, options);
  }

  async #end(place: ParsedScope, id: string, as: EndFactWrite["as"], at: number): Promise<Fact> {
    const write: EndFactWrite = { op: "end_fact", space: place.space, id: parseIdentity(id, "id"), as, at };
    const done = await this.#write(place, write);
    if (done?.op !== "end_fact") throw noAnswer();
    return done.fact;
  }

  async #write(place: ParsedScope, write: PutFactWrite | EndFactWrite): Promise<Done | undefined> {
    const [done] = await this.#parts.write(factLane(place.space), [write]);
    await this.#parts.changed(place.space);
    return done;
  }

  async #read(spaces: readonly SpaceRef[], ids: readonly string[], inAnyState: boolean): Promise<readonly Fact[]> {
    if (ids.length === 0) return [];
    const states = inAnyState ? { states: FACT_STATES } : {};
    // One id may be a fact in each of the spaces.
    const limit = ids.length * spaces.length;
    return (await this.#parts.store.facts({ spaces, ids, ...states, limit, now: this.#parts.now() })).items;
  }

  async #heldAt({ spaces, categories }: ParsedFactQuery, asOf: number): Promise<readonly Fact[]> {
    const facts: Fact[] = [];
    for (let cursor: string | undefined; facts.length < PAST_MAX; ) {
      const narrowing = { ...(categories && { categories }), ...(cursor !== undefined && { cursor }) };
      const request = { spaces, asOf, ...narrowing, limit: PAGE, now: this.#parts.now() };
      const page = await this.#parts.store.facts(request);
      facts.push(...page.items);
      cursor = page.next;
      if (cursor === undefined) break;
    }
    return facts;
  }
}

/** Facts of one space are written one after the other. */
export const factLane = (space: SpaceRef): string => `facts ${JSON.stringify(space)}`;

const nameOf = ({ space, id }: { readonly space: SpaceRef; readonly id: string }): string =>
  JSON.stringify([space, id]);

const noAnswer = (): HoldfastError => new HoldfastError("store_failed", "the store gave no answer");
