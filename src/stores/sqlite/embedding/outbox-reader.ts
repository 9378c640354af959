/** Reads the outbox rows to send next to an external index. Requires a snapshot. */
import { decode } from "../../../retrieval/vectors/codes.js";
import type { OutboxRow } from "../../indexing.js";
import { unitVector } from "../../point-rules.js";
import type { Database, Row } from "../file/driver.js";
import { floatsOf, type SpaceRow, spaceRef } from "../rows/codec.js";
import { UPSERT } from "./outbox.js";
import { ITEM_PLACE, PARTS, readVectorSpace, type VectorTables } from "./vector-table.js";

/** Rows read at once; few, because their vectors may be large. */
const PAGE = 64;

/**
 * Whether a row waits for its retry. A failure time in the future came from a clock that ran ahead, so it is ignored.
 */
const waits = (row: string): string => `(${row}.retry_at > ?1 AND ${row}.failed_at <= ?1)`;

/** Rows of the served vector space. The parameter is the keys of the spaces as JSON. */
export const UNSENT_IN = `FROM outbox WHERE vector_space = (SELECT vector_space FROM head)
  AND space IN (SELECT value FROM json_each(?))`;

export class OutboxReader {
  readonly #database: Database;
  readonly #tables: VectorTables;

  constructor(database: Database, tables: VectorTables) {
    this.#database = database;
    this.#tables = tables;
  }

  due(limit: number, maxBytes: number, now: number): OutboxRow[] {
    const due: OutboxRow[] = [];
    let bytes = 0;
    for (const row of this.#inOrder(now)) {
      const read = readRow(row);
      if (read.change.kind === "upsert") bytes += read.change.vectors?.byteLength ?? 0;
      if (due.length >= limit || (due.length > 0 && bytes > maxBytes)) break;
      due.push(read);
    }
    return due;
  }

  /** Items of these spaces that have rows of the served vector space. */
  unsent(spaces: readonly SpaceRow[], limit: number): number[] {
    const rows = this.#database
      .prepare(`SELECT DISTINCT item ${UNSENT_IN} LIMIT ?`)
      .all(JSON.stringify(spaces.map(({ key }) => key)), limit);
    return rows.map((row) => Number(row["item"]));
  }

  *#inOrder(now: number): Iterable<Row> {
    const page = this.#database.prepare(this.#select());
    for (let last: number | undefined = 0; last !== undefined; ) {
      const rows = page.all(now, last);
      yield* rows;
      last = rows.length < PAGE ? undefined : Number(rows.at(-1)?.["seq"]);
    }
  }

  #select(): string {
    const table = this.#tables.current();
    const [vectors, join] = table
      ? [
          `vectors, ${PARTS} AS parts_now, ${table.space.dimensions} AS dimensions_now`,
          `LEFT JOIN ${table.name} ON place = ${ITEM_PLACE} AND outbox.vector_space = ${table.key}`,
        ]
      : ["NULL AS vectors, NULL AS parts_now", ""];
    return `
      SELECT outbox.seq, outbox.item, outbox.space_id, outbox.op, outbox.parts, outbox.attempts,
        item.id, item.version, point.vector AS point_vector, point.id AS point_id, space.kind AS space_kind, space.name AS space_name, ${vectors},
        other.model, other.runtime, other.dimensions
      FROM outbox LEFT JOIN item ON item.key = outbox.item AND outbox.op = ${UPSERT} ${join}
      LEFT JOIN point ON point.key = outbox.item AND outbox.op = ${UPSERT}
      LEFT JOIN space ON space.key = outbox.space
      LEFT JOIN vector_space AS other ON other.key = outbox.vector_space AND other.key <> (SELECT vector_space FROM head)
      WHERE NOT ${waits("outbox")} AND outbox.seq > ?2 AND NOT EXISTS (
        SELECT 1 FROM outbox AS before WHERE before.item = outbox.item AND before.seq < outbox.seq AND ${waits("before")})
      ORDER BY outbox.seq LIMIT ${PAGE}`;
  }
}

function readRow(row: Row): OutboxRow {
  return {
    sequence: Number(row["seq"]),
    // A forgotten space has no name any more, and the outbox keeps none. Its id still identifies its points.
    space:
      row["space_name"] === null ? { user: String(row["space_id"]) } : spaceRef(row["space_kind"], row["space_name"]),
    spaceId: String(row["space_id"]),
    key: Number(row["item"]),
    attempts: Number(row["attempts"]),
    ...(row["model"] !== null && { other: readVectorSpace(row) }),
    change: row["op"] === UPSERT ? readUpsert(row) : { kind: "delete", parts: Number(row["parts"]) },
  };
}

/** Includes items that are gone: their ids are forgotten, and a later row deletes their points. */
function readUpsert(row: Row): OutboxRow["change"] {
  if (row["point_vector"] !== null) {
    const vectors = unitVector(floatsOf(row["point_vector"]));
    return { kind: "upsert", id: String(row["point_id"]), version: 1, vectors, parts: 1 };
  }
  const id = row["id"] === null ? "" : String(row["id"]);
  const version = Number(row["version"] ?? 0);
  if (row["vectors"] === null) return { kind: "upsert", id, version, parts: 0 };
  return {
    kind: "upsert",
    id,
    version,
    vectors: decode(row["vectors"] as Uint8Array, Number(row["dimensions_now"])),
    parts: Number(row["parts_now"]),
  };
}
