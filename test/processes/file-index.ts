/**
 * A VectorIndex that records its calls, line by line, in a file that outlives its process. Its calls can be made to
 * hang forever, before or after they take effect.
 */
import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { HoldfastError } from "holdfast";
import type { FoundPoint, Point, VectorIndex } from "holdfast/stores";

export type Hold = "before" | "after" | "never";

/** A point without its space. */
export interface IndexedPoint {
  readonly id: string;
  readonly key: number;
  readonly version: number;
  readonly part: number;
  /** In Base64. */
  readonly vector: string;
}

/** One line: a point that was put in place of what was there, or one that was taken out. */
export type Told = { readonly upsert: IndexedPoint } | { readonly delete: string };

export class FileIndex implements VectorIndex {
  readonly name = "a file";
  /** Calls that are being held. */
  held = 0;
  readonly #path: string;
  readonly #hold: Hold;

  constructor(path: string, hold: Hold) {
    this.#path = path;
    this.#hold = hold;
  }

  async prepare(): Promise<void> {}

  upsert(points: readonly Point[]): Promise<void> {
    return this.#take(
      points.map(({ id, key, version, part, vector }) => ({
        upsert: { id, key, version, part, vector: base64(vector) },
      })),
    );
  }

  delete(ids: readonly string[]): Promise<void> {
    return this.#take(ids.map((id) => ({ delete: id })));
  }

  async #take(lines: readonly Told[]): Promise<void> {
    if (this.#hold !== "before") appendFileSync(this.#path, lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
    if (this.#hold === "never") return;
    this.held++;
    await new Promise<never>(() => undefined);
  }

  async search(): Promise<readonly FoundPoint[]> {
    throw new HoldfastError("index_failed", "this index only writes", { hint: "ask the file" });
  }

  async close(): Promise<void> {}
}

export const base64 = ({ buffer, byteOffset, byteLength }: Float32Array | Uint8Array): string =>
  Buffer.from(buffer, byteOffset, byteLength).toString("base64");

/** All that an index was told, in order. */
export function readTold(path: string): readonly Told[] {
  if (!existsSync(path)) return [];
  return readFileSync(path, "utf8")
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as Told);
}
