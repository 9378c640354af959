/** Schedules checkpoints: when the log is copied into the file, and by which thread. */
import { HoldfastError } from "../../../errors.js";
import type { Unit } from "../../store.js";

/** A checkpoint is due after this many commits or messages. 250 single adds produce about 16 MB of log. */
const COMMITS_DUE = 250;
const MESSAGES_DUE = 1_000;

export interface CheckpointThreads {
  /** Calls a method of the writer. */
  writer(method: "assertInPlace" | "checkpoint"): Promise<void>;
  reader(method: "checkpoint"): Promise<void>;
}

export class Checkpoints {
  readonly #threads: CheckpointThreads;
  #since = { commits: 0, messages: 0 };
  #running: Promise<void> | undefined;
  #count = 0;

  constructor(threads: CheckpointThreads) {
    this.#threads = threads;
  }

  /** How many checkpoints have completed. */
  get count(): number {
    return this.#count;
  }

  committed(units: readonly Unit[]): void {
    const since = this.#since;
    since.commits++;
    for (const unit of units) for (const write of unit) since.messages += "items" in write ? write.items.length : 1;
    if (since.commits >= COMMITS_DUE || since.messages >= MESSAGES_DUE) void this.run();
  }

  /** Copies a short log if no checkpoint has done so, so that a rarely written file does not stay outdated for long. */
  async runIfAny(): Promise<void> {
    if (this.#since.commits === 0 || this.#running) return;
    this.#since = { commits: 0, messages: 0 };
    await this.#threads.writer("checkpoint");
  }

  /** Concurrent calls share one checkpoint. */
  run(): Promise<void> {
    this.#running ??= this.#run().finally(() => {
      this.#running = undefined;
    });
    return this.#running;
  }

  /** Resolves when no checkpoint is running. */
  async settled(): Promise<void> {
    await this.#running;
  }

  /**
   * Runs concurrently with commits. The reader copies the bulk of the log into the file. Then the writer, between two
   * commits, copies the rest, so that the log can restart from its beginning (overwriting a log syncs twice as fast as
   * growing it). A failure loses nothing: the log grows, and the next checkpoint copies it.
   */
  async #run(): Promise<void> {
    this.#since = { commits: 0, messages: 0 };
    try {
      await this.#threads.writer("assertInPlace");
      await this.#threads.reader("checkpoint");
      await this.#threads.writer("checkpoint");
      this.#count++;
    } catch (error) {
      if (!(error instanceof HoldfastError)) throw error;
    }
  }
}
