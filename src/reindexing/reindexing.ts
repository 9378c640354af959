/**
 * Reindexing: embeds a whole memory anew with another model, while every process goes on with the old one.
 *
 * Progress is in the store: a call that was stopped or killed is taken up by the next one with the same model, in whichever
 * process. Several at once do no harm, but the work is done several times. After the switch, processes with the old model
 * answer by words alone, and say so, until they are opened with the new one.
 */
import { RepeatableCommits } from "../buffers/hybrid/commits.js";
import { chooseEmbedder } from "../embedding/choose.js";
import type { Embedder } from "../embedding/embedder.js";
import { GuardedEmbedder } from "../embedding/guarded.js";
import { HoldfastError } from "../errors.js";
import type { ResolvedOptions } from "../options.js";
import { chunkStrategy } from "../retrieval/chunks/strategy.js";
import type { NextSpace } from "../stores/reindexing.js";
import type { Store } from "../stores/store.js";
import { type ReindexReport, ReindexRun } from "./reindex-run.js";

export interface ReindexOptions {
  /** The model to change to, by name: as the option `buffer.hybridBuffer.embeddingModel`, with the same server and key. */
  readonly model?: string;
  /** An embedder of your own, in its place. It is yours to close. */
  readonly embedder?: Embedder;
  /** Told after every slice. */
  readonly onProgress?: (progress: NextSpace) => void;
  /** Stops it with the signal's reason. What is done is kept. */
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

  /** Resolves when the new vectors are served and the old ones are gone; others may still do that after it. One at a time. */
  async run(options: ReindexOptions): Promise<ReindexReport> {
    this.#requireIdle();
    const running = this.#run(options);
    this.#running = running.catch(() => undefined); // the caller has its error; this is to wait for
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
    const chosen =
      embedder ?? (model === undefined ? undefined : chooseEmbedder({ ...this.#options.embedding, model }));
    if (chosen) return chosen;
    throw new HoldfastError("invalid_input", "a memory is re-embedded with a model, and none was given", {
      hint: "name the model, or give an embedder; to search by words only, open the memory with the model none",
    });
  }

  /** Gives up what was begun, by whichever process, and removes its vectors. False if there is nothing of that kind. */
  async abandon(): Promise<boolean> {
    this.#requireIdle();
    const { abandoned } = await this.#commits.one<"abandon_reindex">({ op: "abandon_reindex" });
    await this.#store.maintain(this.#options.clock.now(), this.#closing.signal);
    return abandoned;
  }

  #requireIdle(): void {
    this.#closing.signal.throwIfAborted();
    if (!this.#running) return;
    throw new HoldfastError("conflict", "this memory is being re-embedded already", {
      hint: "wait until that has ended, or stop it with its signal",
    });
  }

  /** Stops what runs. What is done is kept, and the next call goes on. */
  async close(): Promise<void> {
    this.#closing.abort(new HoldfastError("closed", "the memory is closed", { hint: "open it again, and go on" }));
    await this.#running;
  }
}
