/** Reads points, and compares them with a vector. Requires a snapshot. */
import type { Json, Page } from "../../../types.js";
import { cosine, requireDimensions } from "../../point-rules.js";
import type { NearestRequest, PointHit, PointsRequest, VectorPoint } from "../../points.js";
import type { Statements } from "../file/connection.js";
import type { Row } from "../file/driver.js";
import { floatsOf, type SpaceRow } from "../rows/codec.js";
import type { Registry } from "../rows/registry.js";

/** Upper bounds on the bytes of vectors and on the points that one step of a comparison reads: a few milliseconds of work. */
const STEP_BYTES = 1024 * 1024;
const STEP_POINTS = 4_096;
/** Upper bound on the bytes of vectors in a page of a list. A page has at least one point. */
const PAGE_BYTES = 1024 * 1024;

/** Where a comparison is: the index of a space, and the key of the last point that was compared there. */
export interface NearestPlace {
  readonly space: number;
  readonly after: number;
}

export interface NearestStep {
  readonly hits: readonly PointHit[];
  /** Undefined at the end. */
  readonly next: NearestPlace | undefined;
}

interface Found {
  readonly rows: readonly Row[];
  readonly more: boolean;
}

export const FIRST_PLACE: NearestPlace = { space: 0, after: 0 };

const COLUMNS = `point.key, point.id, point.stored_at, point.vector, point.payload, session.name AS session_name,
  collection.key AS collection_key, collection.name AS collection_name`;
const FROM = `FROM collection JOIN point ON point.collection = collection.key
  LEFT JOIN session ON session.key = point.session`;
/** Parameters: the space, and the time since which a point must have been stored. */
const KEPT = "collection.space = ? AND point.stored_at > ?";

const BY_ID = `SELECT ${COLUMNS} ${FROM} WHERE ${KEPT} AND collection.name = ? AND point.id = ?`;
const OF_SESSION = `SELECT ${COLUMNS} ${FROM} WHERE ${KEPT} AND point.session = ? AND point.key > ?
  ORDER BY point.key LIMIT ?`;
const COLLECTIONS = "SELECT key, dimensions FROM collection WHERE space = ? AND key >= ? ORDER BY key";
const COLLECTION = "SELECT key, dimensions FROM collection WHERE space = ? AND name = ?";
const OF_COLLECTION = `SELECT ${COLUMNS} ${FROM} WHERE ${KEPT} AND collection.key = ? AND point.key > ?
  ORDER BY point.key LIMIT ?`;
const VECTORS = "SELECT key, vector, stored_at FROM point WHERE collection = ? AND key > ? ORDER BY key LIMIT ?";
const BY_KEY = `SELECT ${COLUMNS} ${FROM} WHERE point.key = ?`;

export class PointReader {
  readonly #statements: Statements;
  readonly #registry: Registry;

  constructor(statements: Statements, registry: Registry) {
    this.#statements = statements;
    this.#registry = registry;
  }

  points({ space: ref, session, collection, ids, limit, cursor, now }: PointsRequest): Page<VectorPoint> {
    const space = this.#registry.findSpace(ref);
    if (!space) return { items: [] };
    const kept = [space.key, keptSince(space, now)] as const;
    const read = (row: Row): VectorPoint => ({ ...readPoint(row, space), vector: floatsOf(row["vector"]) });
    if (ids) {
      const byId = this.#statements.get(BY_ID);
      const rows = ids.flatMap((id): Row | readonly Row[] => byId.get(...kept, collection ?? "", id) ?? []);
      return { items: rows.map(read) };
    }
    const list = ["points", space.key, session, collection] as const;
    const [from, after] = cursor === undefined ? ([0, 0] as const) : this.#registry.cursors.open(list, cursor);
    const { rows, more } =
      session === undefined
        ? this.#inCollections(this.#collections(space, collection, from), kept, { from, after, limit })
        : this.#ofSession(space, session, kept, after, limit);
    const items = rows.map(read);
    const last = rows.at(-1);
    if (!more || !last) return { items };
    return { items, next: this.#registry.cursors.seal(list, [Number(last["collection_key"]), Number(last["key"])]) };
  }

  #ofSession(space: SpaceRow, name: string, kept: readonly [number, number], after: number, limit: number): Found {
    const session = this.#registry.findSession(space.key, name);
    const rows = session ? this.#statements.get(OF_SESSION).all(...kept, session.key, after, limit + 1) : [];
    return { rows: rows.slice(0, limit), more: rows.length > limit };
  }

  #collections({ key }: SpaceRow, name: string | undefined, from: number): Row[] {
    if (name === undefined) return this.#statements.get(COLLECTIONS).all(key, from);
    return this.#statements.get(COLLECTION).all(key, name);
  }

  #inCollections(
    collections: readonly Row[],
    kept: readonly [number, number],
    { from, after, limit }: { readonly from: number; readonly after: number; readonly limit: number },
  ): Found {
    const statement = this.#statements.get(OF_COLLECTION);
    const rows: Row[] = [];
    let room = PAGE_BYTES;
    for (const { key, dimensions } of collections) {
      const bytes = Number(dimensions) * Float32Array.BYTES_PER_ELEMENT;
      const most = Math.max(rows.length === 0 ? 1 : 0, Math.min(limit - rows.length, Math.floor(room / bytes)));
      const found = statement.all(...kept, Number(key), Number(key) === from ? after : 0, most + 1);
      rows.push(...found.slice(0, most));
      if (found.length > most) return { rows, more: true };
      room -= found.length * bytes;
    }
    return { rows, more: false };
  }

  /** Compares the next points. Returns those that score above `floor`, best first. */
  nearest(request: NearestRequest, { space: at, after }: NearestPlace, floor: number): NearestStep {
    const { spaces, collection: name, vector, limit, now } = request;
    const ref = spaces[at];
    if (!ref) return { hits: [], next: undefined };
    const nextSpace = { space: at + 1, after: 0 };
    const space = this.#registry.findSpace(ref);
    const collection = space && this.#statements.get(COLLECTION).get(space.key, name);
    if (!space || !collection) return { hits: [], next: nextSpace };
    requireDimensions(Number(collection["dimensions"]), vector);

    const most = Math.max(1, Math.min(STEP_POINTS, Math.floor(STEP_BYTES / vector.byteLength)));
    const rows = this.#statements.get(VECTORS).all(Number(collection["key"]), after, most);
    const since = keptSince(space, now);
    const scored = rows
      .filter((row) => Number(row["stored_at"]) > since)
      .map((row) => ({ key: Number(row["key"]), score: cosine(floatsOf(row["vector"]), vector) }))
      .filter(({ score }) => score > floor)
      .sort((a, b) => b.score - a.score || a.key - b.key)
      .slice(0, limit);
    const byKey = this.#statements.get(BY_KEY);
    const hits = scored.map(({ key, score }) => ({ ...readPoint(byKey.get(key) as Row, space), score }));
    const last = rows.length < most ? undefined : rows.at(-1);
    return { hits, next: last ? { space: at, after: Number(last["key"]) } : nextSpace };
  }
}

/** Points stored at this time or before have expired. */
const keptSince = ({ retentionMs }: SpaceRow, now: number): number =>
  retentionMs === null ? Number.MIN_SAFE_INTEGER : now - retentionMs;

function readPoint(row: Row, { ref: space }: SpaceRow): Omit<VectorPoint, "vector"> {
  return {
    space,
    collection: String(row["collection_name"]),
    id: String(row["id"]),
    ...(row["session_name"] !== null && { session: String(row["session_name"]) }),
    payload: JSON.parse(String(row["payload"])) as Json,
    storedAt: Number(row["stored_at"]),
  };
}
