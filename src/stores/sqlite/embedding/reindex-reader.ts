/** Reads the items that the next vector space lacks. Requires a snapshot. */
import type { PendingItem } from "../../indexing.js";
import type { ToReindex, ToReindexRequest } from "../../reindexing.js";
import { isSameSpace } from "../../vector-space.js";
import type { Database } from "../file/driver.js";
import { FRESH } from "../rows/lanes.js";
import { NAMES, PENDING_SELECT, readPending } from "./backlog.js";
import { NEXT_SPACE } from "./reindex-due.js";
import type { VectorTables } from "./vector-table.js";

/** Items read at once; few, because some are long. */
const PAGE = 16;

export class ReindexReader {
  readonly #database: Database;
  readonly #tables: VectorTables;

  constructor(database: Database, tables: VectorTables) {
    this.#database = database;
    this.#tables = tables;
  }

  /**
   * First the items that were never processed; after those, the items that are due again. So frequent edits do not
   * delay progress.
   */
  missing({ vectorSpace, limit, maxBytes, now }: ToReindexRequest): ToReindex {
    const next = this.#tables.next();
    if (!next || !isSameSpace(next.space, vectorSpace)) return { items: [], range: { after: 0, upTo: 0 } };
    const cursor = Number(this.#database.prepare(NEXT_SPACE).get()?.["next_cursor"]);
    const found = new Found(limit, maxBytes);
    let upTo = cursor;
    for (const { key, item } of this.#behind(cursor, now)) {
      if (!found.take(item)) return { items: found.items, range: { after: cursor, upTo } };
      upTo = key;
    }
    for (const { item } of this.#due(now)) if (!found.take(item)) break;
    return { items: found.items, range: { after: cursor, upTo } };
  }

  /** Includes expired items, without their content. */
  #behind(cursor: number, now: number) {
    return this.#pages(`item.key > ?2 ORDER BY item.key LIMIT ${PAGE}`, "", cursor, now);
  }

  #due(now: number) {
    return this.#pages(
      `${FRESH} AND next_due.error IS NULL AND item.key > ?2 ORDER BY item.key LIMIT ${PAGE}`,
      "JOIN next_due ON next_due.item = item.key",
      0,
      now,
    );
  }

  *#pages(
    where: string,
    join: string,
    after: number,
    now: number,
  ): Iterable<{ readonly key: number; readonly item: PendingItem | undefined }> {
    const page = this.#database.prepare(
      `${PENDING_SELECT}, ${FRESH} AS fresh FROM item ${join} ${NAMES} WHERE ${where}`,
    );
    for (let last: number | undefined = after; last !== undefined; ) {
      const rows = page.all(now, last);
      for (const row of rows)
        yield { key: Number(row["key"]), item: row["fresh"] === 1 ? readPending(row) : undefined };
      last = rows.length < PAGE ? undefined : Number(rows.at(-1)?.["key"]);
    }
  }
}

/** Collects items up to a count and a size in bytes; at least one. */
class Found {
  readonly items: PendingItem[] = [];
  readonly #limit: number;
  readonly #maxBytes: number;
  #looked = 0;
  #bytes = 0;

  constructor(limit: number, maxBytes: number) {
    this.#limit = limit;
    this.#maxBytes = maxBytes;
  }

  /** False if the item does not fit. Expired items are skipped but count. */
  take(item: PendingItem | undefined): boolean {
    const bytes = item ? Buffer.byteLength(item.content) : 0;
    if (this.#looked >= this.#limit || (this.items.length > 0 && this.#bytes + bytes > this.#maxBytes)) return false;
    this.#looked++;
    this.#bytes += bytes;
    if (item) this.items.push(item);
    return true;
  }
}
