/** Statements whose text depends on the call, prepared once for each text. For texts of which there are a few. */
import type { Database, Statement } from "./driver.js";

export class Statements {
  readonly #database: Database;
  readonly #prepared = new Map<string, Statement>();

  constructor(database: Database) {
    this.#database = database;
  }

  get(sql: string): Statement {
    const known = this.#prepared.get(sql);
    if (known) return known;
    const statement = this.#database.prepare(sql);
    this.#prepared.set(sql, statement);
    return statement;
  }
}
