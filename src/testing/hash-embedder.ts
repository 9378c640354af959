/**
 * An embedder without a model, for tests: the words of a text, hashed into buckets, form its vector. Texts that share
 * words are near each other; texts that share none are not, or only slightly. It keeps the Embedder contract, and fails
 * or violates it when a test asks it to. Calls are answered in the same turn of the event loop; nothing sleeps.
 */
import type { Embedder, EmbedderDescription, EmbedOptions } from "../embedding/embedder.js";
import { HoldfastError } from "../errors.js";

export interface HashEmbedderOptions {
  /** 64 by default. Fewer: more words share a bucket, and unrelated texts look alike. */
  readonly dimensions?: number;
  /** 256 by default. A text has two more tokens than words. */
  readonly tokensMax?: number;
  /** "hash-of-words" by default. Another model puts words into other buckets. */
  readonly model?: string;
}

const MODEL = "hash-of-words";

/** A queued call. */
interface QueuedCall {
  readonly texts: readonly string[];
  readonly urgent: boolean;
  readonly resolve: (vectors: readonly Float32Array[]) => void;
  readonly reject: (error: unknown) => void;
}

export class HashEmbedder implements Embedder {
  readonly model: string;
  readonly tokensMax: number;
  /** May be changed at any time: a caller that has the earlier description then gets wrong dimensions. */
  dimensions: number;

  #line: QueuedCall[] = [];
  #stalls = 0;
  #fault: Fault = { times: 0, error: undefined };
  #describeFault: Fault = { times: 0, error: undefined };
  #refuses: (text: string) => boolean = () => false;
  #isClosed = false;
  #calls = 0;
  #texts = 0;
  #descriptions = 0;

  constructor({ dimensions = 64, tokensMax = 256, model = MODEL }: HashEmbedderOptions = {}) {
    this.model = model;
    this.dimensions = dimensions;
    this.tokensMax = tokensMax;
  }

  /** The number of calls of `embed` with any text, whatever their outcome. */
  get calls(): number {
    return this.#calls;
  }

  /** The number of texts embedded. */
  get texts(): number {
    return this.#texts;
  }

  /** The number of calls of `describe`. */
  get descriptions(): number {
    return this.#descriptions;
  }

  /** The number of calls of `embed` on hold. */
  get waiting(): number {
    return this.#line.length;
  }

  /** Makes the next calls of `embed` fail; with Infinity all of them, until `failNext(0)`. */
  failNext(times: number, error: unknown = told("embed")): void {
    this.#fault = { times, error };
  }

  /** Makes the next calls of `describe` fail, like an embedder that cannot be loaded or reached. */
  failDescribe(times: number, error: unknown = told("describe")): void {
    this.#describeFault = { times, error };
  }

  /** Refuses the texts that match `predicate` from now on, instead of those refused so far. */
  refuse(predicate: (text: string) => boolean): void {
    this.#refuses = predicate;
  }

  /** Holds every call of `embed` from now on until the returned function is called. */
  stall(): () => void {
    this.#stalls++;
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      this.#stalls--;
      this.#serve();
    };
  }

  async describe(): Promise<EmbedderDescription> {
    this.#requireOpen();
    this.#descriptions++;
    meet(this.#describeFault);
    return {
      space: { model: this.model, runtime: "test", dimensions: this.dimensions },
      tokensMax: this.tokensMax,
    };
  }

  async countTokens(texts: readonly string[]): Promise<readonly number[]> {
    this.#requireOpen();
    return texts.map(countOf);
  }

  async embed(
    texts: readonly string[],
    { signal, urgent = false }: EmbedOptions = {},
  ): Promise<readonly Float32Array[]> {
    this.#requireOpen();
    signal?.throwIfAborted();
    if (texts.length === 0) return [];
    this.#calls++;
    let drop = (): void => {};
    try {
      return await new Promise((resolve, reject) => {
        const waiting = { texts: [...texts], urgent, resolve, reject };
        this.#line.push(waiting);
        drop = () => {
          this.#line = this.#line.filter((other) => other !== waiting);
          reject(signal?.reason);
        };
        signal?.addEventListener("abort", drop);
        queueMicrotask(() => this.#serve());
      });
    } finally {
      signal?.removeEventListener("abort", drop);
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    for (const { reject } of this.#line.splice(0)) reject(closed());
  }

  /** Answers all queued calls, urgent ones first. */
  #serve(): void {
    if (this.#stalls > 0) return;
    const line = this.#line.splice(0);
    for (const { texts, resolve, reject } of [...line.filter(isUrgent), ...line.filter((call) => !isUrgent(call))]) {
      try {
        resolve(this.#embed(texts));
      } catch (error) {
        reject(error);
      }
    }
  }

  #embed(texts: readonly string[]): Float32Array[] {
    meet(this.#fault);
    const index = texts.findIndex((text) => countOf(text) > this.tokensMax || this.#refuses(text));
    if (index >= 0) {
      throw new HoldfastError("text_refused", `text ${index} is too long, or was to be refused`, {
        hint: `give texts of at most ${this.tokensMax} tokens`,
        details: { index },
      });
    }
    this.#texts += texts.length;
    const salt = this.model === MODEL ? "" : this.model;
    return texts.map((text) => vectorOf(text, this.dimensions, salt));
  }

  #requireOpen(): void {
    if (this.#isClosed) throw closed();
  }
}

const isUrgent = ({ urgent }: QueuedCall): boolean => urgent;

const closed = (): HoldfastError => new HoldfastError("closed", "the embedder is closed", { hint: "open another one" });

const told = (call: string): HoldfastError =>
  new HoldfastError("embedder_failed", `the embedder was told to fail this ${call}`, { hint: "try again" });

/** The next `times` calls fail with this error. */
interface Fault {
  times: number;
  readonly error: unknown;
}

function meet(fault: Fault): void {
  if (fault.times < 1) return;
  fault.times--;
  throw fault.error;
}

const wordsOf = (text: string): readonly string[] => text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];

const countOf = (text: string): number => wordsOf(text).length + 2;

function vectorOf(text: string, dimensions: number, salt: string): Float32Array {
  const vector = new Float32Array(dimensions);
  const words = wordsOf(text);
  for (const word of words.length > 0 ? words : [""]) {
    const bucket = hashOf(salt + word) % dimensions;
    vector[bucket] = (vector[bucket] ?? 0) + 1;
  }
  const length = Math.hypot(...vector);
  return vector.map((value) => value / length);
}

/** FNV-1a, over code units. */
function hashOf(word: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < word.length; at++) hash = Math.imul(hash ^ word.charCodeAt(at), 0x01000193);
  return (hash ^ (hash >>> 15)) >>> 0;
}
