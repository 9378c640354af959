/** The machine that the numbers were measured on. */
import { closeSync, fsyncSync, openSync, writeSync } from "node:fs";
import { cpus, loadavg, release, totalmem } from "node:os";
import type { Workplace } from "./place.js";
import { spread } from "./timings.js";

export interface Machine {
  readonly cpu: string;
  readonly cores: number;
  readonly memoryBytes: number;
  readonly os: string;
  readonly node: string;
  readonly driver: string;
  readonly sqlite: string;
  /** Load average of the last minute. More than the number of cores makes every number doubtful. */
  readonly load: number;
  /** Median milliseconds to append 4 KiB to a file and sync it. */
  readonly syncMs: number;
}

export function describeMachine(place: Workplace): Machine {
  const { product, emptyFile } = place;
  const database = product.connect(emptyFile, "writer");
  const sqlite = String(database.prepare("SELECT sqlite_version() AS version").get()?.["version"]);
  database.close();
  return {
    cpu: cpus()[0]?.model ?? "unknown",
    cores: cpus().length,
    memoryBytes: totalmem(),
    os: `${process.platform} ${release()} ${process.arch}`,
    node: process.version,
    driver: process.getBuiltinModule("node:sqlite" as never) ? "node:sqlite" : "@photostructure/sqlite",
    sqlite,
    load: loadavg()[0] ?? Number.NaN,
    syncMs: measureSync(place.newPath("sync")),
  };
}

function measureSync(path: string): number {
  const file = openSync(path, "w");
  const page = Buffer.alloc(4096, 1);
  const times = Array.from({ length: 200 }, () => {
    const started = performance.now();
    writeSync(file, page);
    fsyncSync(file);
    return performance.now() - started;
  });
  closeSync(file);
  return spread(times).median;
}
