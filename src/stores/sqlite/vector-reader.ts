/**
 * Search by vectors, exact, on a connection and in a thread of its own.
 *
 * Mirrors in memory say how high the score of each item can be; the best of those are scored from the file until no other
 * can be better. All of this is one synchronous call on one snapshot, so that the answer is what a look at every vector
 * of that snapshot would find. Only what a mirror needs to be loaded comes before, in slices, between other calls.
 *
 * Without a mirror: a few items that are known by their keys are scored at once, and a space that is too large for the
 * budget is read from the file from end to end.
 */
import { setImmediate as otherCalls, setTimeout as sleep } from "node:timers/promises";
import { HoldfastError } from "../../errors.js";
import { Bounds } from "../../retrieval/vectors/bounds.js";
import { Cosines } from "../../retrieval/vectors/cosines.js";
import type { Mirror } from "../../retrieval/vectors/mirror.js";
import { type Near, Nearest } from "../../retrieval/vectors/nearest.js";
import { Question } from "../../retrieval/vectors/quantise.js";
import type { VectorSpace } from "../../types.js";
import type { FoundItems } from "../estimates.js";
import type { MirrorStats, Scores, ScoresRequest, VectorScored, VectorsRequest } from "../indexing.js";
import { isSameSpace } from "../vector-space.js";
import { retryBusy } from "./busy.js";
import { spaceRef } from "./codec.js";
import { connect } from "./connection.js";
import type { Database } from "./driver.js";
import { all, type Condition, newestOf, readSpace, type SpaceRow } from "./filter.js";
import { MirrorFeed } from "./mirror-feed.js";
import { Mirrors } from "./mirrors.js";
import { type NearestItems, type NearestRequest, numbersOf } from "./nearest-items.js";
import { bestFirst, findBest, type Look } from "./ranking.js";
import { Registry } from "./registry.js";
import { resolveScope } from "./scope.js";
import { SMALL_ITEMS } from "./small.js";
import { Statements } from "./statements.js";
import { type ItemScore, type Scorer, VectorFile } from "./vector-file.js";
import { judged } from "./vector-scores.js";
import { type VectorTable, VectorTables } from "./vector-table.js";

/** So many items that are known by their keys are scored from the file, without a look at a mirror. */
const FEW = 256;
/** So many, where a mirror would have to be loaded first. */
const FEW_UNLOADED = 4_096;
/** If more items than the first number pass a filter, enough of the best may, so that so many of those are tried first. */
const MANY = 2_048;
const TRIED = 1_024;
/** A space whose mirror is dropped as often as this while it is loaded is read from end to end. */
const LOADS_MAX = 3;

export interface VectorReaderOptions {
  readonly path: string;
  readonly busyTimeoutMs: number;
  readonly mirrorBytes: number;
}

/** Where to look for what, on the snapshot of the moment. */
interface Plan {
  readonly table: VectorTable;
  readonly spaces: readonly SpaceRow[];
  readonly score: Scorer;
  /** The only items that can be found, if they are few. */
  readonly keys: readonly number[] | undefined;
  /** Leads to the only items that can be found; undefined if all of the spaces can. */
  readonly narrowing: Condition | undefined;
}

/** The nearest items are wanted, so many, and scored so. */
interface Wanted<T> extends Pick<Plan, "spaces" | "table"> {
  readonly vector: Float32Array;
  readonly limit: number;
  readonly score: Scorer<T>;
}

/** The scores of spaces that have no mirror, by their keys. */
type Scanned = ReadonlyMap<number, readonly ItemScore[]>;

type Step =
  | { readonly found: FoundItems<VectorScored> }
  | { readonly missing: readonly SpaceRow[]; readonly plan: Plan };

export class VectorReader {
  readonly #busyTimeoutMs: number;
  readonly #database: Database;
  readonly #statements: Statements;
  readonly #registry: Registry;
  readonly #tables: VectorTables;
  readonly #file: VectorFile;
  readonly #mirrors: Mirrors;
  readonly #feed: MirrorFeed;

  constructor({ path, busyTimeoutMs, mirrorBytes }: VectorReaderOptions) {
    this.#busyTimeoutMs = busyTimeoutMs;
    this.#database = connect(path, "vectors");
    try {
      this.#statements = new Statements(this.#database);
      this.#registry = new Registry(this.#database);
      this.#tables = new VectorTables(this.#database);
      this.#mirrors = new Mirrors(mirrorBytes); // first: where memory is short, its kernel needs it most
      this.#file = new VectorFile(this.#database, new Cosines());
      this.#feed = new MirrorFeed(this.#database, this.#mirrors);
    } catch (error) {
      this.#database.close(); // of another version, perhaps: it is opened again when the writer has brought it up to date
      throw error;
    }
  }

  async searchVectors(request: VectorsRequest): Promise<FoundItems<VectorScored>> {
    const scanned = new Map<number, readonly ItemScore[]>();
    const until = performance.now() + (request.readyMs ?? Number.POSITIVE_INFINITY);
    for (let attempt = 1; ; attempt++) {
      const step = await this.#snapshot(() => this.#attempt(request, scanned));
      if ("found" in step) return step.found;
      const { missing, plan } = step;
      const unpin = this.#mirrors.pin(plan.spaces.map(({ key }) => key));
      const prepare = async (space: SpaceRow): Promise<void> => {
        if (attempt <= LOADS_MAX && (await this.#load(space, plan.table, until))) return;
        scanned.set(space.key, await this.#scan(space.key, plan.table, request.vector));
      };
      await Promise.all(missing.map(prepare)).finally(unpin);
    }
  }

  /**
   * The nearest items of small spaces that are in memory, by key alone: what else there is to know of them, whoever asks
   * has in memory. Undefined where that does not suffice.
   */
  nearest({ spaces: refs, vectorSpace, vector, limit }: NearestRequest): Promise<NearestItems | undefined> {
    return this.#snapshot(() => {
      const table = this.#served(vectorSpace, vector);
      if (!table) return undefined;
      const spaces = this.#registry.findSpaces(refs);
      this.#feed.catchUp(table);
      const mirrors = spaces.flatMap(({ key }) => this.#mirrors.find(key) ?? []);
      if (mirrors.length < spaces.length || itemsOf(mirrors) > SMALL_ITEMS) return undefined;
      for (const _ of mirrors) this.#mirrors.hit();
      const score = (keys: readonly number[]) =>
        spaces.flatMap(({ key }) => this.#file.scores(key, keys, table, vector));
      return numbersOf(this.#findAmong(mirrors, { vector, limit, spaces, table, score }), newestOf(spaces));
    });
  }

  /** From the file, but for those of which a mirror knows that they do not come near their floor. */
  scoreVectors({ spaces: refs, vectorSpace, vector, items }: ScoresRequest): Promise<Scores> {
    return this.#snapshot(() => {
      const table = this.#served(vectorSpace, vector);
      if (!table) return { scored: [], below: [] };
      this.#feed.catchUp(table);
      const floors = new Map(items.map(({ key, floor }) => [key, floor]));
      const question = new Question(vector);
      const below: number[] = [];
      const scores = this.#registry.findSpaces(refs).flatMap(({ key: space }) => {
        const far = this.#far(space, floors, question, table);
        below.push(...far);
        const near = [...floors.keys()].filter((key) => !far.has(key));
        return this.#file.scores(space, near, table, vector);
      });
      const found = judged(items, scores);
      return { scored: found.scored, below: [...below, ...found.below] };
    });
  }

  /** Those of the items that do not come near their floor, as the mirror of the space knows, if it has one. */
  #far(space: number, floors: ReadonlyMap<number, number>, question: Question, table: VectorTable): Set<number> {
    const keys = [...floors.keys()];
    const bounds = this.#mirrors.find(space)?.boundsOf(question, keys) ?? [];
    const far = keys.filter((key, at) => Number(bounds[at] ?? Infinity) < Number(floors.get(key)));
    // A mirror may still have vectors of a text that has none any more.
    return new Set(this.#file.present(space, far, table));
  }

  mirrorStats(): MirrorStats {
    return this.#mirrors.stats();
  }

  /** Empties the mirrors of all that was forgotten. */
  sweep(): Promise<void> {
    return this.#snapshot(() => {
      const table = this.#tables.current();
      if (!table) return;
      this.#feed.catchUp(table);
      for (const space of this.#mirrors.spaces) this.#feed.removeWaiting(space, table);
    });
  }

  /** Loads the vectors of the space that was written last: it is likely to be asked first. */
  async warm(): Promise<void> {
    const newest = await this.#snapshot(() => {
      const row = this.#statements.get(NEWEST_SPACE).get();
      const table = this.#tables.current();
      if (!row || !table) return undefined;
      this.#feed.catchUp(table);
      return { space: readSpace(row, spaceRef(row["kind"], row["name"])), table };
    });
    if (newest) await this.#load(newest.space, newest.table, Number.POSITIVE_INFINITY);
  }

  leave(): void {
    this.close();
  }

  close(): void {
    this.#mirrors.clear();
    this.#database.close();
  }

  /** The answer, or the spaces that have to be made ready first. Requires a snapshot. */
  #attempt(request: VectorsRequest, scanned: Scanned): Step {
    const plan = this.#plan(request);
    if (!plan) return { found: [] };
    const { table, spaces, score, keys } = plan;
    this.#feed.catchUp(table);
    const missing = spaces.filter(({ key }) => !scanned.has(key) && !this.#mirrors.find(key));
    const areFew = keys && keys.length <= (missing.length > 0 ? FEW_UNLOADED : FEW);
    if (!areFew && missing.length > 0) return { missing, plan };
    const found = areFew ? score(keys).sort(bestFirst).slice(0, request.limit) : this.#find(request, plan, scanned);
    return { found: request.estimates ? Object.assign(found, { asOf: newestOf(spaces) }) : found };
  }

  #find(request: VectorsRequest, plan: Plan, scanned: Scanned): FoundItems<VectorScored> {
    const { spaces, score, narrowing } = plan;
    const { limit } = request;
    for (const { key } of spaces) if (!scanned.has(key)) this.#mirrors.hit();
    if (request.estimates && !narrowing && scanned.size === 0) {
      const mirrors = spaces.flatMap(({ key }) => this.#mirrors.find(key) ?? []);
      if (itemsOf(mirrors) <= SMALL_ITEMS) return this.#findAmong(mirrors, { ...request, ...plan });
    }
    let passing = narrowing && this.#matching(narrowing, MANY);
    if (narrowing && !passing) {
      const found =
        findBest(this.#looking(request, plan, undefined, limit, scanned).look, score, limit, { scoredMax: TRIED }) ??
        [];
      if (found.length >= limit) return found;
      passing = this.#matching(narrowing);
    }
    const looking = this.#looking(request, plan, passing, limit, scanned);
    const found = findBest(looking.look, score, limit) ?? [];
    if (looking.areAll || found.length >= limit) return found;
    // Too many of those that were looked at may not be seen.
    return findBest(this.#looking(request, plan, passing, Number.POSITIVE_INFINITY, scanned).look, score, limit) ?? [];
  }

  /** Looks once at everything, and tells of all that it has seen. */
  #findAmong<T extends ItemScore>(mirrors: readonly Mirror[], wanted: Wanted<T>): FoundItems<T> {
    const { vector, limit, spaces, table, score } = wanted;
    for (const { key } of spaces) this.#makeSure(key, table);
    const question = new Question(vector);
    const bounds = new Bounds(itemsOf(mirrors));
    for (const mirror of mirrors) mirror.look(question, undefined, Number.POSITIVE_INFINITY, bounds);
    const slack = Math.max(0, ...mirrors.map((mirror) => mirror.slack(question)));
    const first = bounds.contending(limit, slack);
    const found = findBest((count) => bounds.nearest(count), score, limit, { first }) ?? [];
    const unsure = spaces.map(({ key }) => this.#feed.unsure(key));
    // Damaged codes, or much that waits: whoever needs to know asks.
    if (!Number.isFinite(slack) || unsure.includes(undefined)) return found;
    const told = bounds.without(new Set(unsure.flatMap((keys = []) => keys)));
    return Object.assign(found, { estimates: { ...told, slack, isWhole: false } });
  }

  /** Compares the mirror of a space with the file, if so much was written that edits were not looked for. */
  #makeSure(space: number, table: VectorTable): void {
    const mirror = this.#mirrors.isSure(space) ? undefined : this.#mirrors.find(space);
    if (mirror) this.#mirrors.keepOnly(space, new Set(this.#file.present(space, mirror.keys(), table)));
  }

  #plan({ spaces: refs, vectorSpace, vector, filter, now, unsent }: VectorsRequest): Plan | undefined {
    const table = this.#served(vectorSpace, vector);
    if (!table) return undefined;
    const { spaces, condition, sessions } = resolveScope(this.#registry, refs, filter, now, false);
    if (!condition) return undefined;
    const isNarrow = unsent === true || Object.keys(filter).length > 0;
    const visible = unsent ? all([condition, UNSENT]) : condition;
    const scan = isNarrow && resolveScope(this.#registry, refs, filter, now, true).condition;
    return {
      table,
      spaces,
      score: this.#file.scorer(visible, table, vector),
      keys: this.#keysOf(sessions, spaces, unsent === true),
      narrowing: scan ? (unsent ? all([scan, UNSENT]) : scan) : undefined,
    };
  }

  /** The table that is served, if this is a vector of its space. Requires a snapshot. */
  #served(space: VectorSpace, vector: Float32Array): VectorTable | undefined {
    const table = this.#tables.current();
    return table && isSameSpace(table.space, space) && vector.length === space.dimensions ? table : undefined;
  }

  #keysOf(sessions: readonly number[] | undefined, spaces: readonly SpaceRow[], unsent: boolean) {
    const [sql, of] = unsent
      ? [
          `SELECT DISTINCT item AS key FROM outbox WHERE ${OF_SERVED} AND space IN (SELECT value FROM json_each(?))`,
          spaces.map(keyOf),
        ]
      : ["SELECT key FROM item WHERE session IN (SELECT value FROM json_each(?))", sessions];
    if (!of) return undefined;
    const rows = this.#statements.get(`${sql} LIMIT ${FEW_UNLOADED + 1}`).all(JSON.stringify(of));
    return rows.length > FEW_UNLOADED ? undefined : rows.map((row) => Number(row["key"]));
  }

  /** Looks at the items of all spaces, or only at those that pass; whether it has looked at all, it knows then. */
  #looking(
    { vector }: VectorsRequest,
    { spaces }: Plan,
    passing: ReadonlySet<number> | undefined,
    wanted: number,
    scanned: Scanned,
  ): { readonly look: Look; readonly areAll: boolean } {
    const question = new Question(vector);
    const looking = {
      areAll: true,
      look: (count: number): readonly Near[] => {
        const nearest = new Nearest(count);
        for (const { key } of spaces) {
          const mirror = this.#mirrors.find(key);
          const isWhole = mirror?.look(question, passing && mirror.select(passing), wanted, nearest) ?? true;
          looking.areAll &&= isWhole;
          if (mirror) continue;
          for (const item of scanned.get(key) ?? []) {
            if (passing?.has(item.key) ?? true) nearest.offer(item.key, item.score);
          }
        }
        return nearest.best();
      },
    };
    return looking;
  }

  /** The items that fulfil the condition; undefined if they are more than so many. */
  #matching({ sql, values }: Condition, max?: number): Set<number> | undefined {
    const limit = max === undefined ? "" : `LIMIT ${max + 1}`;
    const rows = this.#statements.get(`SELECT item.key FROM item WHERE ${sql} ${limit}`).all(...values);
    return max !== undefined && rows.length > max ? undefined : new Set(rows.map((row) => Number(row["key"])));
  }

  /** False if the space cannot have a mirror now. Rejects with `loading` if it takes too long; the load goes on. */
  async #load(space: SpaceRow, table: VectorTable, until: number): Promise<boolean> {
    const { key, items } = space;
    if (!this.#mirrors.canHold(key, items, items * this.#file.vectorsPerItem())) return false;
    const loading = this.#mirrors.load(key, items, (after) =>
      this.#page(table, () => {
        this.#feed.catchUp(table);
        return this.#file.codesPage(key, after, table);
      }),
    );
    if (until === Number.POSITIVE_INFINITY) return loading;
    const done = new AbortController();
    const tooLong = sleep(Math.max(0, until - performance.now()), undefined, { signal: done.signal }).then(() => {
      throw new HoldfastError("loading", "the vectors of a space are still being loaded into memory", {
        hint: "ask again in a moment, or give the search more time",
      });
    });
    return Promise.race([loading, tooLong]).finally(() => done.abort());
  }

  /** Scores all items of a space by reading it from end to end; other calls take their turn between pages. */
  async #scan(space: number, table: VectorTable, vector: Float32Array): Promise<readonly ItemScore[]> {
    const items: ItemScore[] = [];
    for (;;) {
      const after = items.at(-1)?.key ?? 0;
      const page = await this.#page(table, () => this.#file.scoredPage(space, after, table, vector));
      if (page.length === 0) return items;
      items.push(...page);
      await otherCalls();
    }
  }

  /** Nothing, if another table is served by now: whoever asked sees that on its next snapshot, and the mirrors with it. */
  #page<T>(table: VectorTable, read: () => readonly T[]): Promise<readonly T[]> {
    return this.#snapshot(() => (this.#tables.current()?.key === table.key ? read() : []));
  }

  #snapshot<T>(work: () => T): Promise<T> {
    return retryBusy(() => {
      this.#database.exec("BEGIN");
      try {
        return work();
      } finally {
        this.#database.exec("COMMIT");
      }
    }, this.#busyTimeoutMs);
  }
}

const NEWEST_SPACE =
  "SELECT key, kind, name, retention_ms, items, terms, version FROM space ORDER BY version DESC LIMIT 1";

/** Rows of the outbox about vectors of the space that is served. */
const OF_SERVED = "outbox.vector_space = (SELECT vector_space FROM head)";
const UNSENT: Condition = {
  sql: `EXISTS (SELECT 1 FROM outbox WHERE outbox.item = item.key AND ${OF_SERVED})`,
  values: [],
};

const keyOf = ({ key }: SpaceRow): number => key;
const itemsOf = (mirrors: readonly Mirror[]): number => mirrors.reduce((sum, { items }) => sum + items, 0);
