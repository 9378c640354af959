/**
 * An embedder that answers one background call at a time, when the test lets it: so a test counts slices instead of
 * seconds. Urgent calls are answered at once.
 */
import { HashEmbedder } from "holdfast/testing";
import { until } from "../support/until.js";

/** The size of its slices. */
export const SLICE_BYTES = 2_048;

export class SteppedEmbedder extends HashEmbedder {
  /** The texts of each background call that has come, in order. */
  readonly asked: (readonly string[])[] = [];
  #held: (() => void)[] = [];
  #isFree = false;

  override async describe(): ReturnType<HashEmbedder["describe"]> {
    return { ...(await super.describe()), sliceBytes: SLICE_BYTES };
  }

  override async embed(...[texts, options]: Parameters<HashEmbedder["embed"]>): ReturnType<HashEmbedder["embed"]> {
    if (!options?.urgent) {
      this.asked.push([...texts]);
      if (!this.#isFree) await this.#turn(options?.signal);
    }
    return super.embed(texts, options);
  }

  /** How many background calls wait. */
  get held(): number {
    return this.#held.length;
  }

  /** Answers the next background call. */
  async step(): Promise<void> {
    await until(() => this.#held.length > 0);
    this.#held.shift()?.();
  }

  /** Answers every call from now on. */
  free(): void {
    this.#isFree = true;
    for (const answer of this.#held.splice(0)) answer();
  }

  #turn(signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#held.push(resolve);
      signal?.addEventListener("abort", () => {
        this.#held = this.#held.filter((other) => other !== resolve);
        reject(signal.reason);
      });
    });
  }
}
