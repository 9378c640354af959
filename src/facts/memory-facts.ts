/**
 * Facts: what is known, since when, and on what evidence.
 *
 * A fact is identified by its content and updated when it is offered again. A superseded fact is kept with the time
 * span in which it held. A retracted fact stays retracted when it is offered again. Facts that hold are searched like
 * any other item.
 */
import type { Extractor } from "../extraction/extractor.js";
import { parseIds, parseWriteOptions, splitKey, type WriteOptions } from "../input/call.js";
import { parseIdentity } from "../input/identity.js";
import { onceOf } from "../input/once.js";
import { parseQueryText, type QueryOptions } from "../input/query.js";
import type { ParsedScope } from "../input/scope.js";
import { spaceKey } from "../space-key.js";
import { type EndFactWrite, FACT_STATES, type Fact, type PutFactDone, type PutFactWrite } from "../stores/facts.js";
import { forgottenSince, type OnceWrite } from "../stores/receipts.js";
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
  /** Commits a unit, after earlier ones of the same lane; once per idempotency key, if there is one. */
  readonly write: (lane: string, unit: Unit, once?: OnceWrite) => Promise<readonly Done[]>;
  readonly query: (place: ParsedScope, text: string, options: QueryOptions) => Promise<Hits>;
  /** The maximal number of results of one query. */
  readonly resultsMax: number;
  /** Called when facts were added, edited or ended. */
  readonly changed: (space: SpaceRef) => Promise<void>;
  /** If absent, nothing is extracted. */
  readonly extractor?: Extractor | undefined;
}

/** The outcome of offering a fact. */
export type FactOutcome = Omit<PutFactDone, "op">;

/** Past facts are read and ranked in pages, up to a maximal number. */
const PAGE = 1_000;
const PAST_MAX = 20_000;

/** Facts of any scope. Use `session.facts`, which is bound to one. */
export class MemoryFacts {
  readonly #parts: MemoryFactsParts;
  readonly #extraction: ExtractionRun;

  constructor(parts: MemoryFactsParts) {
    this.#parts = parts;
    this.#extraction = new ExtractionRun(parts);
  }

  /** Records that a fact holds: a new fact, or a known one with other confidence and sources. */
  async upsert(place: ParsedScope, fact: NewFact, options?: WriteOptions): Promise<FactOutcome> {
    const write = parseFact(place, fact, this.#parts.now());
    const once = onceOf(parseWriteOptions(options), { space: place.space }, "facts.upsert", fact);
    const done = await this.#write(place, write, once);
    if (done?.op !== "put_fact") throw forgottenSince();
    const { op: _, ...outcome } = done;
    return outcome;
  }

  /** Marks a fact as never true. It stays retracted when it is offered again, unless forced. */
  retract(place: ParsedScope, id: string, options?: WriteOptions): Promise<Fact> {
    const once = onceOf(parseWriteOptions(options), { space: place.space }, "facts.retract", id);
    return this.#end(place, id, "retracted", this.#parts.now(), once);
  }

  /** Marks a fact as no longer true, from now or from the given time. */
  end(place: ParsedScope, id: string, options: EndOptions & WriteOptions = {}): Promise<Fact> {
    const { key, rest } = splitKey(options);
    const at = parseEnd(rest, this.#parts.now());
    return this.#end(place, id, "ended", at, onceOf(key, { space: place.space }, "facts.end", id, rest));
  }

  /** Facts in any state, in the order of the ids; missing ones are left out. */
  async get(place: ParsedScope, ids: readonly string[]): Promise<readonly Fact[]> {
    const wanted = parseIds(ids);
    const found = await this.#read([place.space], wanted, true);
    const byId = new Map(found.map((fact) => [fact.id, fact]));
    return wanted.flatMap((id) => byId.get(id) ?? []);
  }

  /** A page of facts; by default those that hold. */
  list(place: ParsedScope, options: FactsOptions = {}): Promise<Page<Fact>> {
    return this.#parts.store.facts(parseFacts(options, place, this.#parts.now()));
  }

  /** The facts that match a question, best first: those that hold, or that held at a given time. */
  async query(place: ParsedScope, text: string, options: FactQueryOptions = {}): Promise<readonly Fact[]> {
    return this.find(place, parseQueryText(text), parseFactQuery(options, place));
  }

  /** The facts that answer a question, best first. */
  async find(place: ParsedScope, text: string, asked: ParsedFactQuery): Promise<readonly Fact[]> {
    const { spaces, categories, topK, asOf } = asked;
    if (asOf !== undefined) {
      return rankFacts(await this.#heldAt(asked, asOf), text).slice(0, Math.min(topK, this.#parts.resultsMax));
    }
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

  /** Runs the extractor over the session's messages since the last run. */
  extract(place: ParsedScope, options: ExtractOptions = {}): Promise<Extraction> {
    return this.#extraction.run(place, options);
  }

  async #end(
    place: ParsedScope,
    id: string,
    as: EndFactWrite["as"],
    at: number,
    once: OnceWrite | undefined,
  ): Promise<Fact> {
    const write: EndFactWrite = { op: "end_fact", space: place.space, id: parseIdentity(id, "id"), as, at };
    const done = await this.#write(place, write, once);
    if (done?.op !== "end_fact") throw forgottenSince();
    return done.fact;
  }

  async #write(
    place: ParsedScope,
    write: PutFactWrite | EndFactWrite,
    once: OnceWrite | undefined,
  ): Promise<Done | undefined> {
    const [done] = await this.#parts.write(factLane(place.space), [write], once);
    await this.#parts.changed(place.space);
    return done;
  }

  async #read(spaces: readonly SpaceRef[], ids: readonly string[], inAnyState: boolean): Promise<readonly Fact[]> {
    if (ids.length === 0) return [];
    const states = inAnyState ? { states: FACT_STATES } : {};
    // The same id may be a fact in several spaces.
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
export const factLane = (space: SpaceRef): string => `facts ${spaceKey(space)}`;

const nameOf = ({ space, id }: { readonly space: SpaceRef; readonly id: string }): string => `${spaceKey(space)} ${id}`;
