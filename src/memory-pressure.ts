/**
 * MemoryPressure: keeps a process that is short of memory running. Memory is short when the resident memory exceeds the
 * configured limit, or when little of V8's heap is free after a garbage collection: at its own limit, V8 would end the
 * process. Then everything that only saves time is dropped: caches, vectors in memory, answers made ahead. When memory
 * is no longer short, all of that grows back.
 *
 * The resident memory is read once a second, the heap after every major collection, when it contains no garbage. What was
 * dropped may be what the current work needs, so if memory is short again soon, the next recovery waits longer.
 */
import { constants, type PerformanceEntry, PerformanceObserver } from "node:perf_hooks";
import { getHeapStatistics } from "node:v8";
import type { Clock } from "./clock.js";
import { HoldfastError } from "./errors.js";

const EVERY_MS = 1_000;
/** The part of the heap's limit that may be in use after a collection. */
const HEAP_PART = 0.75;
/** The part of V8's limit that is reserved for new objects. */
const YOUNG_BYTES = 48 * 1024 * 1024;
/** Memory is no longer short below this part of the limit. */
const RELIEF_PART = 0.85;
const RECOVERY_MS = 10_000;
const RECOVERY_MAX_MS = 600_000;

/** How much memory this process uses, and whether that is too much. */
export interface ProcessMemory {
  /** Resident memory of the whole process. */
  readonly residentBytes: number;
  /** `buffer.maxProcessBytes`; 0 if there is no limit. */
  readonly maxBytes: number;
  /** The part of the JavaScript heap in use. */
  readonly heapBytes: number;
  /** The limit of the JavaScript heap. */
  readonly maxHeapBytes: number;
  /** Caches are kept small, nothing is answered ahead, and spaces that do not fit into memory are searched by words. */
  readonly isShort: boolean;
  /** How many times memory became short. */
  readonly shortages: number;
}

/** A part that can do with less memory. */
export interface Constrainable {
  constrain(isShort: boolean): void | Promise<void>;
}

/** The process, or a stand-in for tests. */
export interface MemorySource {
  /** The present use. */
  usage(): Pick<ProcessMemory, "residentBytes" | "heapBytes" | "maxHeapBytes">;
  /** Calls back after each major garbage collection. The returned function ends that. */
  onCollected(listener: () => void): () => void;
}

export class MemoryPressure {
  readonly #clock: Clock;
  readonly #maxBytes: number;
  readonly #parts: readonly Constrainable[];
  readonly #source: MemorySource;
  readonly #unsubscribe: () => void;
  #cancel: (() => void) | undefined;
  #changing: Promise<void> = Promise.resolve();
  #isShort = false;
  #shortages = 0;
  #changedAt = Number.NEGATIVE_INFINITY;
  #recoveryMs = RECOVERY_MS;

  /** `maxBytes` 0: no limit but that of the heap. */
  constructor(
    clock: Clock,
    maxBytes: number,
    parts: readonly (Constrainable | undefined)[],
    source: MemorySource = thisProcess,
  ) {
    this.#clock = clock;
    this.#maxBytes = maxBytes;
    this.#parts = parts.filter((part) => part !== undefined);
    this.#source = source;
    this.#unsubscribe = source.onCollected(() => this.#look());
    this.#schedule();
  }

  get stats(): ProcessMemory {
    return { ...this.#source.usage(), maxBytes: this.#maxBytes, isShort: this.#isShort, shortages: this.#shortages };
  }

  /** Stops looking, and waits for a change in progress. */
  async stop(): Promise<void> {
    this.#unsubscribe();
    this.#cancel?.();
    await this.#changing;
  }

  /** Looks again in a second, if there is a limit to exceed or a shortage to end. */
  #schedule(): void {
    this.#cancel?.();
    this.#cancel = undefined;
    if (this.#maxBytes === 0 && !this.#isShort) return;
    this.#cancel = this.#clock.after(EVERY_MS, () => {
      this.#look();
      this.#schedule();
    });
  }

  #look(): void {
    const { residentBytes, heapBytes, maxHeapBytes } = this.#source.usage();
    const resident = this.#maxBytes === 0 ? 0 : residentBytes / this.#maxBytes;
    const used = Math.max(resident, heapBytes / (maxHeapBytes * HEAP_PART));
    const sinceMs = this.#clock.passed() - this.#changedAt;
    if (!this.#isShort && used > 1) {
      this.#recoveryMs = sinceMs < this.#recoveryMs ? Math.min(2 * this.#recoveryMs, RECOVERY_MAX_MS) : RECOVERY_MS;
      this.#shortages++;
      this.#change(true);
      this.#schedule();
    } else if (this.#isShort && used < RELIEF_PART && sinceMs >= this.#recoveryMs) {
      this.#change(false);
    }
  }

  #change(isShort: boolean): void {
    this.#isShort = isShort;
    this.#changedAt = this.#clock.passed();
    const changed = this.#changing.then(() => Promise.all(this.#parts.map((part) => part.constrain(isShort))));
    this.#changing = changed.then(
      () => undefined,
      (error: unknown) => {
        if (!(error instanceof HoldfastError)) throw error; // the store reports its failures to callers
      },
    );
  }
}

const thisProcess: MemorySource = {
  usage: () => {
    const { used_heap_size: heapBytes, heap_size_limit: limit } = getHeapStatistics();
    return {
      residentBytes: process.memoryUsage.rss(),
      heapBytes,
      maxHeapBytes: Math.max(limit - YOUNG_BYTES, limit / 2),
    };
  },
  onCollected: (listener) => {
    const observer = new PerformanceObserver((list) => {
      const collections = list.getEntries() as readonly (PerformanceEntry & { readonly detail?: { kind?: number } })[];
      if (collections.some(({ detail }) => detail?.kind === constants.NODE_PERFORMANCE_GC_MAJOR)) listener();
    });
    observer.observe({ entryTypes: ["gc"] });
    return () => observer.disconnect();
  },
};
