/**
 * WriteBuffer: the one entry for writes. All calls that wait while a commit is under way become the next commit
 * (group commit): one transaction and one sync for all of them; each succeeds or fails by itself.
 *
 * Invariants:
 * - A call is answered only when its commit is durable, or when it is certain that nothing of it was written.
 * - One group is under way at a time; calls of one lane (a session) are written in the order in which they came.
 * - Bytes waiting are bounded: beyond the bound callers wait for room, then are refused. Nothing is dropped.
 */
import type { Clock } from "../clock.js";
import { fromRecord, HoldfastError } from "../errors.js";
import type { Events } from "../events/events.js";
import { newId } from "../ids.js";
import type { ParsedRound } from "../input/message.js";
import type { ParsedScope } from "../input/scope.js";
import type { Done, Outcome, Store } from "../stores/store.js";
import type { Added } from "../types.js";
import { batchAnswer, mergeAdded } from "./answers.js";
import { GROUP_BYTES, GROUP_MESSAGES, GROUP_WORK_MS } from "./group.js";
import { type Job, Lanes, type SizedUnit, type Taken } from "./lanes.js";
import { answerFromStore } from "./recovery.js";
import { unitsOf } from "./units.js";

/** How often a group whose commit was lost is written again before its callers are told. */
const ATTEMPTS = 3;

export interface WriteBufferOptions {
  readonly store: Store;
  readonly clock: Clock;
  /** Tells what was committed. */
  readonly events?: Events;
  readonly maxWaitingBytes: number;
  readonly maxWaitMs: number;
}

export interface WriteRequest {
  /** Calls of one lane keep their order. */
  readonly lane: string;
  readonly units: readonly SizedUnit[];
  /** True: a unit is written only after the one before it has succeeded. */
  readonly stepwise: boolean;
}

/** One unit's result: what its writes did, and in which commit; or why they did nothing. */
export type UnitResult =
  | { readonly ok: true; readonly done: readonly Done[]; readonly commit: number }
  | { readonly ok: false; readonly error: HoldfastError };

export interface WriteBufferStats {
  /** Units answered with success, and the messages in them. */
  readonly totalWrites: number;
  readonly totalMessages: number;
  /** Commits, each of them one group. */
  readonly totalGroups: number;
  readonly waitingWrites: number;
  readonly waitingBytes: number;
  /** Calls refused because the buffer stayed full. */
  readonly refused: number;
  /** Commits of unknown outcome that were cleared up. */
  readonly recoveries: number;
  readonly health: "ok" | "recovering" | "failed" | "closed";
  readonly lastError?: string;
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
  readonly #unanswered = new Set<Promise<unknown>>();
  #running: Promise<void> | undefined;
  #msPerMessage = 0.05;
  #waitingBytes = 0;
  #closed: HoldfastError | undefined;
  readonly #stats = { totalWrites: 0, totalMessages: 0, totalGroups: 0, waitingWrites: 0, refused: 0, recoveries: 0 };
  #health: WriteBufferStats["health"] = "ok";
  #lastError: string | undefined;

  constructor(options: WriteBufferOptions) {
    this.#options = options;
  }

  /** Writes one round: all or nothing, unless it is over the bounds of a group, then in parts and in order. */
  async add(scope: ParsedScope, round: ParsedRound, idempotencyKey?: string): Promise<Added> {
    if (round.rows.length === 0) return NOTHING_ADDED;
    const units = unitsOf(scope, round, idempotencyKey);
    return mergeAdded(await this.write({ lane: laneOf(scope), units, stepwise: units.length > 1 }), units.length);
  }

  /** Writes several rounds in order, each all or nothing; one that fails does not stop the others. */
  async addBatch(scope: ParsedScope, rounds: readonly ParsedRound[], key?: string): Promise<readonly Added[]> {
    const units = rounds.map((round, at) => unitsOf(scope, round, key && `${key}/${at}`));
    const lane = laneOf(scope);
    const results: readonly (readonly UnitResult[])[] = units.every((parts) => parts.length === 1)
      ? (await this.write({ lane, units: units.flat(), stepwise: false })).map((result) => [result])
      : await Promise.all(units.map((parts) => this.write({ lane, units: parts, stepwise: true })));
    const expected = units.map((parts) => parts.length);
    return batchAnswer(results, expected);
  }

  /** Resolves when every unit has been committed or has failed, with a result for each; rejects if none was tried. */
  async write(request: WriteRequest): Promise<readonly UnitResult[]> {
    if (request.units.length === 0) return [];
    const answer = this.#answer(request);
    this.#unanswered.add(answer);
    try {
      return await answer;
    } finally {
      this.#unanswered.delete(answer);
    }
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

  /** Resolves when everything that was called for so far has been answered; what comes later is not waited for. */
  async flushAll(): Promise<void> {
    await Promise.allSettled(this.#unanswered); // whoever called has the error
  }

  stats(): WriteBufferStats {
    const lastError = this.#lastError;
    const waitingBytes = this.#waitingBytes;
    return { ...this.#stats, waitingBytes, health: this.#health, ...(lastError !== undefined && { lastError }) };
  }

  /** Stops intake and writes what was accepted. */
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

  /** Resolves when there is room; the bytes are counted by then. */
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

  /** Lets waiting callers in, in order, as long as there is room. */
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
      // A turn of the event loop lets every caller that is ready now join the group.
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
    for (const [at, taken] of group.entries()) this.#finish(taken, results[at] ?? missingResult());
    if (this.#closed && this.#health === "failed") this.#refuseWaiting(this.#closed);
  }

  #finish({ job, sized }: Taken<WaitingJob>, result: UnitResult): void {
    job.results.push(result);
    if (result.ok) {
      this.#stats.totalWrites++;
      this.#stats.totalMessages += sized.messages;
      this.#options.events?.committed(sized.unit, result.done, result.commit);
    } else if (job.stepwise) this.#lanes.abandon(job);
    const over = job.results.length === job.units.length || (job.stepwise && !result.ok);
    if (over) job.settle(job.results);
  }

  /** Commits units in one transaction; a commit of unknown outcome is cleared up before anyone is answered. */
  async #commit(group: readonly SizedUnit[]): Promise<readonly UnitResult[]> {
    const { store, clock, events } = this.#options;
    const units = group.map(({ unit }) => unit);
    for (let attempt = 1; ; attempt++) {
      const now = clock.now();
      const name = newId(now);
      try {
        const committing = store.commit(units, now, name);
        const { commit, outcomes, workMs } = await (events?.watch(committing) ?? committing);
        this.#learn(group, workMs);
        return outcomes.map((outcome) => toResult(outcome, commit));
      } catch (cause) {
        const error = asError(cause);
        this.#lastError = error.message;
        if (error.code !== "outcome_unknown") return units.map(() => ({ ok: false, error }));
        const committed = await this.#recover(name, error);
        if (committed instanceof HoldfastError) return units.map(() => ({ ok: false, error: committed }));
        if (committed) return Promise.all(units.map((unit) => answerFromStore(store, unit, clock.now())));
        if (attempt === ATTEMPTS) return units.map(() => ({ ok: false, error: notWritten(error) }));
      }
    }
  }

  /** Reopens the store and finds out whether the group is in it. An error means that the door stays closed. */
  async #recover(group: string, cause: HoldfastError): Promise<boolean | HoldfastError> {
    this.#health = "recovering";
    try {
      await this.#options.store.reopen();
      const committed = await this.#options.store.wasCommitted(group);
      this.#health = "ok";
      this.#stats.recoveries++;
      return committed;
    } catch (error) {
      this.#health = "failed";
      this.#lastError = asError(error).message;
      this.#closed = new HoldfastError("store_failed", "the store failed and could not be opened again", {
        cause: error,
        hint: "check the disk and the file, then open the memory again; what was acknowledged is on disk",
      });
      return new HoldfastError("outcome_unknown", "the store failed while committing and could not be opened again", {
        cause,
        hint: "open the memory again and retry with the same ids or idempotency key: a retry adds nothing twice",
      });
    }
  }

  #refuseWaiting(error: HoldfastError): void {
    for (const waiting of this.#admissions.splice(0)) waiting.admit(error);
    for (const job of this.#lanes.drain()) {
      const missing = job.units.slice(job.results.length);
      job.settle([...job.results, ...missing.map((): UnitResult => ({ ok: false, error }))]);
    }
  }

  /**
   * Keeps an average of the store's work per message, from which the size of the next group follows. One slow commit
   * (the first one, or a busy machine) counts for little, or groups would shrink just when many wait.
   */
  #learn(group: readonly SizedUnit[], workMs: number): void {
    const messages = group.reduce((sum, sized) => sum + sized.messages, 0);
    const sample = Math.min(workMs / Math.max(messages, 1), 4 * this.#msPerMessage);
    this.#msPerMessage = 0.8 * this.#msPerMessage + 0.2 * sample;
  }
}

function toResult(outcome: Outcome, commit: number): UnitResult {
  return outcome.ok ? { ok: true, done: outcome.done, commit } : { ok: false, error: fromRecord(outcome.error) };
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

function missingResult(): UnitResult {
  return { ok: false, error: new HoldfastError("store_failed", "the store gave no answer for this write") };
}

/** Calls of one session keep their order. */
export const laneOf = ({ space, session }: ParsedScope): string => JSON.stringify([space, session]);

export const NOTHING_ADDED: Added = Object.freeze({ ids: [], sequences: [], commit: 0, repeated: false });

const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
