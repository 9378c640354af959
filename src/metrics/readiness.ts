/**
 * Readiness: whether this process can serve, checked by trying it.
 *
 * The process is ready if its store accepts writes; the check writes and syncs. The model's state is reported but does not
 * count: without the model, writes are still durable and searchable by words.
 */

import type { WriteBufferStats } from "../buffers/write.js";
import type { Clock } from "../clock.js";
import { type ErrorCode, HoldfastError } from "../errors.js";
import type { Memory } from "../memory.js";
import type { ServiceStats } from "../stats.js";
import { type ModelState, modelStateOf } from "./model-state.js";

export interface Readiness {
  readonly ready: boolean;
  readonly checks: {
    readonly store: {
      readonly writable: boolean;
      /** The reason, if it is not ok. */
      readonly error?: ErrorCode;
      readonly writes?: WriteBufferStats["health"];
    };
    /** Undefined if the store cannot be read. */
    readonly queue?: {
      readonly pending: number;
      readonly parked: number;
      /** Age of the oldest pending item since it was added or last edited; 0 if none. */
      readonly oldestPendingMs: number;
    };
    readonly model?: ModelState;
  };
}

/** Longest wait for the test write. */
const WAIT_MS = 2_000;
/** How long a successful test write counts: frequent probes must not wear out the disk. */
const PROVED_MS = 1_000;

interface Proof {
  readonly until: number;
  readonly outcome: Promise<ErrorCode | undefined>;
}

const proofs = new WeakMap<Memory, Proof>();

export async function readiness(memory: Memory): Promise<Readiness> {
  const { clock } = memory.service;
  const [error, stats] = await Promise.all([proved(memory), inTime(clock, statsOf(memory), undefined)]);
  const writes = stats?.write.health;
  const store = { writable: error === undefined, ...(error && { error }), ...(writes && { writes }) };
  const ready = store.writable && writes === "ok";
  if (!stats) return { ready, checks: { store } };
  const { pending, parked, oldestPendingAt } = stats.store;
  const now = clock.now();
  const oldestPendingMs = Math.max(now - (oldestPendingAt ?? now), 0);
  return { ready, checks: { store, queue: { pending, parked, oldestPendingMs }, model: modelStateOf(stats) } };
}

/** The error that prevents writing, if any. Concurrent callers share one attempt; failures are not cached. */
function proved(memory: Memory): Promise<ErrorCode | undefined> {
  const { clock } = memory.service;
  const known = proofs.get(memory);
  if (known && clock.passed() < known.until) return known.outcome;
  const outcome = prove(memory).then((error) => {
    const until = error === undefined ? clock.passed() + PROVED_MS : 0;
    proofs.set(memory, { until, outcome });
    return error;
  });
  proofs.set(memory, { until: Number.POSITIVE_INFINITY, outcome });
  return outcome;
}

const prove = ({ service: { store, clock } }: Memory): Promise<ErrorCode | undefined> =>
  inTime<ErrorCode | undefined>(clock, codeOf(store.proveWritable(clock.now())), "busy");

/** The result of `work`, or `otherwise` after the longest wait. */
async function inTime<T>(clock: Clock, work: Promise<T>, otherwise: T): Promise<T> {
  let cancel = (): void => {};
  const tooLate = new Promise<T>((resolve) => {
    cancel = clock.after(WAIT_MS, () => resolve(otherwise));
  });
  try {
    return await Promise.race([work, tooLate]);
  } finally {
    cancel();
  }
}

async function codeOf(work: Promise<void>): Promise<ErrorCode | undefined> {
  try {
    await work;
    return undefined;
  } catch (error) {
    if (error instanceof HoldfastError) return error.code;
    throw error;
  }
}

async function statsOf(memory: Memory): Promise<ServiceStats | undefined> {
  try {
    return await memory.stats();
  } catch (error) {
    if (error instanceof HoldfastError) return undefined;
    throw error;
  }
}
