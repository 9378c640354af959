/** A store under test with shorthands, so that a test contains only what it is about. */
import { expect } from "vitest";
import type { ErrorCode, ErrorRecord } from "../../errors.js";
import { fromRecord } from "../../errors.js";
import { analyse } from "../../retrieval/words/analyse.js";
import type { OnceWrite } from "../../stores/receipts.js";
import type {
  AddWrite,
  AmendWrite,
  Changes,
  Committed,
  Done,
  ForgetWrite,
  ListRequest,
  NewRow,
  RegisterWrite,
  RowFilter,
  SpaceVersion,
  Store,
  Unit,
  UpdateWrite,
  Write,
} from "../../stores/store.js";
import type { Item, SpaceKind, SpaceRef } from "../../types.js";
import { type Scored, searchWords } from "../arms.js";

export const START = Date.UTC(2026, 10, 15, 12);
export const SECOND = 1000;
export const DAY = 24 * 60 * 60 * SECOND;

export const ADA: SpaceRef = { user: "ada" };
export const BOB: SpaceRef = { user: "bob" };

export type DoneOf<Op extends Done["op"]> = Extract<Done, { op: Op }>;
/** A text, or the parts of an item that matter to the test. */
export type Draft = string | Partial<NewRow>;
export type AddOptions = Partial<Pick<AddWrite, "session" | "agent" | "existing">>;
/** An add with an idempotency key, in its session. */
export type KeyedOptions = AddOptions & { readonly idempotency?: Pick<OnceWrite, "key" | "hash"> };
export type ListOptions = Partial<Omit<ListRequest, "spaces">>;

export interface Forgotten {
  readonly items: number;
  readonly points: number;
  readonly blocks: number;
  readonly sessions: number;
  readonly entries: number;
}

export interface SearchOptions {
  readonly filter?: RowFilter;
  readonly limit?: number;
}

export class Probe {
  readonly store: Store;
  now = START;
  #ids = 0;
  #groups = 0;
  #written = 0;

  constructor(store: Store) {
    this.store = store;
  }

  /** A probe of another store, at the same time of day, with distinct ids. */
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

  /** A unit that adds; with an idempotency key, if one is given. */
  keyed(space: SpaceRef, drafts: readonly Draft[], { idempotency, ...options }: KeyedOptions): Unit {
    const { session } = options;
    const add = this.adding(space, drafts, options);
    const place = { space, ...(session !== undefined && { session }) };
    return idempotency ? [{ op: "once", ...place, ...idempotency }, add] : [add];
  }

  async commit(...units: Unit[]): Promise<Committed> {
    const committed = await this.store.commit(units, this.now, `group-${++this.#groups}`);
    expect(committed.changed || committed.versions.length === 0, "no version without a commit").toBe(true);
    if (committed.changed) this.#written++;
    return committed;
  }

  /** How many commits of this probe have written something. */
  get written(): number {
    return this.#written;
  }

  /** Commits one unit that must succeed. */
  async unit(...writes: Write[]): Promise<readonly Done[]> {
    const [outcome] = (await this.commit(writes)).outcomes;
    if (outcome?.ok) return outcome.done;
    throw outcome ? fromRecord(outcome.error) : new Error("a unit without an outcome");
  }

  /** Commits one unit that must fail with this code, and a message and a hint that can be sent between threads. */
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

  /** The result, of this call or of the first. */
  async add(space: SpaceRef, drafts: readonly Draft[], options: KeyedOptions = {}): Promise<DoneOf<"add">> {
    const done = await this.unit(...this.keyed(space, drafts, options));
    const [first] = done[0]?.op === "once" ? (done[0].first ?? []) : [];
    const added = first?.op === "add" ? { ...first, repeated: true } : done.at(-1);
    expect(added?.op).toBe("add");
    return added as DoneOf<"add">;
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
    const sum = { items: 0, points: 0, blocks: 0, sessions: 0, entries: 0 };
    for (let slices = 1; ; slices++) {
      const done = await this.#one({ op: "forget", target });
      sum.items += done.items;
      sum.points += done.points;
      sum.blocks += done.blocks;
      sum.sessions += done.sessions;
      sum.entries += done.entries;
      if (!done.remaining) return sum;
      const removed = done.items + done.points + done.blocks + done.facts;
      expect(removed, "a slice with more to come removes something").toBeGreaterThan(0);
      expect(slices, "a forget comes to its end").toBeLessThan(10_000);
    }
  }

  get(spaces: SpaceRef | readonly SpaceRef[], ...ids: string[]): Promise<readonly Item[]> {
    return this.store.get(several(spaces), ids, this.now);
  }

  /** The one item of that id, which must exist. */
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

  /** What words alone find. */
  search(
    spaces: SpaceRef | readonly SpaceRef[],
    query: string,
    { filter = {}, limit = 1000 }: SearchOptions = {},
  ): Promise<readonly Scored[]> {
    const terms = this.terms(query);
    return searchWords(this.store, { spaces: several(spaces), terms, filter, limit, now: this.now });
  }

  async found(
    spaces: SpaceRef | readonly SpaceRef[],
    query: string,
    options?: SearchOptions,
  ): Promise<readonly string[]> {
    return (await this.search(spaces, query, options)).map((hit) => hit.id);
  }

  /** Where `changes` goes on from; undefined if there is no such space. */
  async cursor(space: SpaceRef): Promise<SpaceVersion | undefined> {
    const versions = await this.store.versions([space]);
    expect(versions).toHaveLength(1);
    return versions[0];
  }

  /** 0 if there is no such space. */
  async version(space: SpaceRef): Promise<number> {
    return (await this.cursor(space))?.version ?? 0;
  }

  /** Does something that must give each of these spaces a higher version, by commits of this probe. */
  async grows<T>(spaces: readonly SpaceRef[], work: () => Promise<T>, what?: string): Promise<T> {
    const before = await this.store.versions(spaces);
    const written = this.#written;
    const result = await work();
    expect(this.#written, what).toBeGreaterThan(written);
    for (const [at, after] of (await this.store.versions(spaces)).entries()) {
      expect(after?.id, what).toEqual(before[at]?.id ?? expect.any(String));
      expect(after?.version, what).toBeGreaterThan(before[at]?.version ?? 0);
    }
    return result;
  }

  /** What changed in one space. */
  async changes(space: SpaceRef, since?: SpaceVersion): Promise<Changes> {
    const changes = await this.store.changes([{ space, since }]);
    expect(changes).toHaveLength(1);
    return changes[0] as Changes;
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
