/**
 * The raw side: SQLite alone. On the main thread, it replays the statements that Holdfast's writer runs, on a file with the
 * same tables and settings. One setting differs: as in a plain program, SQLite checkpoints by itself, inside the commit that
 * fills the log (`wal_autocheckpoint = 1000` pages).
 *
 * `same` runs every statement; `bare` runs only those needed to store and find: the row and its words, in transactions of the
 * same size. The difference is the cost of Holdfast's bookkeeping.
 */
import { copyFileSync, statSync } from "node:fs";
import type { Workplace } from "./place.js";
import type { Database, Statement } from "./product.js";
import type { Recording, Step } from "./recording.js";
import { Timings } from "./timings.js";

export type RawKind = "same" | "bare";

const BARE = /^\s*(BEGIN|COMMIT|INSERT INTO (item|words))\b/;

/** A raw database that grows from call to call. */
export class Raw {
  readonly #path: string;
  readonly #kind: RawKind;
  readonly #database: Database;
  readonly #statements: Statement[] = [];

  constructor(place: Workplace, kind: RawKind) {
    this.#path = place.newPath(kind);
    this.#kind = kind;
    copyFileSync(place.emptyFile, this.#path);
    this.#database = place.product.connect(this.#path, "writer");
    this.#database.exec("PRAGMA wal_autocheckpoint = 1000");
  }

  /** Replays a recording, continuing where the last one ended, and times each transaction. */
  run({ sql, scripts }: Recording): Timings {
    for (const text of sql.slice(this.#statements.length)) this.#statements.push(this.#database.prepare(text));
    const kept = sql.map((text) => this.#kind === "same" || BARE.test(text));
    const ready = scripts.map(({ steps, messages }) => ({
      messages,
      steps: steps.filter(({ statement }) => kept[statement]),
    }));
    const timings = new Timings();
    for (const { steps, messages } of ready) {
      const started = performance.now();
      for (const step of steps) this.#runStep(step);
      timings.add(performance.now() - started, messages);
    }
    timings.end();
    return timings;
  }

  #runStep({ statement, method, values }: Step): void {
    this.#statements[statement]?.[method](...values);
  }

  /** Closes the file, which empties the log, and returns its size. */
  close(): number {
    this.#database.close();
    return statSync(this.#path).size;
  }
}
