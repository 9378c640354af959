/** The vectors of a file as Holdfast wrote them, for the baselines. */
import { DIMENSIONS } from "./clustered-embedder.js";
import type { Product } from "./product.js";

/** The pieces of all messages, grouped by user. */
export interface Vectors {
  readonly all: Float32Array;
  /** The item of each vector. */
  readonly items: readonly number[];
  readonly users: readonly number[];
}

/** Rows per read. */
const PAGE = 1_000;

/** One sequential scan: the file keeps a user's vectors together. */
export function readVectors(product: Product, path: string, pieces: number): Vectors {
  const database = product.connect(path, "reader");
  const all = new Float32Array(pieces * DIMENSIONS);
  const items: number[] = [];
  const users: number[] = [];
  const page = database.prepare(
    `SELECT place, vector_1.item, vectors, space.name FROM vector_1 CROSS JOIN item ON item.key = vector_1.item
     JOIN space ON space.key = item.space WHERE place > ? ORDER BY place LIMIT ${PAGE}`,
  );
  for (let last = 0, count = PAGE; count === PAGE; ) {
    const rows = page.all(last);
    for (const { place, item, vectors, name } of rows) {
      if (!(vectors instanceof Uint8Array)) throw new Error("the file keeps its vectors in another way by now");
      const floats = product.decode(vectors, DIMENSIONS);
      all.set(floats, items.length * DIMENSIONS);
      for (let at = 0; at < floats.length; at += DIMENSIONS) {
        items.push(Number(item));
        users.push(Number(String(name).slice("user-".length)));
      }
      last = Number(place);
    }
    count = rows.length;
  }
  database.close();
  if (items.length !== pieces) throw new Error(`${items.length} of ${pieces} vectors were read`);
  return { all, items, users };
}
