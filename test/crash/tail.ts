/** What a power cut, a full disk or a dying process may leave behind the last commit in the log. */
import { copyFileSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import type { Random } from "../support/random.js";
import { openRaw } from "../support/raw.js";
import type { Log } from "./log.js";

export interface Files {
  readonly database: Buffer;
  readonly log: Buffer;
}

/** Reading closes a descriptor, which drops this process's locks on the file: no other process may be using it. */
export function readFiles(path: string): Files {
  return { database: readFileSync(path), log: readFileSync(`${path}-wal`) };
}

export function writeFiles(path: string, { database, log }: Files): void {
  rmSync(`${path}-shm`, { force: true });
  writeFileSync(path, database, { mode: 0o600 });
  writeFileSync(`${path}-wal`, log, { mode: 0o600 });
}

/**
 * The log with frames of a transaction that never came to its end: every item changed, others added, and the words
 * taken out. With next to no cache SQLite writes them to the log before it knows whether they will be committed.
 */
export function withUnfinished(files: Files, path: string): Buffer {
  writeFiles(path, files);
  const database = openRaw(path);
  try {
    database.exec(`
      PRAGMA cache_size = 4;
      PRAGMA wal_autocheckpoint = 0;
      BEGIN IMMEDIATE;
      UPDATE item SET content = 'changed by nobody' || content, version = version + 1;
      UPDATE head SET commit_no = commit_no + 1, items = items + 1000;
      INSERT INTO words (words) VALUES ('delete-all');
      CREATE TABLE unfinished AS
        WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 500)
        SELECT i, hex(randomblob(200)) AS noise FROM n;
    `);
    copyFileSync(`${path}-wal`, `${path}-copy`);
    database.exec("ROLLBACK");
  } finally {
    database.close();
  }
  return readFileSync(`${path}-copy`);
}

/** Each makes a log that ends as the given one up to its last commit, and differs behind it. */
export const TAILS: { readonly [name: string]: (files: Tail, random: Random) => Buffer } = {
  "nothing more": ({ log }) => committed(log),
  "random bytes": ({ log }, random) =>
    Buffer.concat([committed(log), random.bytes(random.between(1, 3 * log.frameSize))]),
  "zeros, as of a file made longer in advance": ({ log }, random) =>
    Buffer.concat([committed(log), Buffer.alloc(random.between(1, 3 * log.frameSize))]),
  "a transaction without its end": ({ unfinished }) => unfinished.bytes,
  "a transaction cut anywhere": ({ log, unfinished }, random) =>
    unfinished.bytes.subarray(0, random.between(log.committedEnd, unfinished.bytes.length)),
  "half a frame": ({ log, unfinished }) =>
    unfinished.bytes.subarray(0, log.committedEnd + Math.floor(log.frameSize / 2)),
  "flipped bits in a transaction without its end": ({ log, unfinished }, random) => {
    let { bytes } = unfinished;
    for (let flips = random.between(1, 20); flips > 0; flips--) {
      bytes = flip(bytes, random.between(log.committedEnd, bytes.length - 1), random);
    }
    return bytes;
  },
  "frames from further ahead": ({ log }, random) => {
    const from = random.pick(log.frames);
    return Buffer.concat([committed(log), log.bytes.subarray(from.start, from.end + log.frameSize)]);
  },
  "an end of a transaction with one wrong bit": ({ log }, random) => {
    const bytes = changedBy(log, 1);
    return flip(bytes, random.between(log.committedEnd, bytes.length - 1), random);
  },
  "right frames without an end": ({ log }) => changedBy(log, 0),
};

export interface Tail {
  /** Ends with its last commit. */
  readonly log: Log;
  /** The same log, and a transaction without its end. */
  readonly unfinished: Log;
}

/** The bytes with one bit wrong. */
export function flip(bytes: Buffer, at: number, random: Random): Buffer {
  const flipped = Buffer.from(bytes);
  flipped[at] = (flipped[at] ?? 0) ^ (1 << random.between(0, 7));
  return flipped;
}

const committed = (log: Log): Buffer => log.bytes.subarray(0, log.committedEnd);

/**
 * The log with one more frame, right in every respect, that changes the text "said" to "sung" wherever the page of the
 * last frame that contains it says so. With `ends` it is committed: then everybody must see the change.
 */
export function changedBy(log: Log, ends: 0 | 1): Buffer {
  const source = log.frames.findLast((frame) => log.pageOf(frame).includes(" said "));
  if (!source) throw new Error("no page of the log has a text");
  const content = Buffer.from(log.pageOf(source).toString("latin1").replaceAll(" said ", " sung "), "latin1");
  const last = log.frames.findLast(({ commit }) => commit);
  const sizeAfter = ends && last ? log.bytes.readUInt32BE(last.start + 4) : 0;
  return log.append([{ page: source.page, content, sizeAfter }]);
}
