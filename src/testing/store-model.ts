/**
 * Random operations on a store beside a plain model of it: whatever is asked, both must answer the same.
 *
 * A failure prints the shortest sequence of operations that fast-check found, with its seed and path; give both to
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
  type Scored,
  type Store,
  type Unit,
} from "../stores/store.js";
import type { Item, SpaceKind, SpaceRef } from "../types.js";
import { bruteForceScores } from "./brute-force.js";
import type { OpenedStore } from "./conformance/check.js";
import { IndexingComparison } from "./model/indexing-comparison.js";
import type { IndexingOperation } from "./model/indexing-operations.js";
import { IDS, indexing, type Operation, operation, SPACES, START, type Twist, twisted } from "./model/operations.js";
import { type PlainOutcome, PlainStore } from "./model/plain-store.js";

export interface StoreModel {
  readonly name: string;
  /** Opens a store that holds nothing and shares nothing with any other. */
  readonly open: () => Promise<OpenedStore>;
  /** How many sequences of operations are tried. */
  readonly runs: number;
  /** From the report of a failure, to run exactly that again. */
  readonly seed?: number;
  readonly path?: string;
}

/** Registers the test with vitest. Call it in a test file. */
export function storeModel({ name, open, runs, seed, path }: StoreModel): void {
  describe(`${name} does what a plain model does`, () => {
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

/** A store and its model, side by side through one sequence of operations. */
class Comparison {
  readonly #opened: OpenedStore;
  readonly #model = new PlainStore();
  readonly #past: Unit[] = [];
  /** Handles that were opened here, and are to be closed here. */
  readonly #handles: Store[] = [];
  readonly #indexing = new IndexingComparison({
    store: () => this.#store,
    model: this.#model,
    now: () => this.#now,
    send: (units) => this.#send(units),
    commit: (units) => this.#commitBoth(units),
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
        return this.#changes(Math.max(0, this.#model.commit - one.ago));
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
    const before = this.#model.commit;
    const expected = this.#model.apply(units, this.#now);
    const committed = await this.#send(units);
    expect(committed.outcomes.map(plainOutcome)).toEqual(expected);
    this.#expectNumber(committed.commit, before, units, expected);
    await this.#compareVersions();
    await this.#indexing.comparePending();
  }

  #again(which: number, twist: Twist): Promise<void> {
    const unit = this.#past[which % this.#past.length];
    return this.#commit(unit ? [twisted(unit, twist)] : []);
  }

  /** Where all that was written is a key to remember, or nothing that a space shows, the store may count a commit. */
  #expectNumber(commit: number, before: number, units: readonly Unit[], outcomes: readonly PlainOutcome[]): void {
    const kept = units.some((unit, at) => "done" in (outcomes[at] ?? {}) && unit.some((write) => isKept(write)));
    if (this.#model.commit === before && kept && commit === before + 1) this.#model.skipTo(commit);
    expect(commit, "the commit number").toBe(this.#model.commit);
  }

  /** However many slices the store takes, the sum must be right and each slice must be a commit of its own. */
  async #forget(target: Extract<Operation, { do: "forget" }>["target"]): Promise<void> {
    const unit: Unit = [{ op: "forget", target }];
    const before = this.#model.commit;
    const sum = { ...NOTHING_FORGOTTEN };
    let commit = before;
    let slices = 0;
    for (let remaining = true; remaining; slices++) {
      const committed = await this.#send([unit]);
      const done = doneOf(committed.outcomes[0])[0];
      if (done?.op !== "forget") throw new Error("a forget was not answered as a forget");
      sum.items += done.items;
      sum.sessions += done.sessions;
      sum.entries += done.entries;
      remaining = done.remaining;
      const changed = done.items + done.sessions + done.entries > 0;
      expect(committed.commit, "the commit number of a slice").toBe(commit + (changed ? 1 : 0));
      expect(changed || !remaining, "a slice with more to come removes something").toBe(true);
      commit = committed.commit;
    }
    if (commit > before) this.#model.skipTo(commit - 1);
    expect([{ done: [sum] }]).toEqual(this.#model.apply([unit], this.#now));
    expect(commit).toBe(this.#model.commit);
    if (slices > 1) await this.#adoptVersions(before);
    await this.#compareVersions();
    await this.#indexing.comparePending();
  }

  /** Which slice changed which space is the store's affair; the model only knows that one of them did. */
  async #adoptVersions(before: number): Promise<void> {
    const versions = await this.#store.versions(SPACES);
    for (const [at, space] of SPACES.entries()) {
      const version = versions[at] ?? Number.NaN;
      if (this.#model.version(space) !== this.#model.commit) continue;
      expect(version, "the version of a space that a slice has changed").toBeGreaterThan(before);
      expect(version).toBeLessThanOrEqual(this.#model.commit);
      this.#model.adoptVersion(space, version);
    }
  }

  #send(units: readonly Unit[]): Promise<Committed> {
    return this.#store.commit(units, this.#now, `group-${++this.#groups}`);
  }

  async #compareVersions(): Promise<void> {
    const versions = await this.#store.versions(SPACES);
    expect(versions, "the versions of all spaces").toEqual(SPACES.map((space) => this.#model.version(space)));
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

  /** Scores must be those of brute force; the order theirs, and among equals the newest first. */
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
    const hits = await this.#store.searchWords({ ...request, limit });
    expectScored(hits, scored.filter(({ score }) => score > 0).slice(0, limit));

    // Exactly these: whatever the limit, and also what no term leads to; never what is elsewhere, expired or left out.
    const known = this.#model.indexing.items.filter(({ key }) => key !== undefined);
    const ids = new Set(known.map((item) => placeOf([this.#model.indexing.lane(item).space, item.row.id])));
    const keys = [...known.flatMap(({ key }) => key ?? []), 1_000_000];
    const given = await this.#store.searchWords({ ...request, limit: 1, keys });
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

  /** Once any name has gone to another space or to none, a store may also tell everyone to start over. */
  async #changes(since: number): Promise<void> {
    const mayStartOver = SPACES.some((space) => !this.#model.changes(space, since));
    for (const space of SPACES) {
      const expected = this.#model.changes(space, since);
      if (!expected) continue;
      const { changed, ...rest } = await this.#store.changes([space], since);
      if (mayStartOver && !rest.complete) continue;
      expect(rest).toEqual({ commit: this.#model.commit, removed: expected.removed, complete: true });
      expect(changed.map(({ id, version }) => `${id}@${version}`).toSorted()).toEqual(expected.changed.toSorted());
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
    await this.#changes(0);
    await this.#indexing.compareEverything();
    expect(await this.#store.stats()).toMatchObject({ commit: this.#model.commit, items: this.#model.stored });
  }

  async #compareEntries(kind: SpaceKind): Promise<void> {
    const entries = (await this.#store.entries({ kind, limit: 1000 })).items.map(withoutId);
    expect(entries.toSorted(byPlace)).toEqual(this.#model.entries(kind).toSorted(byPlace));
  }
}

/** Whether a write may leave something behind that changes no space. */
function isKept(write: Unit[number]): boolean {
  return write.op === "index" || write.op === "park" || (write.op === "add" && write.idempotency !== undefined);
}

function plainOutcome(outcome: Outcome): PlainOutcome {
  if (!outcome.ok) return { code: outcome.error.code };
  return {
    done: outcome.done.map((done) =>
      done.op === "register" || done.op === "amend" ? { ...done, entry: withoutId(done.entry) } : { ...done },
    ),
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

/** Any order will do, if it is the same on both sides. */
function byPlace(a: object, b: object): number {
  const [left, right] = [a, b].map((thing) => {
    const { space, name, id } = thing as { readonly space?: object; readonly name?: string; readonly id?: string };
    return JSON.stringify([space, id, id === undefined ? name : ""]);
  });
  return (left ?? "") < (right ?? "") ? -1 : 1;
}

/** What ranking needs to know of an item must be right as well. */
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
