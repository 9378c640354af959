/** Job: work that takes a while, shows its progress and can be cancelled. It continues while other pages are shown. */
import { type Signal, signal } from "@preact/signals";

export type JobState<P, R> =
  | { readonly state: "idle" }
  | { readonly state: "running"; readonly progress: P | undefined; readonly startedAt: number }
  | { readonly state: "done"; readonly report: R }
  | { readonly state: "cancelled" }
  | { readonly state: "failed"; readonly error: unknown };

export interface Watch<P> {
  readonly signal: AbortSignal;
  readonly onProgress: (progress: P) => void;
}

export class Job<P, R> {
  readonly #now: Signal<JobState<P, R>> = signal({ state: "idle" });
  #end = new AbortController();

  get now(): JobState<P, R> {
    return this.#now.value;
  }

  get isRunning(): boolean {
    return this.#now.value.state === "running";
  }

  async run(work: (watch: Watch<P>) => Promise<R>): Promise<void> {
    if (this.isRunning) return;
    const end = new AbortController();
    this.#end = end;
    const startedAt = Date.now();
    this.#now.value = { state: "running", progress: undefined, startedAt };
    const onProgress = (progress: P): void => {
      if (!end.signal.aborted) this.#now.value = { state: "running", progress, startedAt };
    };
    try {
      this.#now.value = { state: "done", report: await work({ signal: end.signal, onProgress }) };
    } catch (error) {
      this.#now.value = end.signal.aborted ? { state: "cancelled" } : { state: "failed", error };
    }
  }

  cancel(): void {
    this.#end.abort(new DOMException("The user cancelled it.", "AbortError"));
  }
}
