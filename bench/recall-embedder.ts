/** MiniLM with its vectors cached in a file, so that a second run embeds nothing. */
import { createHash } from "node:crypto";
import { appendFileSync, existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type Embedder, type EmbedderDescription, type EmbedOptions, MiniLmEmbedder } from "holdfast/embedding";

const HASH_BYTES = 16;

export class KeptEmbedder implements Embedder {
  readonly #inner = new MiniLmEmbedder();
  readonly #folder: string;
  readonly #kept = new Map<string, Float32Array>();
  #file: string | undefined;

  constructor(folder: string) {
    this.#folder = folder;
    mkdirSync(folder, { recursive: true });
  }

  get model(): string {
    return this.#inner.model;
  }

  async describe(): Promise<EmbedderDescription> {
    const description = await this.#inner.describe();
    this.#load(description);
    return description;
  }

  countTokens(texts: readonly string[]): Promise<readonly number[]> {
    return this.#inner.countTokens(texts);
  }

  async embed(texts: readonly string[], options?: EmbedOptions): Promise<readonly Float32Array[]> {
    this.#load(await this.#inner.describe());
    const hashes = texts.map(hashOf);
    const missing = texts.filter((_, at) => !this.#kept.has(hashes[at] ?? ""));
    const made = missing.length > 0 ? await this.#inner.embed(missing, options) : [];
    for (const [at, vector] of made.entries()) this.#keep(hashOf(missing[at] ?? ""), vector);
    return hashes.map((hash) => Float32Array.from(this.#kept.get(hash) as Float32Array));
  }

  close(): Promise<void> {
    return this.#inner.close();
  }

  /** One file per vector space, with records of a text's hash and its vector. */
  #load({ space: { model, runtime, dimensions } }: EmbedderDescription): void {
    if (this.#file !== undefined) return;
    this.#file = join(this.#folder, `${`${model}-${runtime}-${dimensions}`.replaceAll(/[^\w.-]/g, "_")}.vectors`);
    if (!existsSync(this.#file)) return;
    const bytes = readFileSync(this.#file);
    const size = HASH_BYTES + dimensions * 4;
    for (let at = 0; at + size <= bytes.length; at += size) {
      const numbers = bytes.subarray(at + HASH_BYTES, at + size);
      const vector = new Float32Array(dimensions);
      new Uint8Array(vector.buffer).set(numbers);
      this.#kept.set(bytes.toString("hex", at, at + HASH_BYTES), vector);
    }
  }

  #keep(hash: string, vector: Float32Array): void {
    if (this.#kept.has(hash) || this.#file === undefined) return;
    this.#kept.set(hash, Float32Array.from(vector));
    const numbers = new Uint8Array(vector.buffer, vector.byteOffset, vector.byteLength);
    appendFileSync(this.#file, Buffer.concat([Buffer.from(hash, "hex"), numbers]));
  }
}

const hashOf = (text: string): string =>
  createHash("sha256")
    .update(text)
    .digest("hex")
    .slice(0, HASH_BYTES * 2);
