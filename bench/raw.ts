/**
 * The raw side: SQLite and nothing else. It replays, on the main thread, the statements that Holdfast's writer runs,
 * on a file of the same tables and with the same settings. One setting differs: a plain program lets SQLite checkpoint
 * by itself, inside the commit that fills the log (`wal_autocheckpoint = 1000` pages, which is also Holdfast's mark).
 */
import { copyFileSync, statSync } from "node:fs";
import { join } from "node:path";
import type { Line } from "./data.js";
import type { Database, Product, Statement } from "./product.js";
import { Recorder, type Script } from "./recording.js";
import { Timings } from "./timings.js";

/** Where files are made, and the empty memory that every raw file starts as. */
export interface Workplace {
  readonly folder: string;
  readonly emptyFile: string;
  readonly product: Product;
}

let files = 0;

export function newPath({ folder }: Workplace, side: "raw" | "scratch" | "holdfast"): string {
  return join(folder, `${side}-${++files}.db`);
}

/** A raw database that grows from call to call. */
export class Raw {
  readonly path: string;
  readonly #recorder: Recorder;
  readonly #database: Database;
  readonly #statements: Statement[] = [];

  constructor(place: Workplace) {
    this.path = newPath(place, "raw");
    const scratch = newPath(place, "scratch");
    for (const path of [this.path, scratch]) copyFileSync(place.emptyFile, path);
    this.#recorder = new Recorder(place.product, scratch);
    this.#database = place.product.connect(this.path, "writer");
    this.#database.exec("PRAGMA wal_autocheckpoint = 1000");
  }

  /** Does everything but the writing: texts analysed, values made, statements prepared. */
  async prepare(groups: readonly (readonly Line[])[]): Promise<readonly Script[]> {
    const scripts: Script[] = [];
    for (const lines of groups) scripts.push(await this.#recorder.record(lines));
    for (const sql of this.#recorder.sql.slice(this.#statements.length)) {
      this.#statements.push(this.#database.prepare(sql));
    }
    return scripts;
  }

  /** Writes, one transaction per script, and times each. */
  run(scripts: readonly Script[]): Timings {
    const timings = new Timings();
    for (const { steps, messages } of scripts) {
      const started = performance.now();
      for (const { statement, method, values } of steps) this.#statements[statement]?.[method](...values);
      timings.add(performance.now() - started, messages);
    }
    timings.end();
    return timings;
  }

  /** Closes the file, log emptied, and returns its size. */
  close(): number {
    this.#recorder.close();
    this.#database.close();
    return statSync(this.path).size;
  }
}
