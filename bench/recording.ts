/**
 * Recording: the statements that Holdfast's own writer runs for a list of adds, with their values.
 *
 * The writer works on a scratch file on this thread; every statement it runs is noted. Whatever it computes (words,
 * sequences, keys, ids) is in the values, so that a replay on an equal file does the same work in SQLite and nothing
 * else. Nothing of the product's SQL is written down here a second time.
 */
import { AGENT, type Line } from "./data.js";
import type { Database, NewRow, Product, Statement, Unit, Value, Writer } from "./product.js";

type Method = "run" | "get" | "all";

/** One statement with its values. */
export interface Step {
  readonly statement: number;
  readonly method: Method;
  readonly values: readonly Value[];
}

/** The steps of one transaction, BEGIN and COMMIT included, and how many messages it writes. */
export interface Script {
  readonly steps: readonly Step[];
  readonly messages: number;
}

const WRITER_ID = "11111111-2222-4333-8444-555555555555";

/** Records adds on one file, continuing from call to call. */
export class Recorder {
  readonly #product: Product;
  readonly #database: Database;
  readonly #writer: Writer;
  readonly #numbers = new Map<string, number>();
  #steps: Step[] = [];

  /** `path` is a copy of the empty file that the replay starts from. */
  constructor(product: Product, path: string) {
    this.#product = product;
    this.#database = product.connect(path, "writer");
    this.#database.exec("PRAGMA synchronous = OFF; PRAGMA wal_autocheckpoint = 1000");
    this.#writer = new product.Writer(this.#noting(this.#database), { path, id: WRITER_ID, busyTimeoutMs: 1000 });
  }

  /** The SQL of every statement so far, by number. */
  get sql(): readonly string[] {
    return [...this.#numbers.keys()];
  }

  /** One transaction: an add call for each line, as the WriteBuffer makes one group of them. */
  async record(lines: readonly Line[]): Promise<Script> {
    const now = Date.now();
    this.#steps = [];
    const units = lines.map((line) => this.#unitOf(line, now));
    const { outcomes } = await this.#writer.commit(units, now, this.#product.newId(now));
    const failed = outcomes.find((outcome) => !outcome.ok);
    if (failed) throw new Error(`a recorded add failed: ${JSON.stringify(failed)}`);
    return { steps: this.#steps, messages: lines.length };
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
