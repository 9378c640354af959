/**
 * Reading vectors: the nearest items to a question by a plain scan, and the chunks of items.
 *
 * The scan reads a page of vectors at a time, each on a snapshot of its own, so that a large space does not keep the log
 * from being emptied. What it finds is checked against the items afterwards, on one snapshot: an item that is gone,
 * hidden, or whose vectors are no longer those that were read, is dropped and the next best takes its place.
 */
import { chunkId } from "../../retrieval/chunks/id.js";
import { bestDot } from "../../retrieval/vectors/dot.js";
import type { SpaceRef } from "../../types.js";
import type { StoredChunk, VectorScored, VectorsRequest } from "../indexing.js";
import { spaceRef } from "./codec.js";
import type { Database, Row } from "./driver.js";
import { all, type Condition, visibleIn } from "./filter.js";
import { type Near, Nearest } from "./nearest.js";
import type { Registry } from "./registry.js";
import { resolveScope } from "./scope.js";
import {
  ITEM_PLACE,
  isSameSpace,
  PLACE,
  SPACE_END,
  unpackSpans,
  unpackVectors,
  type VectorTable,
  type VectorTables,
} from "./vector-table.js";

/** Rows read at a time: a few milliseconds. */
const PAGE = 512;
/** More items than this are found faster by reading all vectors of their space in a row. */
const KEYS_MAX = 4_096;
/** How many of the best are checked first. If too few of them may be seen, four times as many are. */
const CHECKED_MIN = 64;

type Snapshot = <T>(work: () => T) => T;

export class VectorReader {
  readonly #database: Database;
  readonly #registry: Registry;
  readonly #tables: VectorTables;
  readonly #snapshot: Snapshot;

  constructor(database: Database, registry: Registry, tables: VectorTables, snapshot: Snapshot) {
    this.#database = database;
    this.#registry = registry;
    this.#tables = tables;
    this.#snapshot = snapshot;
  }

  /** Requires that no snapshot is open. */
  search(request: VectorsRequest): VectorScored[] {
    const plan = this.#snapshot(() => this.#plan(request));
    if (!plan) return [];
    const { table, condition, spaces, keys } = plan;
    const nearest = new Nearest();
    for (const space of spaces) {
      const pages = keys ? this.#vectorsOf(space, keys, table) : this.#vectorsIn(space, table);
      for (const row of pages) {
        const best = bestDot(unpackVectors(row["vectors"]), request.vector);
        if (best) nearest.add({ key: Number(row["item"]), commit: Number(row["commit_no"]), ...best });
      }
    }
    return this.#snapshot(() => this.#check(nearest, condition, table, request.limit));
  }

  /** Where to look: in the spaces, or only at these items of them. */
  #plan({ spaces: refs, vectorSpace, vector, filter, now, unsent }: VectorsRequest) {
    const table = this.#tables.current();
    if (!table || !isSameSpace(table.space, vectorSpace) || vector.length !== vectorSpace.dimensions) return undefined;
    const scope = resolveScope(this.#registry, refs, filter, now, false);
    if (!scope.condition) return undefined;
    const isUnsent = { sql: "EXISTS (SELECT 1 FROM outbox WHERE outbox.item = item.key)", values: [] };
    const condition = unsent ? all([scope.condition, isUnsent]) : scope.condition;
    const spaces = scope.spaces.map(({ key }) => key);
    const keys = this.#keysOf(scope.sessions, spaces, unsent === true);
    return { table, condition, spaces, ...(keys && { keys }) };
  }

  /** The only items that can be found, if they are few enough to be looked up one by one. */
  #keysOf(sessions: readonly number[] | undefined, spaces: readonly number[], unsent: boolean): number[] | undefined {
    const [sql, keys] = unsent
      ? ["SELECT DISTINCT item AS key FROM outbox WHERE space IN (SELECT value FROM json_each(?))", spaces]
      : ["SELECT key FROM item WHERE session IN (SELECT value FROM json_each(?))", sessions];
    if (!keys) return undefined;
    const rows = this.#database.prepare(`${sql} LIMIT ${KEYS_MAX + 1}`).all(JSON.stringify(keys));
    return rows.length > KEYS_MAX ? undefined : rows.map((row) => Number(row["key"]));
  }

  *#vectorsIn(space: number, { name }: VectorTable): Iterable<Row> {
    const page = this.#database.prepare(
      `SELECT item, commit_no, vectors FROM ${name} WHERE place > ${PLACE} AND place < ${SPACE_END} ORDER BY place LIMIT ${PAGE}`,
    );
    for (let last: number | undefined = 0; last !== undefined; ) {
      const rows = page.all(space, last, space);
      yield* rows;
      last = rows.length < PAGE ? undefined : Number(rows.at(-1)?.["item"]);
    }
  }

  *#vectorsOf(space: number, keys: readonly number[], { name }: VectorTable): Iterable<Row> {
    const one = this.#database.prepare(`SELECT item, commit_no, vectors FROM ${name} WHERE place = ${PLACE}`);
    for (const key of keys) {
      const row = one.get(space, key);
      if (row) yield row;
    }
  }

  #check(nearest: Nearest, condition: Condition, table: VectorTable, limit: number): VectorScored[] {
    const found: VectorScored[] = [];
    for (let checked = 0, count = Math.max(CHECKED_MIN, limit * 2); found.length < limit && checked < nearest.size; ) {
      const more = nearest.best(count).slice(checked);
      found.push(...this.#visible(more, condition, table));
      checked += more.length;
      count *= 4;
    }
    return found.slice(0, limit);
  }

  /** Those that may be seen and are still what was read, in the same order. */
  #visible(candidates: readonly Near[], condition: Condition, { name }: VectorTable): VectorScored[] {
    const rows = this.#database
      .prepare(
        `SELECT item.key, item.id, item.version, ${name}.commit_no, space.kind AS space_kind, space.name AS space_name
         FROM json_each(?) AS candidate CROSS JOIN item ON item.key = candidate.value
         JOIN ${name} ON place = ${ITEM_PLACE} JOIN space ON space.key = item.space WHERE ${condition.sql}`,
      )
      .all(JSON.stringify(candidates.map(({ key }) => key)), ...condition.values);
    const byKey = new Map(rows.map((row) => [Number(row["key"]), row]));
    return candidates.flatMap(({ key, commit, score, part }) => {
      const row = byKey.get(key);
      if (!row || row["commit_no"] !== commit) return [];
      const space = spaceRef(row["space_kind"], row["space_name"]);
      return { space, key, id: String(row["id"]), version: Number(row["version"]), score, part };
    });
  }

  /** In the order of the ids. Requires a snapshot. */
  chunks(refs: readonly SpaceRef[], ids: readonly string[], now: number): StoredChunk[] {
    const table = this.#tables.current();
    const spaces = this.#registry.findSpaces(refs);
    if (!table || spaces.length === 0 || ids.length === 0) return [];
    const visible = visibleIn(spaces, now, false);
    const rows = this.#database
      .prepare(
        `SELECT item.key, item.id, item.version, spans, space.id AS space_id FROM json_each(?) AS given
         CROSS JOIN item ON item.id = given.value JOIN ${table.name} ON place = ${ITEM_PLACE}
         JOIN space ON space.key = item.space WHERE ${visible.sql} ORDER BY given.key, item.key`,
      )
      .all(JSON.stringify([...new Set(ids)]), ...visible.values);
    const lenders = this.#database.prepare(
      "SELECT item.id FROM borrow JOIN item ON item.key = borrow.lender WHERE borrower = ? ORDER BY lender",
    );
    return rows.flatMap((row) => {
      const key = Number(row["key"]);
      const borrowed = lenders.all(key).map((lender) => String(lender["id"]));
      const spans = unpackSpans(row["spans"]);
      const item = { key, item: String(row["id"]), version: Number(row["version"]), parts: spans.length, borrowed };
      return spans.map((span, part) => ({ id: chunkId(String(row["space_id"]), key, part), ...item, part, ...span }));
    });
  }
}
