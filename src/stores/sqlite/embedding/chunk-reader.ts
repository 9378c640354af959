/** Reads the chunks of items: their spans, and the items whose text they include. */
import { chunkId } from "../../../retrieval/chunks/id.js";
import type { SpaceRef } from "../../../types.js";
import type { StoredChunk } from "../../indexing.js";
import type { Database } from "../file/driver.js";
import type { Registry } from "../rows/registry.js";
import { visibleIn } from "../rows/scope.js";
import { ITEM_PLACE, unpackSpans, type VectorTables } from "./vector-table.js";

export class ChunkReader {
  readonly #database: Database;
  readonly #registry: Registry;
  readonly #tables: VectorTables;

  constructor(database: Database, registry: Registry, tables: VectorTables) {
    this.#database = database;
    this.#registry = registry;
    this.#tables = tables;
  }

  /** In the order of the ids. Requires a snapshot. */
  of(refs: readonly SpaceRef[], ids: readonly string[], now: number): StoredChunk[] {
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
