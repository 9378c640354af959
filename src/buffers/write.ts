/**
 * WriteBuffer: the single entry point for writes. All calls that arrive during a commit form the next one (group
 * commit): one transaction and one sync for all of them. Each call succeeds or fails independently.
 *
 * Invariants:
 * - A call returns only when its commit is durable, or when it is certain that none of it was written.
 * - One group is committed at a time. Calls of one lane (a session) are written in arrival order.
 * - The bytes waiting are bounded. Beyond the bound, callers wait for space and are refused after a timeout. Nothing is
 *   dropped.
 */
import type { Clock } from "../clock.js";
import { fromRecord, HoldfastError } from "../errors.js";
import type { Events } from "../events/events.js";
import { newId } from "../ids.js";
import type { ParsedRound } from "../input/message.js";
import type { ParsedScope } from "../input/scope.js";
import { laneKey } from "../space-key.js";
import { forgottenSince, type OnceWrite } from "../stores/receipts.js";
import type { Done, DoneOf, Outcome, Store, Unit, Write } from "../stores/store.js";
import type { Added } from "../types.js";
import { batchAnswer, mergeAdded } from "./answers.js";
import { GROUP_BYTES, GROUP_MESSAGES, GROUP_WORK_MS } from "./group.js";
import { type Job, Lanes, type SizedUnit, type Taken } from "./lanes.js";
import { answerFromStore } from "./recovery.js";
import { firstDone } from "./repeated.js";
import { bytesOfUnit, unitsOf } from "./units.js";

/** Upper bound on attempts to write a group whose commit was lost, before its callers get the error. */
const ATTEMPTS = 3;

export interface WriteBufferOptions {
  readonly store: Store;
  readonly clock: Clock;
  /** Publishes an event for every committed unit. */
  readonly events?: Events;
  readonly maxWaitingBytes: number;
  readonly maxWaitMs: number;
}

export interface WriteRequest {
  /** Calls of one lane keep their order. */
  readonly lane: string;
  readonly units: readonly SizedUnit[];
  /** If true, a unit is written only after the previous one has succeeded. */
  readonly stepwise: boolean;
}

/**
 * The result of one unit: what its writes did, or why they did nothing. `repeated` means that it was written before
 * under the same key. In that case `done` is the first result, without anything forgotten since.
 */
export type UnitResult = CommittedUnit | { readonly ok: false; readonly error: HoldfastError };

export interface CommittedUnit {
  readonly ok: true;
  readonly done: readonly Done[];
  readonly repeated: boolean;
}

/** Counters of the WriteBuffer since the memory was opened. */
export interface WriteBufferStats {
  /** Units that succeeded, and the messages in them. */
  readonly totalWrites: number;
  /** Messages in the units that succeeded. */
  readonly totalMessages: number;
  /** Commits. Each writes one group. */
  readonly totalGroups: number;
  /** Units that wait to be committed. */
  readonly waitingWrites: number;
  /** Bytes of the messages that wait. */
  readonly waitingBytes: number;
  /** How many bytes may wait before further calls wait for room. */
  readonly maxWaitingBytes: number;
  /** How long the oldest call has waited for room and its commit; absent if none waits. */
  readonly oldestMs?: number;
  /** Calls that wait until there is room in a full buffer. */
  readonly waitingForRoom: number;
  /** Calls refused because the buffer stayed full. */
  readonly refused: number;
  /** Commits of unknown outcome that were resolved. */
  readonly recoveries: number;
  /** recovering: a commit of unknown outcome is being resolved · failed: the memory has to be reopened. */
  readonly health: "ok" | "recovering" | "failed" | "closed";
  /** The last error, also if later commits succeeded. */
  readonly lastError?: string;
  /** Why the last commit failed; absent once another one has succeeded. */
  readonly commitError?: string;
}

interface WaitingJob extends Job {
  readonly results: UnitResult[];
  readonly bytes: number;
  readonly settle: (results: readonly UnitResult[]) => void;
}

export class WriteBuffer {
  readonly #options: WriteBufferOptions;
  readonly #lanes = new Lanes<WaitingJob>();
  readonly #admissions: { bytes: number; admit: (error?: HoldfastError) => void }[] = [];
  /** The calls in progress, oldest first, and when each was made, on the monotonic clock. */
  readonly #unanswered = new Map<Promise<unknown>, number>();
  #running: Promise<void> | undefined;
  #msPerMessage = 0.05;
  #waitingBytes = 0;
  #closed: HoldfastError | undefined;
  readonly #stats = { totalWrites: 0, totalMessages: 0, totalGroups: 0, waitingWrites: 0, refused: 0, recoveries: 0 };
  #health: WriteBufferStats["health"] = "ok";
  #lastError: string | undefined;
  #commitError: string | undefined;

  constructor(options: WriteBufferOptions) {
    this.#options = options;
  }

  /** Writes one round atomically. A round larger than a group is written in parts, in order. */
  async add(scope: ParsedScope, round: ParsedRound, idempotencyKey?: string): Promise<Added> {
    if (round.rows.length === 0) return NOTHING_ADDED;
    const units = unitsOf(scope, round, idempotencyKey);
    return mergeAdded(await this.write({ lane: laneKey(scope), units, stepwise: units.length > 1 }), units.length);
  }

  /** Writes several rounds in order. Each is atomic, and one that fails does not stop the others. */
  async addBatch(scope: ParsedScope, rounds: readonly ParsedRound[], key?: string): Promise<readonly Added[]> {
    const units = rounds.map((round, at) => unitsOf(scope, round, key && `${key}/${at}`));
    const lane = laneKey(scope);
    const results: readonly (readonly UnitResult[])[] = units.every((parts) => parts.length === 1)
      ? (await this.write({ lane, units: units.flat(), stepwise: false })).map((result) => [result])
      : await Promise.all(units.map((parts) => this.write({ lane, units: parts, stepwise: true })));
    const expected = units.map((parts) => parts.length);
    return batchAnswer(results, expected);
  }

  /** Resolves when every unit is committed or has failed, with one result each. Rejects if no unit was attempted. */
  async write(request: WriteRequest): Promise<readonly UnitResult[]> {
    if (request.units.length === 0) return [];
    const answer = this.#answer(request);
    this.#unanswered.set(answer, this.#options.clock.passed());
    try {
      return await answer;
    } finally {
      this.#unanswered.delete(answer);
    }
  }

  /** Commits one unit, after those queued in the same lane. With a key, the unit is idempotent. Rejects on failure. */
  async writeUnit(lane: string, unit: Unit, once?: OnceWrite): Promise<CommittedUnit> {
    const units = [{ unit, once, messages: unit.length, bytes: bytesOfUnit(unit) }];
    const [result] = await this.write({ lane, units, stepwise: true });
    if (!result?.ok) throw result?.error ?? noAnswer();
    return result;
  }

  /** Commits one write in the same way. Rejects if the write was made before and its result was forgotten since. */
  async writeOne<W extends Write>(lane: string, write: W, once?: OnceWrite): Promise<DoneOf<W>> {
    const [done] = (await this.writeUnit(lane, [write], once)).done;
    if (!done) throw forgottenSince();
    return done as DoneOf<W>;
  }

  async #answer(request: WriteRequest): Promise<readonly UnitResult[]> {
    const bytes = request.units.reduce((sum, sized) => sum + sized.bytes, 0);
    if (this.#closed) throw this.#closed;
    if (this.#mustWait(bytes)) await this.#waitForRoom(bytes);
    else this.#waitingBytes += bytes;
    this.#stats.waitingWrites++;
    try {
      return await new Promise<readonly UnitResult[]>((settle) => {
        this.#lanes.push({ ...request, taken: 0, results: [], bytes, settle });
        this.#running ??= this.#run();
      });
    } finally {
      this.#stats.waitingWrites--;
      this.#waitingBytes -= bytes;
      this.#admitWaiting();
    }
  }

  /** Resolves when all calls made so far are answered. It does not wait for later calls. */
  async flushAll(): Promise<void> {
    await Promise.allSettled(this.#unanswered.keys()); // each caller gets its own error
  }

  stats(): WriteBufferStats {
    const [lastError, commitError] = [this.#lastError, this.#commitError];
    const { clock, maxWaitingBytes } = this.#options;
    const [oldest] = this.#unanswered.values();
    return {
      ...this.#stats,
      waitingBytes: this.#waitingBytes,
      maxWaitingBytes,
      ...(oldest !== undefined && { oldestMs: clock.passed() - oldest }),
      waitingForRoom: this.#admissions.length,
      health: this.#health,
      ...(lastError !== undefined && { lastError }),
      ...(commitError !== undefined && { commitError }),
    };
  }

  /** Stops intake and writes everything that was accepted. */
  async close(): Promise<void> {
    this.#closed ??= new HoldfastError("closed", "the memory is closed", { hint: "open it again to write" });
    for (const waiting of this.#admissions.splice(0)) waiting.admit(this.#closed);
    while (this.#running) await this.#running;
    if (this.#health !== "failed") this.#health = "closed";
  }

  #mustWait(bytes: number): boolean {
    if (this.#admissions.length > 0) return true;
    return this.#waitingBytes > 0 && this.#waitingBytes + bytes > this.#options.maxWaitingBytes;
  }

  /** Resolves when there is space. By then the bytes are reserved. */
  #waitForRoom(bytes: number): Promise<void> {
    const { clock, maxWaitMs } = this.#options;
    return new Promise((resolve, reject) => {
      const waiting = {
        bytes,
        admit: (error?: HoldfastError) => {
          cancel();
          if (error) reject(error);
          else resolve();
        },
      };
      const cancel = clock.after(maxWaitMs, () => {
        this.#admissions.splice(this.#admissions.indexOf(waiting), 1);
        this.#stats.refused++;
        reject(
          new HoldfastError("overloaded", `too much is waiting to be written (for more than ${maxWaitMs} ms)`, {
            hint: "try again in a moment; nothing of this call was written",
            details: { waitingBytes: this.#waitingBytes },
          }),
        );
        this.#admitWaiting();
      });
      this.#admissions.push(waiting);
    });
  }

  /** Admits waiting callers in order, while there is space. */
  #admitWaiting(): void {
    for (let next = this.#admissions[0]; next; next = this.#admissions[0]) {
      if (this.#waitingBytes > 0 && this.#waitingBytes + next.bytes > this.#options.maxWaitingBytes) return;
      this.#waitingBytes += next.bytes;
      this.#admissions.shift();
      next.admit();
    }
  }

  async #run(): Promise<void> {
    try {
      // Yield to the event loop once, so that every caller that is ready joins the group.
      for (await nextTurn(); !this.#lanes.isEmpty; await nextTurn()) await this.#writeGroup();
    } finally {
      this.#running = undefined;
    }
  }

  async #writeGroup(): Promise<void> {
    const affordable = Math.floor(GROUP_WORK_MS / this.#msPerMessage);
    const messages = Math.min(GROUP_MESSAGES, Math.max(1, affordable));
    const group = this.#lanes.takeGroup({ messages, bytes: GROUP_BYTES });
    const results = await this.#commit(group.map(({ sized }) => sized));
    this.#stats.totalGroups++;
    for (const [at, taken] of group.entries()) this.#finish(taken, results[at] ?? { ok: false, error: noAnswer() });
    if (this.#closed && this.#health === "failed") this.#refuseWaiting(this.#closed);
  }

  #finish({ job, sized }: Taken<WaitingJob>, result: UnitResult): void {
    job.results.push(result);
    if (result.ok) {
      this.#stats.totalWrites++;
      this.#stats.totalMessages += sized.messages;
      if (!result.repeated) this.#options.events?.committed(sized.unit, result.done);
    } else if (job.stepwise) this.#lanes.abandon(job);
    const over = job.results.length === job.units.length || (job.stepwise && !result.ok);
    if (over) job.settle(job.results);
  }

  /** Commits units in one transaction. A commit of unknown outcome is resolved before any caller is answered. */
  async #commit(group: readonly SizedUnit[]): Promise<readonly UnitResult[]> {
    const { store, clock, events } = this.#options;
    const units = group.map(({ unit, once }) => (once ? [once, ...unit] : unit));
    for (let attempt = 1; ; attempt++) {
      const now = clock.now();
      const name = newId(now);
      try {
        const committing = store.commit(units, now, name);
        const { outcomes, workMs } = await (events?.watch(committing) ?? committing);
        this.#learn(group, workMs);
        this.#commitError = undefined;
        return await Promise.all(outcomes.map((outcome, at) => this.#resultOf(outcome, group[at]?.once)));
      } catch (cause) {
        const error = asError(cause);
        this.#lastError = error.message;
        this.#commitError = error.message;
        if (error.code === "store_unsafe") this.#fail("the store is not safe to write to any more", error);
        if (error.code !== "outcome_unknown") return units.map(() => ({ ok: false, error }));
        const committed = await this.#recover(name, error);
        if (committed instanceof HoldfastError) return units.map(() => ({ ok: false, error: committed }));
        if (committed) {
          this.#commitError = undefined;
          return Promise.all(group.map((sized) => answerFromStore(store, sized, clock.now())));
        }
        if (attempt === ATTEMPTS) return units.map(() => ({ ok: false, error: notWritten(error) }));
      }
    }
  }

  async #resultOf(outcome: Outcome, once: OnceWrite | undefined): Promise<UnitResult> {
    if (!outcome.ok) return { ok: false, error: fromRecord(outcome.error) };
    const [head, ...done] = outcome.done;
    if (!once || head?.op !== "once") return { ok: true, done: outcome.done, repeated: false };
    if (!head.first) return { ok: true, done, repeated: false };
    const { store, clock } = this.#options;
    try {
      return { ok: true, done: await firstDone(store, once, head.first, clock.now()), repeated: true };
    } catch (error) {
      return { ok: false, error: asError(error) };
    }
  }

  /**
   * Reopens the store and checks whether it contains the group. Returns an error if the buffer must stay closed to
   * writes.
   */
  async #recover(group: string, cause: HoldfastError): Promise<boolean | HoldfastError> {
    this.#health = "recovering";
    try {
      await this.#options.store.reopen();
      const committed = await this.#options.store.wasCommitted(group);
      this.#health = "ok";
      this.#stats.recoveries++;
      return committed;
    } catch (error) {
      this.#fail("the store failed and could not be opened again", asError(error));
      return new HoldfastError("outcome_unknown", "the store failed while committing and could not be opened again", {
        cause,
        hint: "open the memory again and retry with the same ids or idempotency key: a retry adds nothing twice",
      });
    }
  }

  /** Closes the buffer: later writes are refused, with this error as the cause. */
  #fail(message: string, cause: HoldfastError): void {
    this.#health = "failed";
    this.#lastError = cause.message;
    const isUnsafe = cause.code === "store_unsafe";
    this.#closed = new HoldfastError(isUnsafe ? "store_unsafe" : "store_failed", `${message}: ${cause.message}`, {
      cause,
      hint:
        (isUnsafe ? cause.hint : undefined) ??
        "check the disk and the file, then open the memory again; what was acknowledged is on disk",
    });
  }

  #refuseWaiting(error: HoldfastError): void {
    for (const waiting of this.#admissions.splice(0)) waiting.admit(error);
    for (const job of this.#lanes.drain()) {
      const missing = job.units.slice(job.results.length);
      job.settle([...job.results, ...missing.map((): UnitResult => ({ ok: false, error }))]);
    }
  }

  /**
   * Keeps a moving average of the store's work per message, which sets the size of the next group. One slow commit (the
   * first one, or a busy machine) has little weight; otherwise groups would shrink just when many calls wait.
   */
  #learn(group: readonly SizedUnit[], workMs: number): void {
    const messages = group.reduce((sum, sized) => sum + sized.messages, 0);
    const sample = Math.min(workMs / Math.max(messages, 1), 4 * this.#msPerMessage);
    this.#msPerMessage = 0.8 * this.#msPerMessage + 0.2 * sample;
  }
}

function asError(error: unknown): HoldfastError {
  if (error instanceof HoldfastError) return error;
  return new HoldfastError("outcome_unknown", error instanceof Error ? error.message : String(error), { cause: error });
}

function notWritten(cause: HoldfastError): HoldfastError {
  return new HoldfastError("store_failed", "the store failed while committing; nothing of this call was written", {
    cause,
    hint: "check the disk; the call can be repeated",
  });
}

const noAnswer = (): HoldfastError =>
  new HoldfastError("store_failed", "the store gave no answer for this write", {
    hint: "this is a bug: please report it",
  });

export const NOTHING_ADDED: Added = Object.freeze({ ids: [], sequences: [], repeated: false });

const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
