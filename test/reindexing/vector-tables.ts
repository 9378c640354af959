/** The tables of vectors in a file, seen through the bare driver: how many rows each has, by the model of its vectors. */
import { existsSync, readFileSync } from "node:fs";
import { encode } from "../support/product.js";
import { openRaw } from "../support/raw.js";

export interface VectorRows {
  readonly [model: string]: number;
}

export function vectorRows(path: string): VectorRows {
  const database = openRaw(path);
  try {
    const tables = database
      .prepare("SELECT name FROM sqlite_schema WHERE name GLOB 'vector_[0-9]*' AND type = 'table'")
      .all();
    return Object.fromEntries(
      tables.map(({ name }) => {
        const key = String(name).slice("vector_".length);
        const model = database.prepare(`SELECT model FROM vector_space WHERE key = ${key}`).get()?.["model"];
        return [String(model), Number(database.prepare(`SELECT count(*) AS n FROM ${name}`).get()?.["n"])];
      }),
    );
  } finally {
    database.close();
  }
}

/** Whether a vector can be read in the file or its log. */
export function isInFiles(path: string, vector: Float32Array): boolean {
  const bytes = Buffer.from(encode(vector, vector.length));
  return ["", "-wal"].some((suffix) => existsSync(path + suffix) && readFileSync(path + suffix).includes(bytes));
}
