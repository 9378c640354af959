/**
 * RoundBuffer: per session, rounds gather until a batch is due for the HybridBuffer: more than `maxTokens` tokens,
 * `maxSize` rounds, nothing new for `idleMs`, or because somebody asks. What gathers lies in the store; here is only
 * which sessions have something waiting.
 *
 * Invariants:
 * - Thresholds count the session's own waiting rows, whoever added them; sessions do not disturb each other.
 * - They are upper bounds, not waits: with `eager` a session is due as soon as the embedder has time.
 * - One timer for all sessions; a session with nothing waiting is not here; at most LANES_MAX are. Those beyond it are
 *   found on disk when there is room again.
 */
import type { Clock } from "../clock.js";
import { HoldfastError } from "../errors.js";
import type { Lane } from "../stores/indexing.js";
import { tokensAtMost } from "../tokens/bound.js";
import { laneName } from "./lane-name.js";

const LANES_MAX = 10_000;

/** Why a batch was transferred. recovery: it was found on disk, left by a process that is gone or by an earlier run. */
export const TRANSFER_REASONS = [
  "tokens",
  "rounds",
  "idle",
  "manual",
  "close",
  "eager",
  "recovery",
  "through",
] as const;
export type TransferReason = (typeof TRANSFER_REASONS)[number];

export interface DueLane {
  readonly lane: Lane;
  readonly reason: TransferReason;
}

/** What of a session waits and is not transferred yet. */
export interface Gathered {
  readonly rounds: number;
  readonly texts: readonly string[];
}

export interface RoundBufferOptions {
  readonly clock: Clock;
  readonly maxTokens: number;
  readonly maxSize: number;
  readonly idleMs: number;
  readonly eager: boolean;
  readonly gathered: (lane: Lane) => Promise<Gathered>;
  readonly countTokens: (texts: readonly string[]) => Promise<readonly number[]>;
  /** A batch is due. */
  readonly onDue: () => void;
}

export interface RoundBufferStats {
  /** Sessions with something waiting that this process knows of. */
  readonly sessions: number;
  /** Rounds that this process has added to them, and tokens that were in them when they were last looked at (at most). */
  readonly rounds: number;
  readonly tokens: number;
  readonly totalTransfers: number;
  readonly transferTriggers: { readonly [reason in TransferReason]: number };
}

/** The buffer of one session, as a reader sees it. */
export interface RoundView {
  readonly currentTokens: number;
  readonly roundCount: number;
  readonly messageCount: number;
}

interface Waiting {
  readonly lane: Lane;
  /** When something was last added, on a clock that only grows. */
  touched: number;
  rounds: number;
  tokens: number;
  due: TransferReason | undefined;
  looking: boolean;
  again: boolean;
}

export class RoundBuffer {
  readonly #options: RoundBufferOptions;
  /** In the order of `touched`. */
  readonly #lanes = new Map<string, Waiting>();
  readonly #triggers = Object.fromEntries(TRANSFER_REASONS.map((reason) => [reason, 0])) as {
    [reason in TransferReason]: number;
  };
  #cancelTimer: (() => void) | undefined;
  #overflowed = false;

  constructor(options: RoundBufferOptions) {
    this.#options = options;
  }

  /** This process has added rounds to the session. */
  added(lane: Lane, rounds: number): void {
    this.#touch(lane, rounds, undefined);
  }

  /** Something of the session was found waiting, added by whomever. `reason` is for when that alone makes it due. */
  found(lane: Lane, reason: "eager" | "recovery"): void {
    if (!this.has(lane)) this.#touch(lane, 0, this.#options.eager ? reason : undefined);
  }

  /** The session is due now, whatever has gathered. */
  force(lane: Lane, reason: TransferReason): void {
    this.#touch(lane, 0, reason);
  }

  /** Batches that are due, newest first; they are the caller's from here on. */
  take(max: number): readonly DueLane[] {
    const due: DueLane[] = [];
    for (const [name, waiting] of [...this.#lanes].reverse()) {
      const reason = waiting.due ?? (this.#options.eager ? this.#eagerReason(waiting) : undefined);
      if (reason === undefined) continue;
      this.#lanes.delete(name);
      this.#triggers[reason]++;
      due.push({ lane: waiting.lane, reason });
      if (due.length === max) break;
    }
    this.#arm();
    return due;
  }

  /** Takes back what could not be transferred. */
  putBack(due: readonly DueLane[]): void {
    for (const { lane, reason } of due) {
      this.#triggers[reason]--;
      this.#touch(lane, 0, reason, false);
    }
  }

  /** True when more sessions wait than fit in here. Asking clears it. */
  takeOverflow(): boolean {
    const overflowed = this.#overflowed;
    this.#overflowed = false;
    return overflowed;
  }

  get isDue(): boolean {
    if (this.#options.eager) return this.#lanes.size > 0;
    for (const { due } of this.#lanes.values()) if (due !== undefined) return true;
    return false;
  }

  has(lane: Lane): boolean {
    return this.#lanes.has(laneName(lane));
  }

  /** The sessions that wait here, due or not. */
  get lanes(): readonly Lane[] {
    return [...this.#lanes.values()].map(({ lane }) => lane);
  }

  async view(lane: Lane): Promise<RoundView> {
    const { rounds, texts } = await this.#options.gathered(lane);
    return { currentTokens: await this.#tokensOf(texts), roundCount: rounds, messageCount: texts.length };
  }

  get stats(): RoundBufferStats {
    const totalTransfers = Object.values(this.#triggers).reduce((sum, count) => sum + count, 0);
    let [rounds, tokens] = [0, 0];
    for (const waiting of this.#lanes.values()) {
      rounds += waiting.rounds;
      tokens += waiting.tokens;
    }
    return { sessions: this.#lanes.size, rounds, tokens, totalTransfers, transferTriggers: { ...this.#triggers } };
  }

  close(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
  }

  #touch(lane: Lane, rounds: number, due: TransferReason | undefined, tell = true): void {
    const name = laneName(lane);
    const known = this.#lanes.get(name);
    if (!known && this.#lanes.size >= LANES_MAX) {
      this.#overflowed = true;
      return;
    }
    const waiting = known ?? { lane, touched: 0, rounds: 0, tokens: 0, due: undefined, looking: false, again: false };
    waiting.touched = this.#options.clock.passed();
    waiting.rounds += rounds;
    waiting.due ??= due;
    this.#lanes.delete(name);
    this.#lanes.set(name, waiting);
    if (tell && (waiting.due !== undefined || this.#options.eager)) this.#options.onDue();
    else if (tell) void this.#look(waiting);
    this.#arm();
  }

  #eagerReason({ rounds }: Waiting): TransferReason {
    return rounds >= this.#options.maxSize ? "rounds" : "eager";
  }

  /** Finds out whether a threshold is passed. Looks again if something was added meanwhile. */
  async #look(waiting: Waiting): Promise<void> {
    waiting.again = true;
    if (waiting.looking) return;
    waiting.looking = true;
    try {
      while (waiting.again && waiting.due === undefined) {
        waiting.again = false;
        const gathered = await this.#options.gathered(waiting.lane);
        if (gathered.rounds === 0 && !waiting.again) this.#forget(waiting);
        else {
          waiting.tokens = await this.#tokensAtMost(gathered);
          waiting.due ??= this.#passedThreshold(gathered, waiting.tokens); // it may have been forced meanwhile
        }
      }
    } catch (error) {
      // The store or the counter failed; whoever adds next looks again, and the idle timer transfers in any case.
      if (!(error instanceof HoldfastError)) throw error;
    } finally {
      waiting.looking = false;
    }
    if (waiting.due !== undefined && this.#lanes.get(laneName(waiting.lane)) === waiting) this.#options.onDue();
  }

  /** Nothing of it waits: others were faster, or it is forgotten. */
  #forget(waiting: Waiting): void {
    const name = laneName(waiting.lane);
    if (this.#lanes.get(name) === waiting) this.#lanes.delete(name);
    this.#arm();
  }

  #passedThreshold({ rounds }: Gathered, tokens: number): TransferReason | undefined {
    const { maxSize, maxTokens } = this.#options;
    if (rounds >= maxSize) return "rounds";
    return tokens > maxTokens ? "tokens" : undefined;
  }

  /** Counts them only where it matters: if there may be too many, and rounds do not make it due anyway. */
  async #tokensAtMost({ rounds, texts }: Gathered): Promise<number> {
    const { maxSize, maxTokens } = this.#options;
    const atMost = texts.reduce((sum, text) => sum + tokensAtMost(text), 0);
    return atMost <= maxTokens || rounds >= maxSize ? atMost : this.#tokensOf(texts);
  }

  async #tokensOf(texts: readonly string[]): Promise<number> {
    if (texts.length === 0) return 0;
    return (await this.#options.countTokens(texts)).reduce((sum, count) => sum + count, 0);
  }

  /** Sets the one timer for the session that has been idle longest. */
  #arm(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
    if (this.#options.eager) return;
    for (const { touched, due } of this.#lanes.values()) {
      if (due !== undefined) continue;
      const { clock, idleMs } = this.#options;
      this.#cancelTimer = clock.after(Math.max(touched + idleMs - clock.passed(), 0), () => this.#makeIdleDue());
      return;
    }
  }

  #makeIdleDue(): void {
    const { clock, idleMs, onDue } = this.#options;
    const until = clock.passed() - idleMs;
    for (const waiting of this.#lanes.values()) {
      if (waiting.touched > until) break;
      waiting.due ??= "idle";
    }
    this.#arm();
    onDue();
  }
}
