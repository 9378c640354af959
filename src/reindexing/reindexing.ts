/**
 * Reindexing: re-embeds a whole memory with another model, while every process continues with the old one.
 *
 * Progress is kept in the store: a run that was stopped or killed is continued by the next one with the same model, in
 * any process. Concurrent runs are safe but repeat the work. After the switch, processes with the old model search by
 * words alone, and report it, until they are reopened with the new one.
 */
import { RepeatableCommits } from "../buffers/hybrid/commits.js";
import { chooseEmbedder } from "../embedding/choose.js";
import type { Embedder } from "../embedding/embedder.js";
import { GuardedEmbedder } from "../embedding/guarded.js";
import { HoldfastError } from "../errors.js";
import { wrongType } from "../input/refusal.js";
import { OPTIONS, type ResolvedOptions } from "../options.js";
import { chunkStrategy } from "../retrieval/chunks/strategy.js";
import type { NextSpace } from "../stores/reindexing.js";
import type { Store } from "../stores/store.js";
import { type ReindexReport, ReindexRun } from "./reindex-run.js";

/** The options of `memory.reindex`. */
export interface ReindexOptions {
  /**
   * The model to change to, by name, as in the option `buffer.hybridBuffer.embeddingModel`, with the same server and
   * key.
   */
  readonly model?: string;
  /** Your own embedder instead. You have to close it. */
  readonly embedder?: Embedder;
  /** Called after every slice. */
  readonly onProgress?: (progress: NextSpace) => void;
  /** Stops the run with the signal's reason. Progress is kept. */
  readonly signal?: AbortSignal;
}

export class Reindexing {
  readonly #store: Store;
  readonly #options: ResolvedOptions;
  readonly #commits: RepeatableCommits;
  readonly #closing = new AbortController();
  #running: Promise<unknown> | undefined;

  constructor(store: Store, options: ResolvedOptions) {
    this.#store = store;
    this.#options = options;
    this.#commits = new RepeatableCommits(store, options.clock);
  }

  /**
   * Resolves when the new vectors are in use and the old ones are gone; another process may finish that later. One at a
   * time.
   */
  async run(options: ReindexOptions): Promise<ReindexReport> {
    if (typeof options !== "object" || options === null) throw wrongType("options", "an object", options);
    this.#requireIdle();
    const running = this.#run(options);
    this.#running = running.catch(() => undefined); // errors are reported to the caller
    try {
      return await running;
    } finally {
      this.#running = undefined;
    }
  }

  async #run({ onProgress, signal, ...choice }: ReindexOptions): Promise<ReindexReport> {
    const { clock, buffer } = this.#options;
    const embedder = this.#choose(choice);
    const guarded = new GuardedEmbedder(embedder, { clock });
    const closing = this.#closing.signal;
    const run = new ReindexRun({
      store: this.#store,
      commits: this.#commits,
      clock,
      embedder: guarded,
      strategy: chunkStrategy(buffer.hybridBuffer.chunkStrategy),
      signal: signal ? AbortSignal.any([signal, closing]) : closing,
      ...(onProgress && { onProgress }),
    });
    try {
      return await run.toTheEnd();
    } finally {
      if (embedder !== choice.embedder) await guarded.close();
    }
  }

  #choose({ model, embedder }: Pick<ReindexOptions, "model" | "embedder">): Embedder {
    if (embedder !== undefined && !OPTIONS.embedder.accepts(embedder)) {
      throw wrongType("embedder", OPTIONS.embedder.expected, embedder);
    }
    const chosen =
      embedder ??
      (model === undefined ? undefined : chooseEmbedder({ ...this.#options.embedding, model }, this.#options.clock));
    if (chosen) return chosen;
    throw new HoldfastError("invalid_input", "re-embedding needs a model, and none was given", {
      hint: "name the model, or give an embedder; to search by words only, open the memory with the model none",
    });
  }

  /** Discards an unfinished run of any process, and removes its vectors. False if there is none. */
  async abandon(): Promise<boolean> {
    this.#requireIdle();
    const { abandoned } = await this.#commits.one<"abandon_reindex">({ op: "abandon_reindex" });
    await this.#store.maintain(this.#options.clock.now(), this.#closing.signal);
    return abandoned;
  }

  #requireIdle(): void {
    this.#closing.signal.throwIfAborted();
    if (!this.#running) return;
    throw new HoldfastError("conflict", "this memory is already being re-embedded", {
      hint: "wait until that run has ended, or stop it with its signal",
    });
  }

  /** Stops the current run. Progress is kept, and the next run continues. */
  async close(): Promise<void> {
    this.#closing.abort(new HoldfastError("closed", "the memory is closed", { hint: "open it again to continue" }));
    await this.#running;
  }
}
