/**
 * The vector search of one query: exact, on one snapshot.
 *
 * In-memory mirrors find and score the nearest items; the file decides which of them are visible. A space too large for
 * a mirror was scanned in the file beforehand (`scanned`).
 */
import { scoreOf } from "../../../retrieval/vectors/codes.js";
import type { Mirror } from "../../../retrieval/vectors/mirror.js";
import { type ItemScore, Nearest } from "../../../retrieval/vectors/nearest.js";
import { Question } from "../../../retrieval/vectors/quantise.js";
import type { OutsideHits } from "../../search.js";
import { UNSENT_IN } from "../embedding/outbox-reader.js";
import type { VectorTable } from "../embedding/vector-table.js";
import type { Statements } from "../file/connection.js";
import type { SearchScope } from "../rows/scope.js";
import { all, type Condition, visibleIn } from "../rows/scope.js";
import type { Mirrors } from "./mirrors.js";
import type { VectorFile } from "./vector-file.js";

/** Up to this many known items are scored directly, without scanning all others. */
const FEW = 256;
/** The same limit where a mirror would have to be loaded first. */
const FEW_UNLOADED = 4_096;
/**
 * If more than `MANY` items pass a filter, the `TRIED` nearest probably include enough passing ones, so they are tried
 * first.
 */
const MANY = 2_048;
const TRIED = 1_024;
/** The factor of candidates per wanted item, because some may have expired. */
const SPARE = 1.25;

/** The scores of spaces without a mirror, by space key. */
export type Scanned = ReadonlyMap<number, readonly ItemScore[]>;

export interface VectorSearchParts {
  readonly statements: Statements;
  readonly file: VectorFile;
  readonly mirrors: Mirrors;
}

export class VectorSearch {
  readonly #parts: VectorSearchParts;
  readonly #scope: SearchScope;
  readonly #table: VectorTable;
  readonly #question: Question;
  readonly #scanned: Scanned;
  /** The loaded mirrors, by space key. */
  readonly #mirrors: ReadonlyMap<number, Mirror>;
  /** The only items in scope, if the filter names sessions and these have few items. */
  readonly #keys: readonly number[] | undefined;

  /** Requires one snapshot for the lifetime of the object, up to which the mirrors have caught up. */
  constructor(
    parts: VectorSearchParts,
    scope: SearchScope,
    table: VectorTable,
    vector: Float32Array,
    scanned: Scanned,
  ) {
    this.#parts = parts;
    this.#scope = scope;
    this.#table = table;
    this.#question = new Question(vector);
    this.#scanned = scanned;
    const mirrors = scope.spaces.map(({ key }) => [key, parts.mirrors.find(key)] as const);
    this.#mirrors = new Map(mirrors.flatMap(([key, mirror]) => (mirror ? [[key, mirror]] : [])));
    this.#keys = scope.sessions && this.#keysOf(scope.sessions);
  }

  /** The spaces whose vectors must be loaded before `nearest` can search them. */
  get missing(): readonly number[] {
    return this.#keys ? [] : this.#unloaded;
  }

  get #unloaded(): readonly number[] {
    const spaces = this.#scope.spaces.map(({ key }) => key);
    return spaces.filter((key) => !this.#scanned.has(key) && !this.#mirrors.has(key));
  }

  /** The nearest items in scope. Requires that `missing` is empty. */
  nearest(limit: number): readonly ItemScore[] {
    if (this.#keys && (this.#keys.length <= FEW || this.#unloaded.length > 0)) {
      return this.scores(this.#keys).sort(nearestFirst).slice(0, limit);
    }
    for (const { key } of this.#scope.spaces) if (!this.#scanned.has(key)) this.#parts.mirrors.hit();
    const { scan } = this.#scope;
    let passing = scan && this.#matching(scan, MANY);
    for (let count = scan && !passing ? TRIED : Math.ceil(limit * SPARE); ; count *= 4) {
      const near = this.#look(passing, count);
      const found = this.#visible(near, limit);
      if (found.length >= limit || near.length < count) return found;
      passing ??= scan && this.#matching(scan);
    }
  }

  /** The scores of those items that are in scope and have vectors, in no particular order. */
  scores(keys: readonly number[]): ItemScore[] {
    if (keys.length === 0) return [];
    const { sql, values } = this.#scope.narrowing ?? visibleIn(this.#scope.spaces, this.#scope.now, false);
    const statement = this.#parts.statements.get(
      `SELECT json_group_array(json_array(item.key, item.space, item.indexed = item.version)) AS rows
       FROM json_each(?) AS wanted CROSS JOIN item ON item.key = wanted.value WHERE ${sql}`,
    );
    const rows = JSON.parse(String(statement.get(JSON.stringify(keys), ...values)?.["rows"])) as VisibleRow[];
    const scores: ItemScore[] = [];
    const unmirrored: number[] = [];
    for (const [key, space, isEmbedded] of rows) {
      // A mirror may still hold the old vectors of a pending item (mirror-feed.ts).
      const mirror = isEmbedded === 1 ? this.#mirrors.get(space) : undefined;
      const score = mirror?.score(key, this.#question);
      if (score !== undefined) scores.push({ key, score });
      if (!mirror) unmirrored.push(key);
    }
    return unmirrored.length === 0 ? scores : [...scores, ...this.#scoresInFile(unmirrored)];
  }

  #scoresInFile(keys: readonly number[]): ItemScore[] {
    return this.#parts.file.items(keys, this.#table).flatMap(({ key, codes }) => {
      const score = scoreOf(codes, this.#question);
      return score === undefined ? [] : { key, score };
    });
  }

  /** Merges the hits of an external index with the local scores of the items that the index may lack. */
  outside({ items, unsent }: OutsideHits, limit: number): readonly ItemScore[] {
    const behind = [...new Set([...unsent, ...this.#unsent()])];
    const known = new Map(items.map(({ key, score }) => [key, score]));
    for (const key of behind) known.delete(key);
    const embedded = this.#matching(all([visibleIn(this.#scope.spaces, this.#scope.now, false), EMBEDDED]), undefined, [
      ...known.keys(),
    ]);
    const found = [...(embedded ?? [])].map((key) => ({ key, score: known.get(key) as number }));
    return [...found, ...this.scores(behind)].sort(nearestFirst).slice(0, limit);
  }

  /** The `count` nearest items, visible or not: of all items, or only of the passing ones. */
  #look(passing: ReadonlySet<number> | undefined, count: number): readonly ItemScore[] {
    const nearest = new Nearest(count);
    for (const mirror of this.#mirrors.values())
      mirror.scan(this.#question, passing && mirror.select(passing), nearest);
    for (const [space, items] of this.#scanned) {
      if (this.#mirrors.has(space)) continue;
      for (const { key, score } of items) if (passing?.has(key) ?? true) nearest.offer(key, score);
    }
    return nearest.best();
  }

  /** The first `limit` items in scope. Requires `near` to be sorted best first. */
  #visible(near: readonly ItemScore[], limit: number): readonly ItemScore[] {
    const found: ItemScore[] = [];
    const step = Math.ceil(limit * SPARE);
    for (let at = 0; at < near.length && found.length < limit; at += step) {
      found.push(...this.scores(near.slice(at, at + step).map(({ key }) => key)));
    }
    return found.sort(nearestFirst).slice(0, limit);
  }

  #keysOf(sessions: readonly number[]): readonly number[] | undefined {
    const rows = this.#parts.statements
      .get(`SELECT key FROM item WHERE session IN (SELECT value FROM json_each(?)) LIMIT ${FEW_UNLOADED + 1}`)
      .all(JSON.stringify(sessions));
    return rows.length > FEW_UNLOADED ? undefined : rows.map((row) => Number(row["key"]));
  }

  /** Items whose vectors an external index has not acknowledged. */
  #unsent(): readonly number[] {
    const rows = this.#parts.statements
      .get(`SELECT DISTINCT item ${UNSENT_IN}`)
      .all(JSON.stringify(this.#scope.spaces.map(({ key }) => key)));
    return rows.map((row) => Number(row["item"]));
  }

  /** The items, among these or among all, that meet the condition. Undefined if there are more than `max`. */
  #matching({ sql, values }: Condition, max?: number, keys?: readonly number[]): Set<number> | undefined {
    const among = keys ? "json_each(?) AS wanted CROSS JOIN item ON item.key = wanted.value" : "item";
    const limit = max === undefined ? "" : `LIMIT ${max + 1}`;
    const statement = this.#parts.statements.get(`SELECT item.key FROM ${among} WHERE ${sql} ${limit}`);
    const rows = statement.all(...(keys ? [JSON.stringify(keys)] : []), ...values);
    return max !== undefined && rows.length > max ? undefined : new Set(rows.map((row) => Number(row["key"])));
  }
}

type VisibleRow = readonly [key: number, space: number, isEmbedded: 0 | 1];

const nearestFirst = (a: ItemScore, b: ItemScore): number => b.score - a.score || b.key - a.key;

/** Excludes pending items: they were edited, and an external index still holds the vectors of their old text. */
const EMBEDDED: Condition = { sql: "item.indexed = item.version", values: [] };
