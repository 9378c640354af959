/**
 * Embeddings from any server that implements OpenAI's `POST {baseUrl}/embeddings`.
 *
 * - All answers to one instance must have the same dimensions; others are refused.
 * - A request that the server refuses is halved until the offending text is found. Before a text is blamed, a harmless
 *   text is tried: if that is refused too, the fault is the model's or the server's (`embedder_failed`).
 * - The API key is sent in the request and used nowhere else.
 * - Retries are done by `GuardedEmbedder`.
 */
import { type Clock, systemClock } from "../../clock.js";
import { HoldfastError } from "../../errors.js";
import { type Endpoint, endpointOf } from "../../openai/endpoint.js";
import { post } from "../../openai/request.js";
import type { Embedder, EmbedderDescription, EmbedOptions } from "../embedder.js";
import { vectorsOf } from "./answer.js";
import { type Batch, type BatchLimits, batchesOf, halvesOf } from "./batches.js";
import { Lengths } from "./lengths.js";

/** The options of an `OpenAiEmbedder`. */
export interface OpenAiOptions {
  /** For instance https://api.openai.com/v1 or http://127.0.0.1:11434/v1. */
  readonly baseUrl: string;
  /** The model, as the server names it. */
  readonly model: string;
  /** Optional, for servers that need none. Over plain http it is sent only to this computer. */
  readonly apiKey?: string;
  /** The maximal number of texts per request. More: fewer round trips, but more to repeat when one fails. */
  readonly batchSize?: number;
  /** The maximal number of bytes of text per request, unless a single text has more. */
  readonly batchBytes?: number;
  /** Per request. */
  readonly timeoutMs?: number;
  /** Requested from the server, for models that support shorter vectors. Default: those of the model. */
  readonly dimensions?: number;
  /**
   * The longest text that the model accepts. Default: 8,191 for OpenAI's models, and 512 for others, which is safe but
   * may be too low.
   */
  readonly tokensMax?: number;
  /** Replaces the system clock, for tests. */
  readonly clock?: Clock;
}

const RUNTIME = "openai-compatible";
const BATCH_SIZE = 64;
const BATCH_BYTES = 256 * 1024;
const TIMEOUT_MS = 30_000;
/** Enough for vectors of more than 10,000 numbers of 20 digits each. */
const ANSWER_BYTES_PER_TEXT = 256 * 1024;
/** A text that every model accepts. */
const PROBE = "hello";

const CALLER = { path: "/embeddings", name: "embedder", failed: "embedder_failed" } as const;

/** Embeds with any server that implements OpenAI's embeddings. */
export class OpenAiEmbedder implements Embedder {
  readonly model: string;
  readonly #endpoint: Endpoint;
  readonly #limits: BatchLimits;
  readonly #timeoutMs: number;
  readonly #asked: number | undefined;
  readonly #clock: Clock;
  readonly #lengths: Lengths;
  readonly #underWay = new Set<AbortController>();
  /** The dimensions of all answers so far. */
  #dimensions: number | undefined;
  #probing: Promise<unknown> | undefined;
  #isClosed = false;

  constructor(options: OpenAiOptions) {
    const { baseUrl, apiKey, model, batchSize = BATCH_SIZE, batchBytes = BATCH_BYTES, dimensions, tokensMax } = options;
    const { timeoutMs = TIMEOUT_MS, clock = systemClock } = options;
    if (model === "") throw new HoldfastError("config", "the embedder's model has no name", { hint: "give a model" });
    requirePositive({ batchSize, batchBytes, timeoutMs, dimensions, tokensMax });
    this.model = model;
    this.#endpoint = endpointOf(baseUrl, apiKey, CALLER);
    this.#limits = { batchSize, batchBytes };
    this.#timeoutMs = timeoutMs;
    this.#asked = dimensions;
    this.#clock = clock;
    this.#lengths = new Lengths(model, tokensMax, clock);
  }

  async describe(): Promise<EmbedderDescription> {
    this.#requireOpen();
    while (this.#dimensions === undefined) {
      this.#probing ??= this.#embed({ texts: [PROBE], offset: 0 }).finally(() => {
        this.#probing = undefined;
      });
      await this.#probing;
    }
    return {
      space: { model: this.model, runtime: RUNTIME, dimensions: this.#dimensions },
      tokensMax: this.#lengths.tokensMax,
    };
  }

  async countTokens(texts: readonly string[]): Promise<readonly number[]> {
    this.#requireOpen();
    return this.#lengths.count(texts);
  }

  async embed(texts: readonly string[], { signal }: EmbedOptions = {}): Promise<readonly Float32Array[]> {
    this.#requireOpen();
    signal?.throwIfAborted();
    const batches = batchesOf(texts, this.#limits);
    const tooLong = await this.#lengths.findTooLong(texts);
    if (tooLong >= 0) throw this.#tooLong(tooLong);
    const vectors: Float32Array[] = [];
    for (const batch of batches) vectors.push(...(await this.#embed(batch, signal)));
    return vectors;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    for (const controller of this.#underWay) controller.abort(closedError());
    await this.#lengths.close();
  }

  async #embed(batch: Batch, signal?: AbortSignal): Promise<Float32Array[]> {
    const outcome = await this.#ask(batch, signal);
    if (outcome.refused === undefined) return outcome.vectors;
    if (batch.texts.length === 1) throw await this.#refusal(batch, outcome.refused, signal);
    const [left, right] = halvesOf(batch);
    const vectors = await this.#embed(left, signal);
    return [...vectors, ...(await this.#embed(right, signal))];
  }

  async #ask({ texts, offset }: Batch, signal?: AbortSignal): Promise<Outcome> {
    this.#requireOpen();
    signal?.throwIfAborted();
    const controller = new AbortController();
    const abort = (): void => controller.abort(signal?.reason);
    signal?.addEventListener("abort", abort);
    this.#underWay.add(controller);
    try {
      const reply = await post(this.#endpoint, this.#body(texts), {
        clock: this.#clock,
        timeoutMs: this.#timeoutMs,
        answerBytesMax: (texts.length + 1) * ANSWER_BYTES_PER_TEXT,
        controller,
      });
      if ("refused" in reply) return reply;
      const dimensions = this.#dimensions ?? this.#asked;
      const vectors = vectorsOf(reply.answer, { texts: texts.length, dimensions, offset });
      this.#dimensions = vectors[0]?.length;
      return { vectors };
    } finally {
      this.#underWay.delete(controller);
      signal?.removeEventListener("abort", abort);
    }
  }

  #body(texts: readonly string[]): object {
    // A lone surrogate cannot be encoded; some servers refuse the whole request because of one.
    const input = texts.map((text) => text.toWellFormed());
    const dimensions = this.#asked === undefined ? {} : { dimensions: this.#asked };
    return { model: this.model, input, encoding_format: "float", ...dimensions };
  }

  /** Finds out whether the text or the server is at fault when a request for one text is refused. */
  async #refusal({ texts, offset }: Batch, status: number, signal?: AbortSignal): Promise<HoldfastError> {
    const isProbe = texts[0] === PROBE;
    const probe = isProbe ? { refused: status } : await this.#ask({ texts: [PROBE], offset: 0 }, signal);
    if (probe.refused === undefined) {
      return new HoldfastError("text_refused", `the embedding server refuses text ${offset} (status ${status})`, {
        hint: "it may be empty, or longer than the model accepts: set tokensMax, so that texts are cut to fit",
        details: { index: offset, status },
      });
    }
    return new HoldfastError("embedder_failed", `${this.#endpoint.shown} refuses every text (status ${status})`, {
      hint: "check the model's name, and whether it supports the requested dimensions",
      details: { status },
    });
  }

  #tooLong(index: number): HoldfastError {
    const { tokensMax } = this.#lengths;
    return new HoldfastError("text_refused", `text ${index} has more than ${tokensMax} tokens`, {
      hint: "cut it into pieces; if the model accepts more, set tokensMax",
      details: { index, tokensMax },
    });
  }

  #requireOpen(): void {
    if (this.#isClosed) throw closedError();
  }
}

type Outcome =
  | { readonly vectors: Float32Array[]; readonly refused?: undefined }
  | { readonly refused: number; readonly vectors?: undefined };

function requirePositive(numbers: { readonly [name: string]: number | undefined }): void {
  for (const [name, value] of Object.entries(numbers)) {
    if (value === undefined || (Number.isSafeInteger(value) && value > 0)) continue;
    throw new HoldfastError("config", `the embedder's ${name} is not a whole number above zero`, {
      hint: "omit it to use the default",
    });
  }
}

const closedError = (): HoldfastError =>
  new HoldfastError("closed", "the embedder is closed", { hint: "open another one" });
