/**
 * EventStream: a bounded queue of events for one reader. A reader that is too slow gets the queued events, then the
 * number of events it missed, then the events after those. Events therefore stay in order, and none is missed silently.
 */
import type { MemoryEvent, MissedEvents } from "./event.js";

export interface EventStreamOptions {
  readonly capacity: number;
  readonly now: () => number;
  /** Called when the reader has stopped, or when no more events follow. */
  readonly onEnd: () => void;
}

type Result = IteratorResult<MemoryEvent | MissedEvents, undefined>;

/** Events as an async iterator: `for await (const event of memory.events.stream())`. */
export class EventStream implements AsyncIterableIterator<MemoryEvent | MissedEvents, undefined> {
  readonly #options: EventStreamOptions;
  readonly #held: MemoryEvent[] = [];
  readonly #readers: ((result: Result) => void)[] = [];
  #missed = 0;
  #isEnded = false;

  constructor(options: EventStreamOptions) {
    this.#options = options;
  }

  /** Queues an event. Called by the memory. */
  push(event: MemoryEvent): void {
    if (this.#isEnded) return;
    const reader = this.#readers.shift();
    if (reader) reader({ value: event, done: false });
    else if (this.#missed > 0 || this.#held.length >= this.#options.capacity) this.#missed++;
    else this.#held.push(event);
  }

  /** Stops accepting events. Queued ones can still be read. */
  end(): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    for (const reader of this.#readers.splice(0)) reader({ value: undefined, done: true });
    this.#options.onEnd();
  }

  /** The next event; waits for it if there is none yet. */
  next(): Promise<Result> {
    const value = this.#held.shift() ?? this.#takeMissed();
    if (value) return Promise.resolve({ value, done: false });
    if (this.#isEnded) return Promise.resolve({ value: undefined, done: true });
    return new Promise((resolve) => this.#readers.push(resolve));
  }

  /** Ends the stream; `break` calls it. */
  return(): Promise<Result> {
    this.#held.length = 0;
    this.#missed = 0;
    this.end();
    return Promise.resolve({ value: undefined, done: true });
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  #takeMissed(): MissedEvents | undefined {
    if (this.#missed === 0) return undefined;
    const count = this.#missed;
    this.#missed = 0;
    return { type: "missed", at: this.#options.now(), count };
  }
}
