/**
 * OutboxDispatcher: hands committed changes of vectors to an external index until it acknowledges them.
 *
 * - One process at a time sends, under the lease of the lane OUTBOX; others look in from time to time.
 * - Rows leave the outbox only after the index has taken them. Whatever fails, they are sent again; the index takes the
 *   same change twice as once.
 * - A failing index is given more and more time, and the whole queue waits. An item that the index refuses waits alone:
 *   its later rows behind it, everybody else's go on.
 * - Nothing is held in memory between two batches; the backlog is in the store.
 */
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
/** How often to look for rows that other processes have left, and whether the lane is free. */
const POLL_MS = 5_000;
/** A lease that was last seen to be ours this long ago is claimed again before anything is sent under it. */
const CLAIM_MS = 5_000;
/** How often others are shown that this process lives, while the index takes its time. */
const BEAT_MS = 3_000;
const BACK_OFF_MS = 1_000;
const BACK_OFF_MAX_MS = 60_000;
/** How long a refused item waits for its next attempt. */
const REFUSED_MS = 60_000;
const REFUSED_MAX_MS = 3_600_000;

export interface OutboxOptions {
  /** Joins the group commit. */
  readonly commit: (write: Write) => Promise<Done>;
  /** The store's `outbox`. */
  readonly read: (limit: number, maxBytes: number, now: number) => Promise<readonly OutboxRow[]>;
  /** Whose vectors the store keeps; undefined as long as it keeps none. */
  readonly vectorSpace: () => Promise<VectorSpace | undefined>;
  readonly index: VectorIndex;
  readonly clock: Clock;
  readonly owner: Owner;
  /** Whether the holder of the lane is gone or silent, so that it may be evicted. */
  readonly judge: (holder: Holder) => boolean;
  /** For jitter; from 0 to 1. */
  readonly random?: () => number;
}

/**
 * idle: nothing to send · sending · waiting: the index or the store has failed, and is given time · blocked: another
 * process sends, or the index holds other vectors.
 */
export type OutboxState = "idle" | "sending" | "waiting" | "blocked";

export interface OutboxStats {
  /** Rows that were acknowledged. */
  readonly sent: number;
  /** How often a row was refused. */
  readonly failed: number;
  /** How often the queue had to wait because of a failure. */
  readonly retries: number;
  /** What was said the last time that something failed or was refused; it may be over. */
  readonly lastError?: string;
  readonly state: OutboxState;
}

/** What to do until the next look. */
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
  /** Rows may have come since the last read. */
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

  constructor(options: OutboxOptions) {
    this.#options = options;
    this.#random = options.random ?? Math.random;
  }

  /** There may be rows. The first call starts the dispatcher; one that waits for a failing index goes on waiting. */
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
      state: this.#state,
    };
  }

  /**
   * Sends what is there, at once; true when nothing is left that could be sent now. It does not wait for an index that
   * fails or a lane that is another's, nor beyond the deadline: what is left stays in the store and is sent later.
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

  /** Stops. A call to the index that is under way is not waited for; its rows are sent again by whoever comes next. */
  async close(): Promise<void> {
    this.#closing.abort(new HoldfastError("closed", "the dispatcher of the outbox is closed"));
    this.#cancelTimer();
    await this.#running;
    this.#state = "idle";
  }

  get #isClosed(): boolean {
    return this.#closing.signal.aborted;
  }

  /** One run at a time. It never rejects, and sets the timer for the next one. */
  async #start(): Promise<void> {
    if (this.#isClosed) return;
    this.#running ??= this.#run();
    await this.#running;
  }

  async #run(): Promise<void> {
    this.#cancelTimer();
    let pause: Pause;
    do pause = await this.#sendAll().catch((error: unknown) => this.#pauseAfter(error));
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
        continue; // whoever had the lane before may have sent some of these rows
      }
      this.#state = "sending";
      if (!(await this.#prepare())) return { state: "blocked", ms: POLL_MS };
      const result = await this.#beatingWhile(sendBatch(rows, this.#abandonable()));
      if (!(await this.#acknowledge(result))) return { state: "blocked", ms: POLL_MS };
      if ("failure" in result) throw result.failure;
      this.#failures = 0;
    }
    this.#failures = 0;
    return { state: "idle", ms: POLL_MS };
  }

  /** Takes the lane, or shows that it is ours still. A holder that is gone or silent is evicted. */
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
   * Requires that the rows were read before: if their vectors were of another space than this finds, it is seen here. An
   * index that is prepared for a former space is of no use; then the lane is left to those who have another.
   */
  async #prepare(): Promise<boolean> {
    const { index, vectorSpace } = this.#options;
    const space = await vectorSpace();
    if (!space) return false;
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

  /** False if the lane is another's by now: then nothing was noted, and the other sends these rows again. */
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
    const delay = this.#jittered(REFUSED_MS, row.attempts, REFUSED_MAX_MS);
    return { sequence: row.sequence, error: error.message, retryAt: this.#options.clock.now() + delay };
  }

  /** A slow index is no reason to be taken for silent. Whether the lease was kept is told by the acknowledgement. */
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

  /** An index that holds other vectors will not change its mind soon; everything else may be over in a moment. */
  #pauseAfter(error: unknown): Pause {
    if (this.#isClosed) return { state: "idle", ms: 0 };
    this.#note(error);
    if (error instanceof HoldfastError && error.code === "vector_space") {
      return { state: "blocked", ms: BACK_OFF_MAX_MS };
    }
    this.#retries++;
    return { state: "waiting", ms: this.#jittered(BACK_OFF_MS, this.#failures++, BACK_OFF_MAX_MS) };
  }

  /** Doubles with each attempt up to the most; between half of that and all of it, so that processes spread out. */
  #jittered(ms: number, attempts: number, maxMs: number): number {
    return Math.round(Math.min(ms * 2 ** attempts, maxMs) * (0.5 + this.#random() / 2));
  }

  #abandonable(): Pick<VectorIndex, "upsert" | "delete" | "deleteFormer"> {
    const { index } = this.#options;
    return {
      upsert: (points) => this.#unlessClosed(() => index.upsert(points)),
      delete: (ids) => this.#unlessClosed(() => index.delete(ids)),
      deleteFormer: (space, ids) => this.#unlessClosed(async () => index.deleteFormer?.(space, ids)),
    };
  }

  /** The call's outcome, or a rejection as soon as the dispatcher is closed. */
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
