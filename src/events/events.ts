/**
 * Events: publishes to subscribers what happens in the buffers.
 *
 * - Listeners are called synchronously, in commit order, before the writer gets its answer. An exception in a listener
 *   becomes an uncaught exception and affects no write.
 * - Without listeners, no events are created and the store is not polled.
 * - With `spaces`, a listener sees only events of those spaces: what this process does there, and (`changed`) what
 *   other processes on the same store do. Without `spaces`, it sees everything that this process does, and nothing of
 *   other processes.
 */

import type { Clock } from "../clock.js";
import { parseInteger } from "../input/integer.js";
import { parseSpaces } from "../input/scope.js";
import { spaceKey } from "../space-key.js";
import type { Committed, Done, Store, Unit } from "../stores/store.js";
import type { SpaceRef } from "../types.js";
import { ChangeWatcher } from "./change-watcher.js";
import type { MemoryEvent, Untold } from "./event.js";
import { EventStream } from "./event-stream.js";
import { OwnCommits } from "./own-commits.js";
import { eventsOf, lostNames } from "./write-events.js";

/** Called for every event, synchronously. */
export type EventListener = (event: MemoryEvent) => void;

/** The options of a subscription. */
export interface SubscribeOptions {
  /** Only events of these spaces. Default: everything that this process does. */
  readonly spaces?: readonly SpaceRef[];
}

/** The options of an event stream. */
export interface StreamOptions extends SubscribeOptions {
  /** Ends the stream. */
  readonly signal?: AbortSignal;
  /**
   * Number of events queued for a slow reader, 1,000 by default. A higher value uses more memory and misses fewer
   * events.
   */
  readonly capacity?: number;
}

/** The public interface. */
export type MemoryEvents = Pick<Events, "subscribe" | "stream">;

const CAPACITY = 1_000;
const CAPACITY_MAX = 1_000_000;

interface Subscription {
  readonly listener: EventListener;
  readonly spaces: ReadonlySet<string> | undefined;
}

export class Events {
  readonly #clock: Clock;
  readonly #own = new OwnCommits();
  readonly #watcher: ChangeWatcher;
  readonly #subscriptions = new Set<Subscription>();
  readonly #streams = new Set<EventStream>();
  #isClosed = false;

  constructor(store: Pick<Store, "versions" | "changes">, clock: Clock) {
    this.#clock = clock;
    this.#watcher = new ChangeWatcher({ store, clock, own: this.#own, tell: (event) => this.tell(event) });
  }

  /** Calls the listener for every event from now on, until the returned function is called. */
  subscribe(listener: EventListener, { spaces }: SubscribeOptions = {}): () => void {
    const wanted = spaces && parseSpaces(spaces);
    const subscription = { listener, spaces: wanted && new Set(wanted.map(spaceKey)) };
    this.#subscriptions.add(subscription);
    const unwatch = wanted && !this.#isClosed ? this.#watcher.watch(wanted) : undefined;
    return () => {
      if (this.#subscriptions.delete(subscription)) unwatch?.();
    };
  }

  /**
   * A stream of events from now on. It ends when the memory is closed, the signal aborts, or the reader leaves its
   * loop.
   *
   * @example
   * for await (const event of memory.events.stream()) console.log(event.type);
   */
  stream({ signal, capacity = CAPACITY, ...options }: StreamOptions = {}): EventStream {
    const end = (): void => stream.end();
    const stream = new EventStream({
      capacity: parseInteger(capacity, "capacity", 1, CAPACITY_MAX),
      now: () => this.#clock.now(),
      onEnd: () => {
        this.#streams.delete(stream);
        signal?.removeEventListener("abort", end);
        unsubscribe();
      },
    });
    const unsubscribe = this.subscribe((event) => stream.push(event), options);
    this.#streams.add(stream);
    signal?.addEventListener("abort", end);
    if (signal?.aborted || this.#isClosed) end();
    return stream;
  }

  /** True while there are listeners. Check this before creating an event. */
  get isHeard(): boolean {
    return this.#subscriptions.size > 0;
  }

  /** Tracks a commit of this process, so that it is not reported as another process's commit. */
  watch(commit: Promise<Committed>): Promise<Committed> {
    return this.#own.watch(commit);
  }

  /** Publishes the events of a committed unit. */
  committed(unit: Unit, done: readonly Done[]): void {
    if (!this.isHeard) return;
    for (const space of lostNames(unit, done)) this.#watcher.gone(space);
    for (const event of eventsOf(unit, done)) this.tell(event);
  }

  tell(untold: Untold): void {
    if (!this.isHeard) return;
    const event = Object.freeze({ at: this.#clock.now(), ...untold }) as MemoryEvent;
    const name = spaceKey(event.space);
    for (const { listener, spaces } of [...this.#subscriptions]) {
      if (spaces && !spaces.has(name)) continue;
      try {
        listener(event);
      } catch (error) {
        queueMicrotask(() => {
          throw error;
        });
      }
    }
  }

  /** Ends all streams and removes all listeners. */
  close(): void {
    this.#isClosed = true;
    for (const stream of [...this.#streams]) stream.end();
    this.#subscriptions.clear();
    this.#watcher.close();
  }
}
