/**
 * IdleCollector: returns memory to the system after a time without requests. A client keeps its server for hours and calls it
 * now and then; by itself, V8 may keep the memory of a burst for that long.
 *
 * It takes some tens of milliseconds, once after each period of work, when no one waits for an answer.
 */
import type { Clock } from "../clock.js";

const AFTER_MS = 10_000;

export class IdleCollector {
  readonly #clock: Pick<Clock, "after">;
  readonly #collect: () => Promise<void>;
  #cancel = (): void => {};

  constructor(clock: Pick<Clock, "after">, collect: () => Promise<void> = collectGarbage) {
    this.#clock = clock;
    this.#collect = collect;
  }

  /** Call this on every request. */
  used(): void {
    this.#cancel();
    this.#cancel = this.#clock.after(AFTER_MS, () => {
      this.#collect().catch(() => undefined); // not possible if Node was built without an inspector
    });
  }

  stop(): void {
    this.#cancel();
  }
}

/** A full collection that also releases pages. Node has no other way without a flag. */
async function collectGarbage(): Promise<void> {
  const { Session } = await import("node:inspector/promises");
  const session = new Session();
  session.connect();
  await session.post("HeapProfiler.collectGarbage");
  session.disconnect();
}
