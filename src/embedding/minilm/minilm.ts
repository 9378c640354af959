/**
 * The default embedder: all-MiniLM-L6-v2, int8, in a thread of this process. It needs no key and no network: the model
 * ships inside the package. All embedders of a process share one thread, which starts with the first call and ends when
 * the last embedder is closed.
 */
import { HoldfastError } from "../../errors.js";
import type { Embedder, EmbedOptions } from "../embedder.js";
import { type MiniLmDescription, MODEL_NAME, packagedModel, type RuntimeName } from "./choice.js";
import { SharedThread } from "./shared-thread.js";
import type { PendingAnswer } from "./thread.js";
import type { Question } from "./worker.js";

/** The options of a `MiniLmEmbedder`. */
export interface MiniLmOptions {
  /**
   * node: onnxruntime-node, which is native and may be missing · web: onnxruntime-web, which runs everywhere but is
   * slow. Default: node if it can be loaded, else web. Vectors of the two can be mixed.
   */
  readonly runtime?: RuntimeName;
  /** The folder of the model's files, if not in the package: for programs that are bundled into one file. */
  readonly modelFolder?: string;
}

/** The embedding model in the package, in a thread of its own. */
export class MiniLmEmbedder implements Embedder {
  readonly model = MODEL_NAME;
  readonly #folder: string;
  readonly #runtime: RuntimeName | undefined;
  readonly #asked = new Set<PendingAnswer<unknown>>();
  #thread: SharedThread | undefined;
  #closing: Promise<void> | undefined;

  constructor({ runtime, modelFolder = packagedModel() }: MiniLmOptions = {}) {
    this.#folder = modelFolder;
    this.#runtime = runtime;
  }

  describe(): Promise<MiniLmDescription> {
    return this.#ask({ ask: "describe" });
  }

  async countTokens(texts: readonly string[]): Promise<readonly number[]> {
    this.#requireOpen();
    return texts.length === 0 ? [] : this.#ask({ ask: "count", texts });
  }

  async embed(
    texts: readonly string[],
    { signal, urgent = false }: EmbedOptions = {},
  ): Promise<readonly Float32Array[]> {
    this.#requireOpen();
    signal?.throwIfAborted();
    return texts.length === 0 ? [] : this.#ask({ ask: "embed", texts, urgent }, signal);
  }

  /** Pending calls are rejected with `closed`. */
  close(): Promise<void> {
    for (const asked of this.#asked) asked.drop(closed());
    this.#closing ??= this.#thread?.release() ?? Promise.resolve();
    return this.#closing;
  }

  async #ask<T>(question: Question, signal?: AbortSignal): Promise<T> {
    this.#requireOpen();
    this.#thread ??= SharedThread.take({ folder: this.#folder, runtime: this.#runtime });
    const asked = this.#thread.get().ask<T>(question);
    const drop = (): void => asked.drop(signal?.reason);
    this.#asked.add(asked);
    signal?.addEventListener("abort", drop);
    try {
      return await asked.answer;
    } finally {
      signal?.removeEventListener("abort", drop);
      this.#asked.delete(asked);
    }
  }

  #requireOpen(): void {
    if (this.#closing) throw closed();
  }
}

const closed = (): HoldfastError =>
  new HoldfastError("closed", "the embedder is closed", {
    hint: "create another one: it costs nothing until it is used",
  });
