/** A store under test with shorthands, so that a test says only what it is about. */
import { expect } from "vitest";
import type { ErrorCode, ErrorRecord } from "../../errors.js";
import { fromRecord } from "../../errors.js";
import { analyse } from "../../retrieval/words/analyse.js";
import type { FoundItems } from "../../stores/estimates.js";
import type {
  AddWrite,
  AmendWrite,
  Committed,
  Done,
  ForgetWrite,
  ListRequest,
  NewRow,
  RegisterWrite,
  RowFilter,
  Scored,
  Store,
  Unit,
  UpdateWrite,
  Write,
} from "../../stores/store.js";
import type { Item, SpaceKind, SpaceRef } from "../../types.js";

export const START = Date.UTC(2026, 10, 15, 12);
export const SECOND = 1000;
export const DAY = 24 * 60 * 60 * SECOND;

export const ADA: SpaceRef = { user: "ada" };
export const BOB: SpaceRef = { user: "bob" };

export type DoneOf<Op extends Done["op"]> = Extract<Done, { op: Op }>;
/** A text, or whatever of an item matters to the test. */
export type Draft = string | Partial<NewRow>;
export type AddOptions = Partial<Pick<AddWrite, "session" | "agent" | "existing" | "idempotency">>;
export type ListOptions = Partial<Omit<ListRequest, "spaces">>;

export interface Forgotten {
  readonly items: number;
  readonly sessions: number;
  readonly entries: number;
}

export interface SearchOptions {
  readonly filter?: RowFilter;
  readonly limit?: number;
  readonly estimates?: boolean;
}

export class Probe {
  readonly store: Store;
  now = START;
  #ids = 0;
  #groups = 0;

  constructor(store: Store) {
    this.store = store;
  }

  /** A probe of another store, at the same time of day; their ids do not meet. */
  on(store: Store): Probe {
    const probe = new Probe(store);
    probe.now = this.now;
    probe.#ids = this.#ids + 1000;
    return probe;
  }

  row(draft: Draft): NewRow {
    const given = typeof draft === "string" ? { content: draft } : draft;
    const id = given.id ?? `m${++this.#ids}`;
    const defaults = { kind: "message", role: "user", content: id, metadata: {}, tier: "episodic" } as const;
    return { ...defaults, occurredAt: this.now, ...given, id };
  }

  adding(space: SpaceRef, drafts: readonly Draft[], options: AddOptions = {}): AddWrite {
    return { op: "add", space, items: drafts.map((draft) => this.row(draft)), existing: "same", ...options };
  }

  commit(...units: Unit[]): Promise<Committed> {
    return this.store.commit(units, this.now, `group-${++this.#groups}`);
  }

  /** Commits one unit that must succeed. */
  async unit(...writes: Write[]): Promise<readonly Done[]> {
    const [outcome] = (await this.commit(writes)).outcomes;
    if (outcome?.ok) return outcome.done;
    throw outcome ? fromRecord(outcome.error) : new Error("a unit without an outcome");
  }

  /** Commits one unit that must fail as said, with a message and a hint that can cross a thread boundary. */
  async fails(code: ErrorCode, ...writes: Write[]): Promise<ErrorRecord> {
    const [outcome] = (await this.commit(writes)).outcomes;
    if (!outcome || outcome.ok) throw new Error(`the unit was expected to fail with ${code}, and did not`);
    const { error } = outcome;
    expect(error.code).toBe(code);
    expect(error.message).toBeTruthy();
    expect(error.hint).toBeTruthy();
    expect(structuredClone(error)).toEqual(error);
    return error;
  }

  async #one<Op extends Done["op"]>(write: Write & { readonly op: Op }): Promise<DoneOf<Op>> {
    const [done] = await this.unit(write);
    expect(done?.op).toBe(write.op);
    return done as DoneOf<Op>;
  }

  add(space: SpaceRef, drafts: readonly Draft[], options?: AddOptions): Promise<DoneOf<"add">> {
    return this.#one(this.adding(space, drafts, options));
  }

  update(space: SpaceRef, id: string, patch: UpdateWrite["patch"]): Promise<DoneOf<"update">> {
    return this.#one({ op: "update", space, id, patch });
  }

  register(entry: RegisterWrite["entry"], create: RegisterWrite["create"] = "new"): Promise<DoneOf<"register">> {
    return this.#one({ op: "register", entry, create });
  }

  amend(entry: AmendWrite["entry"], change: Omit<AmendWrite, "op" | "entry">): Promise<DoneOf<"amend">> {
    return this.#one({ op: "amend", entry, ...change });
  }

  /** Forgets the whole target, slice by slice. */
  async forget(target: ForgetWrite["target"]): Promise<Forgotten> {
    const sum = { items: 0, sessions: 0, entries: 0 };
    for (let slices = 1; ; slices++) {
      const done = await this.#one({ op: "forget", target });
      sum.items += done.items;
      sum.sessions += done.sessions;
      sum.entries += done.entries;
      if (!done.remaining) return sum;
      expect(done.items, "a slice with more to come removes something").toBeGreaterThan(0);
      expect(slices, "a forget comes to its end").toBeLessThan(10_000);
    }
  }

  get(spaces: SpaceRef | readonly SpaceRef[], ...ids: string[]): Promise<readonly Item[]> {
    return this.store.get(several(spaces), ids, this.now);
  }

  /** The one item of that id, which must be there. */
  async item(space: SpaceRef, id: string): Promise<Item> {
    const items = await this.get(space, id);
    expect(
      items.map((item) => item.id),
      "the item is there, once",
    ).toEqual([id]);
    return items[0] as Item;
  }

  listing(spaces: SpaceRef | readonly SpaceRef[], options: ListOptions = {}): ListRequest {
    const defaults = { filter: {}, sortBy: "arrival", order: "asc", limit: 10_000, now: this.now } as const;
    return { ...defaults, ...options, spaces: several(spaces) };
  }

  async list(spaces: SpaceRef | readonly SpaceRef[], options?: ListOptions): Promise<readonly Item[]> {
    return (await this.store.list(this.listing(spaces, options))).items;
  }

  async ids(spaces: SpaceRef | readonly SpaceRef[], options?: ListOptions): Promise<readonly string[]> {
    return (await this.list(spaces, options)).map((item) => item.id);
  }

  async contents(spaces: SpaceRef | readonly SpaceRef[], options?: ListOptions): Promise<readonly string[]> {
    return (await this.list(spaces, options)).map((item) => item.content);
  }

  terms(query: string): readonly string[] {
    return [...analyse(query).keys()];
  }

  search(
    spaces: SpaceRef | readonly SpaceRef[],
    query: string,
    { filter = {}, limit = 1000, estimates = false }: SearchOptions = {},
  ): Promise<FoundItems<Scored>> {
    const terms = this.terms(query);
    return this.store.searchWords({ spaces: several(spaces), terms, filter, limit, now: this.now, estimates });
  }

  async found(
    spaces: SpaceRef | readonly SpaceRef[],
    query: string,
    options?: SearchOptions,
  ): Promise<readonly string[]> {
    return (await this.search(spaces, query, options)).map((hit) => hit.id);
  }

  async version(space: SpaceRef): Promise<number> {
    const versions = await this.store.versions([space]);
    expect(versions).toHaveLength(1);
    return versions[0] as number;
  }

  async commitNumber(): Promise<number> {
    return (await this.store.stats()).commit;
  }

  async names(kind: SpaceKind): Promise<readonly string[]> {
    return (await this.store.entries({ kind, limit: 1000 })).items.map((entry) => entry.name).sort();
  }

  async sessionNames(space?: SpaceRef): Promise<readonly string[]> {
    const page = await this.store.sessions({ kind: "session", ...(space && { space }), limit: 1000 });
    return page.items.map((entry) => entry.name).sort();
  }
}

function several(spaces: SpaceRef | readonly SpaceRef[]): readonly SpaceRef[] {
  return Array.isArray(spaces) ? (spaces as readonly SpaceRef[]) : [spaces as SpaceRef];
}
