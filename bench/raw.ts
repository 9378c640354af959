/**
 * The raw side: SQLite and nothing else. It replays, on the main thread, the statements that Holdfast's writer runs,
 * on a file of the same tables and with the same settings. One setting differs: a plain program lets SQLite checkpoint
 * by itself, inside the commit that fills the log (`wal_autocheckpoint = 1000` pages).
 *
 * Of the two kinds, `same` runs every statement; `bare` only those without which nothing would be stored or found: the
 * row and its words, in transactions of the same size. What lies between them is the price of Holdfast's bookkeeping.
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

  /** Writes what was recorded, continuing where it ended the last time, and times each transaction. */
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

  /** Closes the file, log emptied, and returns its size. */
  close(): number {
    this.#database.close();
    return statSync(this.#path).size;
  }
}
