/**
 * Statements whose text depends on the call (how many spaces, which filters), prepared once for each text: to prepare
 * them anew cost up to 0.8 ms a question. There are a few texts in use at a time; when too many have come, all are let go.
 */
import type { Database, Statement } from "./driver.js";

const KEPT = 64;

export class Statements {
  readonly #database: Database;
  readonly #prepared = new Map<string, Statement>();

  constructor(database: Database) {
    this.#database = database;
  }

  get(sql: string): Statement {
    const known = this.#prepared.get(sql);
    if (known) return known;
    if (this.#prepared.size >= KEPT) this.#prepared.clear();
    const statement = this.#database.prepare(sql);
    this.#prepared.set(sql, statement);
    return statement;
  }
}
