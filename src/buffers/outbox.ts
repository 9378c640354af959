/**
 * OutboxDispatcher: sends committed vector changes to an external index until it acknowledges them.
 *
 * - One process sends at a time, under the lease of the lane OUTBOX. The others poll.
 * - Rows leave the outbox only after the index has accepted them. After any failure they are sent again; the index
 *   treats repeated changes as idempotent.
 * - A failing index is retried with growing back-off, and the whole queue waits. An item that the index refuses waits
 *   alone, together with its later rows; all other items continue.
 * - No rows are held in memory between two batches. The backlog is in the store.
 */
import { backOff } from "../back-off.js";
import type { Clock } from "../clock.js";
import { HoldfastError } from "../errors.js";
import { type AcknowledgeWrite, type Holder, OUTBOX, type OutboxRow, type Owner } from "../stores/indexing.js";
import type { Done, Write } from "../stores/store.js";
import type { VectorIndex } from "../stores/vector-index.js";
import { isSameSpace, nameOfSpace } from "../stores/vector-space.js";
import type { VectorSpace } from "../types.js";
import { type BatchResult, type RefusedRow, sendBatch } from "./outbox-batch.js";

const BATCH_ROWS = 256;
const BATCH_BYTES = 1024 * 1024;
/** How often to poll for rows that other processes left, and for a free lane. */
const POLL_MS = 5_000;
/** A lease that was last confirmed this long ago is claimed again before anything is sent under it. */
const CLAIM_MS = 5_000;
/** Heartbeat interval while a call to the index is in progress. */
const BEAT_MS = 3_000;
const BACK_OFF_MS = 1_000;
const BACK_OFF_MAX_MS = 60_000;
/** Back-off of a refused item. */
const REFUSED_MS = 60_000;
const REFUSED_MAX_MS = 3_600_000;

export interface OutboxOptions {
  /** Commits a write. */
  readonly commit: (write: Write) => Promise<Done>;
  /** The store's `outbox`. */
  readonly read: (limit: number, maxBytes: number, now: number) => Promise<readonly OutboxRow[]>;
  /** The space of the vectors in the store; undefined while it has none. */
  readonly vectorSpace: () => Promise<VectorSpace | undefined>;
  readonly index: VectorIndex;
  readonly clock: Clock;
  readonly owner: Owner;
  /** Whether the holder of the lane is dead or silent and may be evicted. */
  readonly judge: (holder: Holder) => boolean;
  /** Random number from 0 to 1, for jitter. */
  readonly random?: () => number;
}

/**
 * idle: nothing to send · sending · waiting: backing off after a failure of the index or the store · blocked: another
 * process sends, or the index holds other vectors.
 */
export type OutboxState = "idle" | "sending" | "waiting" | "blocked";

export interface OutboxStats {
  /** Rows acknowledged by the index. */
  readonly sent: number;
  /** Number of refusals of rows. */
  readonly failed: number;
  /** Number of times that the queue backed off after a failure. */
  readonly retries: number;
  /** The message of the last failure or refusal. The problem may be resolved by now. */
  readonly lastError?: string;
  /** Why nothing could be sent; absent once the index has accepted something, or another process sends. */
  readonly sendError?: string;
  readonly state: OutboxState;
}

/** State and delay until the next run. */
interface Pause {
  readonly state: OutboxState;
  readonly ms: number;
}

export class OutboxDispatcher {
  readonly #options: OutboxOptions;
  readonly #random: () => number;
  #state: OutboxState = "idle";
  #lease: { readonly fence: number; readonly shownAt: number } | undefined;
  /** The vector space for which the index was prepared. */
  #prepared: VectorSpace | undefined;
  /** True if rows may have been added since the last read. */
  #isNoticed = false;
  #running: Promise<void> | undefined;
  #cancelTimer: () => void = () => {};
  readonly #closing = new AbortController();
  /** Failures since the last success. */
  #failures = 0;
  #sent = 0;
  #failed = 0;
  #retries = 0;
  #lastError: string | undefined;
  #sendError: string | undefined;

  constructor(options: OutboxOptions) {
    this.#options = options;
    this.#random = options.random ?? Math.random;
  }

  /**
   * Signals that there may be rows. The first call starts the dispatcher. A dispatcher that is backing off keeps
   * waiting.
   */
  notify(): void {
    this.#isNoticed = true;
    if (this.#state === "idle") void this.#start();
  }

  stats(): OutboxStats {
    return {
      sent: this.#sent,
      failed: this.#failed,
      retries: this.#retries,
      ...(this.#lastError !== undefined && { lastError: this.#lastError }),
      ...(this.#sendError !== undefined && { sendError: this.#sendError }),
      state: this.#state,
    };
  }

  /**
   * Sends the queued rows now. Returns true if no sendable row is left. Does not wait for a failing index,
   * for a lane held by another process, or beyond the deadline: rows that are left stay in the store and are sent
   * later.
   */
  async drain(deadlineMs: number): Promise<boolean> {
    let isOver = false;
    let cancel = (): void => {};
    const deadline = new Promise<void>((resolve) => {
      cancel = this.#options.clock.after(deadlineMs, () => {
        isOver = true;
        resolve();
      });
    });
    this.#isNoticed = true;
    await Promise.race([this.#start(), deadline]);
    cancel();
    return !isOver && this.#state === "idle" && !this.#isClosed;
  }

  /** Stops. Does not wait for a call to the index in progress; the next dispatcher sends those rows again. */
  async close(): Promise<void> {
    this.#closing.abort(new HoldfastError("closed", "the dispatcher of the outbox is closed"));
    this.#cancelTimer();
    await this.#running;
    this.#state = "idle";
  }

  get #isClosed(): boolean {
    return this.#closing.signal.aborted;
  }

  /** Starts a run, or joins the current one. A run never rejects, and sets the timer for the next one. */
  async #start(): Promise<void> {
    if (this.#isClosed) return;
    this.#running ??= this.#run();
    await this.#running;
  }

  async #run(): Promise<void> {
    this.#cancelTimer();
    let pause: Pause;
    do
      pause = await this.#sendAll().then(
        (next) => {
          this.#sendError = undefined;
          return next;
        },
        (error: unknown) => this.#pauseAfter(error),
      );
    while (pause.state === "idle" && this.#isNoticed && !this.#isClosed);
    this.#running = undefined;
    this.#state = pause.state;
    if (!this.#isClosed) this.#cancelTimer = this.#options.clock.after(pause.ms, () => void this.#start());
  }

  async #sendAll(): Promise<Pause> {
    const { read, clock } = this.#options;
    while (!this.#isClosed) {
      this.#isNoticed = false;
      const rows = await read(BATCH_ROWS, BATCH_BYTES, clock.now());
      if (rows.length === 0) break;
      const shownAt = this.#lease?.shownAt;
      if (shownAt === undefined || clock.passed() - shownAt >= CLAIM_MS) {
        if (!(await this.#claim())) return { state: "blocked", ms: POLL_MS };
        continue; // the previous holder of the lane may have sent some of these rows
      }
      this.#state = "sending";
      if (!(await this.#prepare(rows))) return { state: "blocked", ms: POLL_MS };
      const result = await this.#beatingWhile(sendBatch(rows, this.#abandonable()));
      if (!(await this.#acknowledge(result))) return { state: "blocked", ms: POLL_MS };
      if ("failure" in result) throw result.failure;
      this.#failures = 0;
    }
    this.#failures = 0;
    return { state: "idle", ms: POLL_MS };
  }

  /** Claims the lane, or confirms that it is still held. A dead or silent holder is evicted. */
  async #claim(): Promise<boolean> {
    const holder = await this.#claimOnce([]);
    if (!holder || !this.#options.judge(holder)) return this.#lease !== undefined;
    await this.#claimOnce([{ owner: holder.id, beat: holder.beat }]);
    return this.#lease !== undefined;
  }

  async #claimOnce(evict: readonly { owner: string; beat: number }[]): Promise<Holder | undefined> {
    const { commit, owner, clock } = this.#options;
    const shownAt = clock.passed();
    const done = await commit({ op: "claim", owner, lanes: [OUTBOX], evict });
    const claim = done.op === "claim" ? done.claims[0] : undefined;
    this.#lease = claim && "fence" in claim ? { fence: claim.fence, shownAt } : undefined;
    return claim && "holder" in claim ? claim.holder : undefined;
  }

  /**
   * Prepares the index for the store's vector space. Requires that the rows were read before: if their vectors belong
   * to another space, this detects it. An index prepared for a former space is useless; the lane is then released to
   * processes that have another one. Rows of callers' points need no vector space in the store.
   */
  async #prepare(rows: readonly OutboxRow[]): Promise<boolean> {
    const { index, vectorSpace } = this.#options;
    const space = await vectorSpace();
    if (!space) return rows.every(({ other }) => other);
    if (!this.#prepared) {
      await this.#unlessClosed(() => index.prepare(space));
      this.#prepared = space;
    }
    if (isSameSpace(this.#prepared, space)) return true;
    await this.#leave();
    throw new HoldfastError(
      "vector_space",
      `the vectors are now of ${nameOfSpace(space)}; the index is open for others`,
      {
        hint: "open the memory again, with that model",
      },
    );
  }

  async #leave(): Promise<void> {
    const { commit, owner } = this.#options;
    this.#lease = undefined;
    await commit({ op: "release", owner: owner.id, lanes: [OUTBOX] });
  }

  /**
   * Returns false if another process now holds the lane. In that case nothing was recorded, and the other process sends
   * these rows again.
   */
  async #acknowledge({ sent, refused }: BatchResult): Promise<boolean> {
    if (sent.length + refused.length === 0) return true;
    const { commit, owner } = this.#options;
    const fence = this.#lease?.fence ?? 0;
    const failed = refused.map((row) => this.#failedRow(row));
    const done = await commit({ op: "acknowledge", owner: owner.id, fence, sent, failed });
    if (done.op !== "acknowledge" || done.fenced) {
      this.#lease = undefined;
      return false;
    }
    this.#sent += sent.length;
    this.#failed += failed.length;
    return true;
  }

  #failedRow({ row, error }: RefusedRow): AcknowledgeWrite["failed"][number] {
    this.#note(error);
    const delay = Math.round(backOff(row.attempts, REFUSED_MS, REFUSED_MAX_MS, this.#random));
    return { sequence: row.sequence, error: error.message, retryAt: this.#options.clock.now() + delay };
  }

  /**
   * Sends heartbeats while the index works, so that a slow index does not make this process look silent. The
   * acknowledgement shows whether the lease was kept.
   */
  async #beatingWhile<T>(work: Promise<T>): Promise<T> {
    const { commit, clock, owner } = this.#options;
    let cancel = (): void => {};
    const next = (): void => {
      cancel = clock.after(BEAT_MS, () => {
        commit({ op: "beat", owner }).catch((error: unknown) => this.#note(error));
        next();
      });
    };
    next();
    try {
      return await work;
    } finally {
      cancel();
    }
  }

  #note(error: unknown): void {
    this.#lastError = error instanceof Error ? error.message : String(error);
  }

  /** An index that holds other vectors will not recover soon; any other failure may be brief. */
  #pauseAfter(error: unknown): Pause {
    if (this.#isClosed) return { state: "idle", ms: 0 };
    this.#note(error);
    this.#sendError = this.#lastError;
    if (error instanceof HoldfastError && error.code === "vector_space") {
      return { state: "blocked", ms: BACK_OFF_MAX_MS };
    }
    this.#retries++;
    return { state: "waiting", ms: backOff(this.#failures++, BACK_OFF_MS, BACK_OFF_MAX_MS, this.#random) };
  }

  #abandonable(): Pick<VectorIndex, "upsert" | "delete" | "upsertIn" | "deleteIn"> {
    const { index } = this.#options;
    return {
      upsert: (points) => this.#unlessClosed(() => index.upsert(points)),
      delete: (ids) => this.#unlessClosed(() => index.delete(ids)),
      upsertIn: (space, points) => this.#unlessClosed(async () => index.upsertIn?.(space, points)),
      deleteIn: (space, ids) => this.#unlessClosed(async () => index.deleteIn?.(space, ids)),
    };
  }

  /** Awaits the call, or rejects as soon as the dispatcher is closed. */
  async #unlessClosed(call: () => Promise<void>): Promise<void> {
    const { signal } = this.#closing;
    signal.throwIfAborted();
    let stop = (): void => {};
    const closed = new Promise<never>((_, reject) => {
      stop = () => reject(signal.reason);
      signal.addEventListener("abort", stop);
    });
    try {
      await Promise.race([call(), closed]);
    } finally {
      signal.removeEventListener("abort", stop);
    }
  }
}
