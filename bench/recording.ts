/**
 * Recording: the statements that Holdfast's own writer runs for a list of adds, with their values.
 *
 * The writer runs on a scratch file on this thread, and every statement is recorded. Everything it computes (words, sequence
 * numbers, keys, ids) is in the values, so a replay on an equal file does the same work in SQLite and nothing else. The
 * product's SQL is not repeated here.
 */
import { closeSync, copyFileSync, fsyncSync, openSync } from "node:fs";
import { AGENT, type Line } from "./data.js";
import type { Workplace } from "./place.js";
import type { Database, NewRow, Product, Statement, Unit, Value, Writer } from "./product.js";

type Method = "run" | "get" | "all";

/** One statement with its values. */
export interface Step {
  readonly statement: number;
  readonly method: Method;
  readonly values: readonly Value[];
}

/** The steps of one transaction, including BEGIN and COMMIT, and the number of messages it writes. */
export interface Script {
  readonly steps: readonly Step[];
  readonly messages: number;
}

const WRITER_ID = "11111111-2222-4333-8444-555555555555";

/** Transactions, and the SQL of their statements by number. */
export interface Recording {
  readonly sql: readonly string[];
  readonly scripts: readonly Script[];
}

/** Records adds on one file, continuing from call to call. */
export class Recorder {
  readonly #product: Product;
  readonly #path: string;
  readonly #database: Database;
  readonly #writer: Promise<Writer>;
  readonly #numbers = new Map<string, number>();
  #steps: Step[] = [];

  constructor(place: Workplace) {
    const { product } = place;
    const path = place.newPath("scratch");
    copyFileSync(place.emptyFile, path);
    this.#product = product;
    this.#path = path;
    this.#database = product.connect(path, "writer");
    this.#database.exec("PRAGMA synchronous = OFF; PRAGMA wal_autocheckpoint = 1000");
    this.#writer = product.openWriter({ path, id: WRITER_ID, busyTimeoutMs: 1000 }, this.#noting(this.#database));
  }

  /** One transaction per group with one add per line, as the WriteBuffer groups waiting adds. */
  async record(groups: readonly (readonly Line[])[]): Promise<Recording> {
    const scripts: Script[] = [];
    const writer = await this.#writer;
    for (const lines of groups) scripts.push(await this.#recordGroup(writer, lines));
    this.#sync();
    return { sql: [...this.#numbers.keys()], scripts };
  }

  async #recordGroup(writer: Writer, lines: readonly Line[]): Promise<Script> {
    const now = Date.now();
    this.#steps = [];
    const units = lines.map((line) => this.#unitOf(line, now));
    const { outcomes } = await writer.commit(units, now, this.#product.newId(now));
    const failed = outcomes.find((outcome) => !outcome.ok);
    if (failed) throw new Error(`a recorded add failed: ${JSON.stringify(failed)}`);
    return { steps: this.#steps, messages: lines.length };
  }

  /** Flushes pending writes of the scratch file, so that they do not disturb measurements. */
  #sync(): void {
    for (const path of [this.#path, `${this.#path}-wal`]) {
      const file = openSync(path, "r+");
      fsyncSync(file);
      closeSync(file);
    }
  }

  close(): void {
    this.#database.close();
  }

  #unitOf({ conversation, message }: Line, now: number): Unit {
    const row: NewRow = {
      id: this.#product.newId(now),
      kind: "message",
      role: message.role,
      ...(message.name !== undefined && { name: message.name }),
      content: String(message.content),
      metadata: {},
      tier: "episodic",
      occurredAt: message.occurredAt === undefined ? now : Date.parse(String(message.occurredAt)),
    };
    const place = { space: { user: conversation }, agent: AGENT, session: conversation };
    return [{ op: "add", ...place, items: [row], existing: "same" }];
  }

  #noting(database: Database): Database {
    return {
      exec: (sql) => database.exec(sql),
      prepare: (sql) => this.#notingStatement(sql, database.prepare(sql)),
      close: () => database.close(),
      get isTransaction() {
        return database.isTransaction;
      },
    };
  }

  #notingStatement(sql: string, statement: Statement): Statement {
    const number = this.#numbers.get(sql) ?? this.#numbers.size;
    this.#numbers.set(sql, number);
    const note = (method: Method, values: readonly Value[]) => this.#steps.push({ statement: number, method, values });
    return {
      run: (...values) => {
        note("run", values);
        return statement.run(...values);
      },
      get: (...values) => {
        note("get", values);
        return statement.get(...values);
      },
      all: (...values) => {
        note("all", values);
        return statement.all(...values);
      },
    };
  }
}
