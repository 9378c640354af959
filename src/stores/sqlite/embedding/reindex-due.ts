/** Tracks the items that the next vector space has passed but lacks, inside a write transaction. */
import type { NextSpace } from "../../reindexing.js";
import type { Database, Row, Statement } from "../file/driver.js";
import { readVectorSpace } from "./vector-table.js";

export class NextDue {
  readonly #outdated: Statement;
  readonly #forget: Statement;
  readonly #uncount: Statement;

  constructor(database: Database) {
    this.#outdated = database.prepare(
      `INSERT INTO next_due (item) SELECT ?1 FROM head WHERE next_space <> 0 AND next_cursor >= ?1
       ON CONFLICT (item) DO UPDATE SET error = NULL, retry_at = NULL`,
    );
    this.#forget = database.prepare("DELETE FROM next_due WHERE item = ?");
    this.#uncount = database.prepare(
      "UPDATE head SET next_passed = next_passed - 1 WHERE next_space <> 0 AND next_cursor >= ?",
    );
  }

  /** The item's text, or text that it borrowed, has changed. It must be embedded again if the cursor has passed it. */
  outdated(item: number): void {
    this.#outdated.run(item);
  }

  /** The item is gone. */
  removed(item: number): void {
    this.#forget.run(item);
    this.#uncount.run(item);
  }
}

/** The progress of the next space. No row if there is none. */
export const NEXT_SPACE = `
  SELECT model, runtime, dimensions, head.items, head.next_cursor, head.next_passed,
    (SELECT count(*) FROM next_due) AS due, (SELECT count(*) FROM next_due WHERE error IS NOT NULL) AS refused
  FROM head JOIN vector_space ON vector_space.key = head.next_space`;

export function readNextSpace(row: Row): NextSpace {
  const [items, passed] = [Number(row["items"]), Number(row["next_passed"])];
  const [due, refused] = [Number(row["due"]), Number(row["refused"])];
  return {
    vectorSpace: readVectorSpace(row),
    embedded: passed - due,
    remaining: items - passed + due - refused,
    refused,
  };
}
