/**
 * Events: tells whoever listens what moves through the buffers.
 *
 * - Listeners are called at once, in the order of the commits, before whoever wrote has its answer. What a listener throws
 *   is its own affair (an uncaught exception), and delays or spoils no write.
 * - Nobody listens: nothing is made, nothing is asked.
 * - With `spaces` a listener sees those and no others: what this process does there, and (`changed`) what others on the
 *   same store do. Without, it sees all that this process does, and nothing of others.
 */
import type { Clock } from "../clock.js";
import { parseInteger } from "../input/integer.js";
import { parseSpaces } from "../input/scope.js";
import type { Committed, Done, Store, Unit } from "../stores/store.js";
import type { SpaceRef } from "../types.js";
import type { MemoryEvent, Untold } from "./event.js";
import { EventStream } from "./event-stream.js";
import { Others } from "./others.js";
import { OwnCommits } from "./own-commits.js";
import { eventsOf, lostNames } from "./write-events.js";

export type EventListener = (event: MemoryEvent) => void;

export interface SubscribeOptions {
  /** Only events of these spaces. Left out: all that this process does. */
  readonly spaces?: readonly SpaceRef[];
}

export interface StreamOptions extends SubscribeOptions {
  /** Ends the stream. */
  readonly signal?: AbortSignal;
  /** How many events are held for a reader that is slow, 1,000 if left out. More: more memory, fewer that it misses. */
  readonly capacity?: number;
}

/** What callers hold of it. */
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
  readonly #others: Others;
  readonly #subscriptions = new Set<Subscription>();
  readonly #streams = new Set<EventStream>();
  #isClosed = false;

  constructor(store: Pick<Store, "versions" | "changes">, clock: Clock) {
    this.#clock = clock;
    this.#others = new Others({ store, clock, own: this.#own, tell: (event) => this.tell(event) });
  }

  /** Calls the listener with every event from now on, until the returned function is called. */
  subscribe(listener: EventListener, { spaces }: SubscribeOptions = {}): () => void {
    const wanted = spaces && parseSpaces(spaces);
    const subscription = { listener, spaces: wanted && new Set(wanted.map(nameOf)) };
    this.#subscriptions.add(subscription);
    const unwatch = wanted && !this.#isClosed ? this.#others.watch(wanted) : undefined;
    return () => {
      if (this.#subscriptions.delete(subscription)) unwatch?.();
    };
  }

  /** Events from now on, to be read one after the other. It ends with the memory, the signal, or the reader's loop. */
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

  /** True while somebody listens. Ask before an event is made. */
  get isHeard(): boolean {
    return this.#subscriptions.size > 0;
  }

  /** Watches a commit of this process, so that it is not told as another's. */
  watch(commit: Promise<Committed>): Promise<Committed> {
    return this.#own.watch(commit);
  }

  /** Tells what a unit did. */
  committed(unit: Unit, done: readonly Done[], commit: number): void {
    if (!this.isHeard) return;
    for (const space of lostNames(unit, done)) this.#others.gone(space);
    for (const event of eventsOf(unit, done, commit)) this.tell(event);
  }

  tell(untold: Untold): void {
    if (!this.isHeard) return;
    const event = Object.freeze({ at: this.#clock.now(), ...untold }) as MemoryEvent;
    const name = nameOf(event.space);
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

  /** Ends all streams and calls nobody any more. */
  close(): void {
    this.#isClosed = true;
    for (const stream of [...this.#streams]) stream.end();
    this.#subscriptions.clear();
    this.#others.close();
  }
}

const nameOf = (space: SpaceRef): string => JSON.stringify(space);
