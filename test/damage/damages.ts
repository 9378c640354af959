/** Ways to damage a database file. Each changes an existing file, randomly but reproducibly. */
import {
  closeSync,
  openSync,
  readFileSync,
  readSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import type { Random } from "../support/random.js";
import { openRaw } from "../support/raw.js";

const PAGE = 4_096;

type Damage = (path: string, random: Random) => void;

/** Damages to the bytes, which also happen to a file that is open. */
export const DAMAGES: { readonly [name: string]: Damage } = {
  "cut at a page": (path, random) => truncateSync(path, PAGE * random.between(1, pages(path) - 1)),
  "cut anywhere": (path, random) => truncateSync(path, random.between(101, statSync(path).size - 1)),
  "cut to nothing": (path) => truncateSync(path, 0),
  "cut to its header": (path) => truncateSync(path, 100),
  "cut to less than a page": (path) => truncateSync(path, PAGE - 1),
  "flipped bytes": (path, random) => {
    for (let flips = random.between(1, 400); flips > 0; flips--) {
      change(path, random.between(100, statSync(path).size - 1), 1, ([byte = 0]) => [byte ^ random.between(1, 255)]);
    }
  },
  "flipped bytes in every page": (path, random) => {
    for (let page = 0; page < pages(path); page++) {
      const at = page * PAGE + (page === 0 ? 100 : 0);
      change(path, at + random.between(0, 60), 1, () => [random.between(0, 255)]);
    }
  },
  "zeroed pages": (path, random) => {
    for (let zeroed = random.between(1, 12); zeroed > 0; zeroed--) {
      change(path, PAGE * random.between(1, pages(path) - 1), PAGE, () => Buffer.alloc(PAGE));
    }
  },
  "pages of garbage": (path, random) => {
    for (let garbled = random.between(1, 12); garbled > 0; garbled--) {
      change(path, PAGE * random.between(1, pages(path) - 1), PAGE, () => random.bytes(PAGE));
    }
  },
  "pages that changed places": (path, random) => {
    for (let swapped = random.between(1, 6); swapped > 0; swapped--) {
      const from = PAGE * random.between(1, pages(path) - 1);
      let bytes: Uint8Array = Buffer.alloc(PAGE);
      change(path, from, PAGE, (old) => {
        bytes = Uint8Array.from(old);
        return old;
      });
      change(path, PAGE * random.between(1, pages(path) - 1), PAGE, () => bytes);
    }
  },
  garbage: (path, random) => writeFileSync(path, random.bytes(64 * 1024)),
  "no data of the words index": (path) => renameTable(path, "words_data"),
  "no index of the words index": (path) => renameTable(path, "words_idx"),
  "no settings of the words index": (path) => renameTable(path, "words_config"),
};

/** Changes to the tables by another program. */
export const ALTERED: { readonly [name: string]: string } = {
  "no items": "DROP TABLE item",
  "no head": "DROP TABLE head",
  "an empty head": "DELETE FROM head",
  "no spaces": "DROP TABLE space",
  "no sessions": "DROP TABLE session",
  "no blocks": "DROP TABLE block_edit",
  "no facts": "DROP TABLE fact",
  "no ledger": "DROP TABLE ledger",
  "no keys": "DROP TABLE api_key",
  "no vectors": "DROP TABLE vector_1",
  "no index of items": "DROP INDEX item_name; DROP INDEX item_around; DROP INDEX item_lane",
  "metadata that is no JSON": "UPDATE item SET metadata = '{', parts = '['",
  "no words": "UPDATE item SET words = '*' || words || '*x', length = -1",
  "vectors of another length": "UPDATE vector_1 SET vectors = x'0102', spans = x''",
  "receipts that are no JSON": "UPDATE receipt SET ids = '{', sequences = ''",
};

/** Changes the tables with another connection. Tables that cannot be altered are left unchanged. */
export function alterTables(path: string, sql: string): void {
  const database = openRaw(path);
  try {
    for (const statement of sql.split("; ")) {
      try {
        database.exec(statement);
      } catch {
        // This file has no such table.
      }
    }
    database.exec("PRAGMA wal_checkpoint(TRUNCATE)");
  } finally {
    database.close();
  }
  for (const ending of ["-wal", "-shm"]) rmSync(path + ending, { force: true });
}

/** SQLite protects such tables from statements, but renaming them in the bytes of the schema works. */
function renameTable(path: string, name: string): void {
  const bytes = readFileSync(path);
  for (let at = bytes.indexOf(name); at >= 0; at = bytes.indexOf(name, at + 1)) bytes.write("x", at);
  writeFileSync(path, bytes);
}

const pages = (path: string): number => Math.floor(statSync(path).size / PAGE);

function change(path: string, at: number, length: number, make: (old: Uint8Array) => ArrayLike<number>): void {
  const file = openSync(path, "r+");
  try {
    const bytes = Buffer.alloc(length);
    readSync(file, bytes, 0, length, at);
    writeSync(file, Uint8Array.from(make(bytes)), 0, length, at);
  } finally {
    closeSync(file);
  }
}
