/**
 * SpareMemory: gives memory back to the system when nobody has asked for a while. A client keeps its server for hours and
 * asks now and then; V8 by itself may keep what a burst of questions took for as long.
 *
 * It takes some tens of milliseconds, once after each time of work, when nobody waits for an answer.
 */
import type { Clock } from "../clock.js";

const AFTER_MS = 10_000;

export class SpareMemory {
  readonly #clock: Pick<Clock, "after">;
  readonly #giveBack: () => Promise<void>;
  #cancel = (): void => {};

  constructor(clock: Pick<Clock, "after">, giveBack: () => Promise<void> = collectGarbage) {
    this.#clock = clock;
    this.#giveBack = giveBack;
  }

  /** Somebody asks. */
  used(): void {
    this.#cancel();
    this.#cancel = this.#clock.after(AFTER_MS, () => {
      this.#giveBack().catch(() => undefined); // a Node that was built without an inspector goes without
    });
  }

  stop(): void {
    this.#cancel();
  }
}

/** All of it, and the pages with it: the one way that Node offers without a flag. */
async function collectGarbage(): Promise<void> {
  const { Session } = await import("node:inspector/promises");
  const session = new Session();
  session.connect();
  await session.post("HeapProfiler.collectGarbage");
  session.disconnect();
}
