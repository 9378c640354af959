/**
 * Random operations on a store and on a plain model of it: both must give the same answers.
 *
 * A failure prints the shortest sequence of operations that fast-check found, with its seed and path; pass both to
 * `storeModel` to run it again.
 */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { analyse } from "../retrieval/words/analyse.js";
import {
  type Committed,
  type Done,
  NOTHING_FORGOTTEN,
  type Outcome,
  type SpaceVersion,
  type Store,
  type Unit,
} from "../stores/store.js";
import type { Item, SpaceKind, SpaceRef } from "../types.js";
import { type Scored, searchWords } from "./arms.js";
import { bruteForceScores } from "./brute-force.js";
import type { OpenedStore } from "./conformance/check.js";
import { IndexingComparison } from "./model/indexing-comparison.js";
import type { IndexingOperation } from "./model/indexing-operations.js";
import { IDS, indexing, type Operation, operation, SPACES, START, type Twist, twisted } from "./model/operations.js";
import { type PlainOutcome, PlainStore, type PlainVersion } from "./model/plain-store.js";

export interface StoreModel {
  readonly name: string;
  /** Opens an empty store that shares nothing with any other. */
  readonly open: () => Promise<OpenedStore>;
  /** The number of sequences of operations to try. */
  readonly runs: number;
  /** From the report of a failure, to reproduce it. */
  readonly seed?: number;
  readonly path?: string;
}

/** Registers the test with vitest. Call it in a test file. */
export function storeModel({ name, open, runs, seed, path }: StoreModel): void {
  describe(`${name} behaves like a plain model`, () => {
    it(`in ${runs} random sequences of operations`, { timeout: 600_000 }, async () => {
      const one = fc.oneof({ weight: 1, arbitrary: operation }, { weight: 1, arbitrary: indexing });
      const sequence = fc.array(one, { minLength: 1, maxLength: 60, size: "max" });
      const property = fc.asyncProperty(sequence, async (operations) => {
        const opened = await open();
        const comparison = new Comparison(opened);
        try {
          for (const one of operations) await comparison.run(one);
          await comparison.compareEverything();
        } finally {
          await comparison.close();
          await opened.close();
        }
      });
      await fc.assert(property, {
        numRuns: runs,
        ...(seed !== undefined && { seed }),
        ...(path !== undefined && { path }),
      });
    });
  });
}

/** A store and its model through one sequence of operations. */
class Comparison {
  readonly #opened: OpenedStore;
  readonly #model = new PlainStore();
  readonly #past: Unit[] = [];
  /** What was seen of each space, oldest first: its version in the store, and in the model. */
  readonly #seen: readonly Seen[][] = SPACES.map(() => [{ store: undefined, model: undefined }]);
  /** The store's ids of spaces, by the model's keys. */
  readonly #spaceIds = new Map<number, string>();
  /** Handles that were opened here, and are to be closed here. */
  readonly #handles: Store[] = [];
  readonly #indexing = new IndexingComparison({
    store: () => this.#store,
    model: this.#model,
    now: () => this.#now,
    send: (units) => this.#send(units),
    commit: (units) => this.#commitBoth(units),
    compareVersions: () => this.#compareVersions(),
  });
  #store: Store;
  #now = START;
  #groups = 0;

  constructor(opened: OpenedStore) {
    this.#opened = opened;
    this.#store = opened.store;
  }

  async close(): Promise<void> {
    for (const handle of this.#handles) await handle.close();
  }

  async run(one: Operation | IndexingOperation): Promise<void> {
    switch (one.do) {
      case "commit":
        return this.#commit(one.units);
      case "again":
        return this.#again(one.which, one.twist);
      case "forget":
        return this.#forget(one.target);
      case "wait":
        this.#now += one.ms;
        return;
      case "maintain":
        return this.#store.maintain(this.#now);
      case "list":
        return this.#list(one.request);
      case "get":
        return this.#get(one.spaces, one.ids);
      case "search":
        return this.#search(one);
      case "changes":
        return this.#changes(one.ago);
      case "reopen":
        return this.#reopen(one.how);
      default:
        return this.#indexing.run(one);
    }
  }

  #commit(units: readonly Unit[]): Promise<void> {
    this.#past.push(...units);
    return this.#commitBoth(units);
  }

  async #commitBoth(units: readonly Unit[]): Promise<void> {
    const expected = this.#model.apply(units, this.#now);
    const committed = await this.#send(units);
    expect(committed.outcomes.map(plainOutcome)).toEqual(expected);
    if (this.#model.changed || !mayKeep(units, expected)) {
      expect(committed.changed, "whether there was a commit").toBe(this.#model.changed);
    }
    const changed = await this.#compareVersions();
    expect(committed.versions.toSorted(byId), "the spaces that were changed").toEqual(changed.toSorted(byId));
    await this.#indexing.comparePending();
  }

  #again(which: number, twist: Twist): Promise<void> {
    const unit = this.#past[which % this.#past.length];
    return this.#commit(unit ? [twisted(unit, twist)] : []);
  }

  /** However many slices the store takes, the sum must be right and each slice must be a commit of its own. */
  async #forget(target: Extract<Operation, { do: "forget" }>["target"]): Promise<void> {
    const unit: Unit = [{ op: "forget", target }];
    const sum = { ...NOTHING_FORGOTTEN };
    for (let remaining = true; remaining; ) {
      const committed = await this.#send([unit]);
      const done = doneOf(committed.outcomes[0])[0];
      if (done?.op !== "forget") throw new Error("a forget was not answered as a forget");
      sum.items += done.items;
      sum.sessions += done.sessions;
      sum.entries += done.entries;
      remaining = done.remaining;
      const changed = done.items + done.sessions + done.entries > 0;
      expect(committed.changed, "whether a slice is a commit").toBe(changed);
      expect(changed || !remaining, "a slice with more to come removes something").toBe(true);
    }
    expect([{ done: [sum] }]).toEqual(this.#model.apply([unit], this.#now));
    await this.#compareVersions();
    await this.#indexing.comparePending();
  }

  #send(units: readonly Unit[]): Promise<Committed> {
    return this.#store.commit(units, this.#now, `group-${++this.#groups}`);
  }

  /** A space's version grows when the space changes, and only then; answers with those that have. */
  async #compareVersions(): Promise<readonly SpaceVersion[]> {
    const versions = await this.#store.versions(SPACES);
    return SPACES.flatMap((space, at) => {
      const [seen, store, model] = [this.#seen[at] ?? [], versions[at], this.#model.version(space)];
      const last = seen.at(-1);
      expect(store !== undefined, "whether there is a space of this name").toBe(model !== undefined);
      if (model?.key === last?.model?.key && model?.version === last?.model?.version) {
        expect(store, "the version of a space that was left alone").toEqual(last?.store);
        return [];
      }
      seen.push({ store, model });
      if (!store || !model) return [];
      expect(this.#spaceIds.get(model.key) ?? store.id, "a space keeps its id").toBe(store.id);
      this.#spaceIds.set(model.key, store.id);
      expect(new Set(this.#spaceIds.values()).size, "each has its own").toBe(this.#spaceIds.size);
      if (last?.store?.id === store.id) expect(store.version, "its version grows").toBeGreaterThan(last.store.version);
      return store;
    });
  }

  async #list(request: Extract<Operation, { do: "list" }>["request"]): Promise<void> {
    const expected = [...this.#model.items(request.spaces, request.filter, this.#now)];
    if (request.sortBy === "timestamp") expected.sort((a, b) => a.occurredAt - b.occurredAt);
    if (request.order === "desc") expected.reverse();
    for (let cursor: string | undefined, at = 0; ; at += request.limit) {
      const page = await this.#store.list({ ...request, now: this.#now, ...(cursor !== undefined && { cursor }) });
      expect(page.items.map(withoutSessionId)).toEqual(expected.slice(at, at + request.limit));
      expect(page.next !== undefined, "whether there is another page").toBe(at + request.limit < expected.length);
      if (page.next === undefined) return;
      cursor = page.next;
    }
  }

  async #get(spaces: readonly (typeof SPACES)[number][], ids: readonly string[]): Promise<void> {
    const expected = this.#model.items(spaces, {}, this.#now).filter(({ id }) => ids.includes(id));
    const items = (await this.#store.get(spaces, ids, this.#now)).map(withoutSessionId);
    expect(items.toSorted(byPlace)).toEqual(expected.toSorted(byPlace));
  }

  /** Scores must equal those of brute force; the order must match, ties newest first. */
  async #search({ spaces, query, filter, limit }: Extract<Operation, { do: "search" }>): Promise<void> {
    const terms = [...analyse(query).keys()];
    const scores = new Map(
      spaces.map((space) => [placeOf(space), bruteForceScores(this.#model.documents(space, this.#now), terms)]),
    );
    const scored = this.#model
      .items(spaces, filter, this.#now)
      .map((item, arrival) => ({ ...item, score: scores.get(placeOf(item.space))?.get(item.id) ?? 0, arrival }))
      .sort((a, b) => (isClose(a.score, b.score) ? b.arrival - a.arrival : b.score - a.score));
    const request = { spaces, terms, filter, now: this.#now };
    const hits = await searchWords(this.#store, { ...request, limit });
    expectScored(hits, scored.filter(({ score }) => score > 0).slice(0, limit));

    // Exactly these: whatever the limit, including items without any term; never items that are elsewhere, expired or
    // filtered out.
    const known = this.#model.indexing.items.filter(({ key }) => key !== undefined);
    const ids = new Set(known.map((item) => placeOf([this.#model.indexing.lane(item).space, item.row.id])));
    const keys = [...known.flatMap(({ key }) => key ?? []), 1_000_000];
    const given = await searchWords(this.#store, { ...request, limit: 1, keys });
    expectScored(
      given,
      scored.filter(({ space, id }) => ids.has(placeOf([space, id]))),
    );
    await this.#compareSpeakers(spaces);
  }

  async #compareSpeakers(spaces: readonly SpaceRef[]): Promise<void> {
    const names = ["ann", "LAMP", "Sea", "é", "nobody", ""];
    expect(await this.#store.speakers(spaces, names)).toEqual(this.#model.speakers(spaces, names));
  }

  /** Since so many versions ago, as far as there were any. */
  async #changes(ago: number): Promise<void> {
    const cursors = this.#seen.map((seen) => seen.at(-1 - ago) ?? seen[0]);
    const versions = await this.#store.versions(SPACES);
    const answers = await this.#store.changes(SPACES.map((space, at) => ({ space, since: cursors[at]?.store })));
    for (const [at, space] of SPACES.entries()) {
      const expected = this.#model.changes(space, cursors[at]?.model);
      const { version, changed = [], removed = [], complete } = answers[at] ?? {};
      expect(version).toEqual(versions[at]);
      expect(complete).toBe(expected.complete);
      expect(changed.map(({ id, version }) => `${id}@${version}`).toSorted()).toEqual(expected.changed.toSorted());
      if (complete) expect(removed.reduce((sum, { items }) => sum + items, 0)).toBe(expected.removed);
      for (const { spaceVersion } of [...changed, ...removed]) {
        expect(spaceVersion).toBeLessThanOrEqual(version?.version ?? 0);
        if (complete) expect(spaceVersion).toBeGreaterThan(cursors[at]?.store?.version ?? 0);
      }
    }
  }

  async #reopen(how: Extract<Operation, { do: "reopen" }>["how"]): Promise<void> {
    if (how === "in place" || !this.#opened.reopen) {
      await this.#store.reopen();
    } else {
      if (how === "after close") await this.#store.close();
      this.#store = await this.#opened.reopen();
      this.#handles.push(this.#store);
    }
    await this.#compareVersions();
  }

  async compareEverything(): Promise<void> {
    await this.#list({ spaces: SPACES, filter: {}, sortBy: "arrival", order: "asc", limit: 1000 });
    for (const space of SPACES) await this.#get([space], IDS);
    for (const kind of ["user", "agent", "team"] as const) await this.#compareEntries(kind);
    const sessions = (await this.#store.sessions({ kind: "session", limit: 1000 })).items.map(withoutId);
    expect(sessions.toSorted(byPlace)).toEqual(this.#model.sessions().toSorted(byPlace));
    await this.#changes(Number.POSITIVE_INFINITY);
    await this.#indexing.compareEverything();
    expect(await this.#store.stats()).toMatchObject({ items: this.#model.stored });
  }

  async #compareEntries(kind: SpaceKind): Promise<void> {
    const entries = (await this.#store.entries({ kind, limit: 1000 })).items.map(withoutId);
    expect(entries.toSorted(byPlace)).toEqual(this.#model.entries(kind).toSorted(byPlace));
  }
}

interface Seen {
  readonly store: SpaceVersion | undefined;
  readonly model: PlainVersion | undefined;
}

/** Whether units that succeeded may leave something behind that changes no space: a key, a lease, what is parked. */
const mayKeep = (units: readonly Unit[], outcomes: readonly PlainOutcome[]): boolean =>
  units.some((unit, at) => "done" in (outcomes[at] ?? {}) && unit.some(({ op }) => KEPT.has(op)));
const KEPT: ReadonlySet<string> = new Set(["index", "park", "once"]);

const byId = (a: SpaceVersion, b: SpaceVersion): number => (a.id < b.id ? -1 : 1);

function plainOutcome(outcome: Outcome): PlainOutcome {
  if (!outcome.ok) return { code: outcome.error.code };
  return {
    done: outcome.done.map((done) => {
      if (done.op === "register" || done.op === "amend") return { ...done, entry: withoutId(done.entry) };
      return done.op === "forget" ? { ...done, keysLeft: false } : { ...done }; // the model does not know which keys remain
    }),
  };
}

function doneOf(outcome: Outcome | undefined): readonly Done[] {
  if (outcome?.ok) return outcome.done;
  throw new Error(`a unit failed that must not: ${JSON.stringify(outcome)}`);
}

function withoutId<T extends { readonly id: string }>({ id: _id, ...rest }: T): Omit<T, "id"> {
  return rest;
}

function withoutSessionId<T extends { readonly sessionId?: string }>({ sessionId: _id, ...rest }: T) {
  return rest;
}

/** Any order works, if it is the same on both sides. */
function byPlace(a: object, b: object): number {
  const [left, right] = [a, b].map((thing) => {
    const { space, name, id } = thing as { readonly space?: object; readonly name?: string; readonly id?: string };
    return JSON.stringify([space, id, id === undefined ? name : ""]);
  });
  return (left ?? "") < (right ?? "") ? -1 : 1;
}

/** The attributes that ranking needs must be right as well. */
function expectScored(
  hits: readonly Scored[],
  expected: readonly (Omit<Item, "sessionId"> & { score: number })[],
): void {
  const told = ({ space, id, version, role, occurredAt }: Omit<Item, "sessionId">) => [
    space,
    id,
    version,
    role,
    occurredAt,
  ];
  expect(hits.map(({ space, id, version, role, occurredAt }) => [space, id, version, role, occurredAt])).toEqual(
    expected.map(told),
  );
  for (const [at, hit] of hits.entries()) expect(hit.score).toBeCloseTo(expected[at]?.score ?? Number.NaN, 9);
}

function placeOf(space: object): string {
  return JSON.stringify(space);
}

function isClose(a: number, b: number): boolean {
  return Math.abs(a - b) <= 1e-9 * Math.max(Math.abs(a), Math.abs(b), 1);
}
