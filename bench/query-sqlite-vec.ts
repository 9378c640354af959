/**
 * A baseline: sqlite-vec. It uses the Euclidean distance, which orders unit vectors like the cosine, and for which it has the
 * fastest code.
 */
import { getLoadablePath } from "sqlite-vec";
import { DIMENSIONS } from "./clustered-embedder.js";
import type { Database } from "./product.js";
import { openRival } from "./query-rival-database.js";
import type { Vectors } from "./query-vectors.js";

/** A partition allocates whole chunks, of 1,024 vectors by default: 1.5 MB for a user with ten messages. */
const SMALL_USER = 100;
const SMALL_CHUNK = 32;

/** vec0 with the user as a metadata column, or as a partition key. */
export class SqliteVec {
  readonly #database: Database;
  readonly #search;

  constructor(path: string, by: "metadata" | "partition", vectors: Vectors, perUser: number) {
    const database = openRival(path);
    database.loadExtension(getLoadablePath());
    const key = by === "partition" ? "PARTITION KEY" : "";
    const chunk = by === "partition" && perUser < SMALL_USER ? `, chunk_size = ${SMALL_CHUNK}` : "";
    database.exec(
      `CREATE VIRTUAL TABLE piece USING vec0(user INTEGER ${key}, vector float[${DIMENSIONS}]${chunk}); BEGIN`,
    );
    const insert = database.prepare("INSERT INTO piece (user, vector) VALUES (CAST(? AS INTEGER), ?)");
    const { all, users } = vectors;
    for (const [at, user] of users.entries())
      insert.run(user, bytesOf(all.subarray(at * DIMENSIONS, (at + 1) * DIMENSIONS)));
    database.exec("COMMIT");
    this.#database = database;
    this.#search = database.prepare(
      "SELECT rowid, distance FROM piece WHERE vector MATCH ? AND k = ? AND user = CAST(? AS INTEGER)",
    );
  }

  search(user: number, question: Float32Array, limit: number): number {
    return this.#search.all(bytesOf(question), limit, user).length;
  }

  close(): void {
    this.#database.close();
  }
}

const bytesOf = ({ buffer, byteOffset, byteLength }: Float32Array): Uint8Array =>
  new Uint8Array(buffer as ArrayBuffer, byteOffset, byteLength);
