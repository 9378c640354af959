/**
 * RoundBuffer: collects rounds per session until a batch is due for the HybridBuffer: more than `maxTokens` tokens,
 * `maxSize` rounds, nothing new for `idleMs`, or an explicit request. The rounds themselves are in the store; this
 * buffer only tracks which sessions have pending items.
 *
 * Invariants:
 * - Thresholds count the session's own pending rows, regardless of which process added them. Sessions do not affect
 *   each other.
 * - Thresholds are upper bounds, not delays: with `eager`, a session is due as soon as the embedder is free.
 * - Spaces take turns. Turns alternate between two groups: the sessions of all spaces that have not had a turn, newest
 *   first; and the sessions of one space that has had a turn and has more pending items, least recently served space
 *   first. A space with a large backlog thus delays a message in another space by one turn.
 * - There is one timer for all sessions. Sessions without pending items are not tracked, and at most LANES_MAX are.
 *   Sessions beyond that are found on disk when there is space again.
 */
import type { Clock } from "../clock.js";
import { HoldfastError } from "../errors.js";
import { TRANSFER_REASONS, type TransferReason } from "../events/event.js";
import { laneKey, spaceKey } from "../space-key.js";
import type { Lane } from "../stores/indexing.js";
import { tokensAtMost } from "../tokens/bound.js";

const LANES_MAX = 10_000;
/** Estimated memory of one tracked session: its own part, and its names, which are kept about three times. */
const LANE_BYTES = 600;
const BYTES_PER_LETTER = 3;

export interface DueLane {
  readonly lane: Lane;
  readonly reason: TransferReason;
}

/** The items of a session that are pending and not transferred yet. */
export interface Gathered {
  readonly rounds: number;
  readonly texts: readonly string[];
}

export interface RoundBufferOptions extends RoundThresholds {
  readonly clock: Clock;
  readonly gathered: (lane: Lane) => Promise<Gathered>;
  readonly countTokens: (texts: readonly string[]) => Promise<readonly number[]>;
  /** Called when a batch is due. */
  readonly onDue: () => void;
}

export interface RoundBufferStats {
  /** Sessions with pending items that this process tracks. */
  readonly sessions: number;
  /** Rounds that this process added to them, and the upper bound of their tokens at the last check. */
  readonly rounds: number;
  readonly tokens: number;
  /** Estimated size of what is tracked. */
  readonly bytes: number;
  /** How long the oldest of them has waited since it was taken in or found; absent if nothing waits. */
  readonly oldestMs?: number;
  readonly totalTransfers: number;
  readonly transferTriggers: { readonly [reason in TransferReason]: number };
  readonly thresholds: RoundThresholds;
}

/** When a session is transferred: the options in force. With `eager` they are upper bounds, not delays. */
export interface RoundThresholds {
  readonly maxTokens: number;
  readonly maxSize: number;
  readonly idleMs: number;
  readonly eager: boolean;
}

/** gathering: below every threshold · due: it waits for its turn · transferring: it is being embedded. */
export const ROUND_STATES = ["gathering", "due", "transferring"] as const;

/** What one session has in the RoundBuffer. */
export interface GatheringSession {
  readonly state: (typeof ROUND_STATES)[number];
  /** Why it is due. */
  readonly reason?: TransferReason;
  /** Rounds that this process added, and the upper bound of their tokens; 0 where they are not counted. */
  readonly rounds: number;
  readonly tokens: number;
  /** How long the oldest has waited. */
  readonly oldestMs: number;
}

/** The buffer of one session, as shown to readers. */
export interface RoundView {
  /** Tokens that wait. */
  readonly currentTokens: number;
  /** Rounds that wait. */
  readonly roundCount: number;
  /** Messages that wait. */
  readonly messageCount: number;
}

interface GatheringLane {
  readonly lane: Lane;
  /** The key of its space. */
  readonly space: string;
  /** When something was last added, on the monotonic clock. */
  touched: number;
  /** When it was first added to, after it was taken last. */
  since: number;
  rounds: number;
  tokens: number;
  due: TransferReason | undefined;
  looking: boolean;
  again: boolean;
  /** `taken`: it is being transferred. `touchedSince`: something was added or requested since it was taken. */
  taken: boolean;
  touchedSince: boolean;
  /** It was taken before, for the same reason, and has items left. */
  isRest: boolean;
}

export class RoundBuffer {
  readonly #options: RoundBufferOptions;
  /** Ordered by `touched`. */
  readonly #lanes = new Map<string, GatheringLane>();
  readonly #triggers = Object.fromEntries(TRANSFER_REASONS.map((reason) => [reason, 0])) as {
    [reason in TransferReason]: number;
  };
  /** Spaces that have had a turn and have more pending items, in the order of their next turns. */
  readonly #served = new Set<string>();
  #wasFirst = false;
  #cancelTimer: (() => void) | undefined;
  #overflowed = false;

  constructor(options: RoundBufferOptions) {
    this.#options = options;
  }

  /** Records that this process added rounds to the session. */
  added(lane: Lane, rounds: number): void {
    this.#touch(lane, rounds, undefined);
  }

  /** Records that the session has pending items, added by any process. `reason` applies if that alone makes it due. */
  found(lane: Lane, reason: "eager" | "recovery"): void {
    const known = this.#lanes.get(laneKey(lane));
    if (!known || known.taken) this.#touch(lane, 0, this.#options.eager ? reason : undefined);
  }

  /** Makes the session due now, regardless of thresholds. */
  force(lane: Lane, reason: TransferReason): void {
    this.#touch(lane, 0, reason);
  }

  /** Takes the sessions of the next turn, newest first. They belong to the caller until it calls `settle`. */
  take(max: number): readonly DueLane[] {
    const due = this.#turn().slice(0, max);
    this.#arm();
    return due.map((waiting) => {
      const reason = this.#reasonOf(waiting) ?? "eager";
      if (!waiting.isRest) this.#triggers[reason]++;
      Object.assign(waiting, { taken: true, touchedSince: false, due: undefined, rounds: 0, tokens: 0 });
      return { lane: waiting.lane, reason };
    });
  }

  #turn(): readonly GatheringLane[] {
    const first: GatheringLane[] = [];
    const others = new Map<string, GatheringLane[]>([...this.#served].map((space) => [space, []]));
    for (const waiting of [...this.#lanes.values()].reverse()) {
      if (!waiting.taken && this.#reasonOf(waiting)) (others.get(waiting.space) ?? first).push(waiting);
    }
    for (const [space, lanes] of others) if (lanes.length === 0) this.#served.delete(space);
    const [next] = this.#served;
    this.#wasFirst = first.length > 0 && (next === undefined || !this.#wasFirst);
    if (this.#wasFirst || next === undefined) return first;
    this.#served.delete(next);
    this.#served.add(next);
    return others.get(next) ?? [];
  }

  /**
   * Returns taken sessions. Those in `rest` have more pending items. Spaces of the lanes in `begun` have had a turn.
   */
  settle(taken: readonly DueLane[], rest: readonly Lane[], begun: readonly Lane[]): void {
    const names = new Set(rest.map(laneKey));
    const served = new Set(begun.map(({ space }) => spaceKey(space)));
    for (const { lane, reason } of taken) {
      const name = laneKey(lane);
      const waiting = this.#lanes.get(name);
      if (!waiting) continue;
      waiting.taken = false;
      waiting.isRest = names.has(name);
      if (waiting.isRest) {
        waiting.due ??= reason;
        if (served.has(waiting.space)) this.#served.add(waiting.space);
      } else if (!waiting.touchedSince) this.#lanes.delete(name);
    }
    this.#arm();
  }

  /** True if some sessions did not fit. Reading clears the flag. */
  takeOverflow(): boolean {
    const overflowed = this.#overflowed;
    this.#overflowed = false;
    return overflowed;
  }

  get isDue(): boolean {
    for (const waiting of this.#lanes.values()) if (!waiting.taken && this.#reasonOf(waiting)) return true;
    return false;
  }

  has(lane: Lane): boolean {
    return this.#lanes.has(laneKey(lane));
  }

  isTaken(lane: Lane): boolean {
    return this.#lanes.get(laneKey(lane))?.taken === true;
  }

  /** All tracked sessions: due, not due, and taken. */
  get lanes(): readonly Lane[] {
    return [...this.#lanes.values()].map(({ lane }) => lane);
  }

  async view(lane: Lane): Promise<RoundView> {
    const { rounds, texts } = await this.#options.gathered(lane);
    return { currentTokens: await this.#tokensOf(texts), roundCount: rounds, messageCount: texts.length };
  }

  get stats(): RoundBufferStats {
    const totalTransfers = Object.values(this.#triggers).reduce((sum, count) => sum + count, 0);
    let [rounds, tokens, bytes] = [0, 0, 0];
    for (const [name, waiting] of this.#lanes) {
      rounds += waiting.rounds;
      tokens += waiting.tokens;
      bytes += LANE_BYTES + BYTES_PER_LETTER * name.length;
    }
    const { maxTokens, maxSize, idleMs, eager, clock } = this.#options;
    const oldestMs = clock.passed() - Math.min(...Array.from(this.#lanes.values(), ({ since }) => since));
    return {
      ...{ sessions: this.#lanes.size, rounds, tokens, bytes, totalTransfers },
      ...(this.#lanes.size > 0 && { oldestMs }),
      transferTriggers: { ...this.#triggers },
      thresholds: { maxTokens, maxSize, idleMs, eager },
    };
  }

  /** The sessions with pending items, with what they have here. */
  get sessions(): readonly (readonly [Lane, GatheringSession])[] {
    const now = this.#options.clock.passed();
    return Array.from(this.#lanes.values(), (waiting) => {
      const { lane, taken, rounds, tokens, since } = waiting;
      const reason = taken ? undefined : this.#reasonOf(waiting);
      const state = taken ? "transferring" : reason ? "due" : "gathering";
      return [lane, { state, ...(reason && { reason }), rounds, tokens, oldestMs: now - since }];
    });
  }

  close(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
  }

  #touch(lane: Lane, rounds: number, due: TransferReason | undefined): void {
    const name = laneKey(lane);
    const known = this.#lanes.get(name);
    if (!known && this.#lanes.size >= LANES_MAX) {
      this.#overflowed = true;
      return;
    }
    const waiting = known ?? newWaiting(lane);
    waiting.touched = this.#options.clock.passed();
    if (!known || (waiting.taken && !waiting.touchedSince)) waiting.since = waiting.touched;
    waiting.touchedSince = true;
    waiting.rounds += rounds;
    waiting.due ??= due;
    this.#lanes.delete(name);
    this.#lanes.set(name, waiting);
    if (waiting.due !== undefined || this.#options.eager) this.#options.onDue();
    else void this.#look(waiting);
    this.#arm();
  }

  /** Why the session is due; undefined if it is not. */
  #reasonOf({ due, rounds }: GatheringLane): TransferReason | undefined {
    const { eager, maxSize } = this.#options;
    return due ?? (eager ? (rounds >= maxSize ? "rounds" : "eager") : undefined);
  }

  /** Checks whether a threshold is exceeded. Checks again if something was added in the meantime. */
  async #look(waiting: GatheringLane): Promise<void> {
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
      // The store or the token counter failed. The next add checks again, and the idle timer transfers in any case.
      if (!(error instanceof HoldfastError)) throw error;
    } finally {
      waiting.looking = false;
    }
    if (waiting.due !== undefined && this.#lanes.get(laneKey(waiting.lane)) === waiting) this.#options.onDue();
  }

  /** Stops tracking a session without pending items: another process embedded them, or the session was forgotten. */
  #forget(waiting: GatheringLane): void {
    const name = laneKey(waiting.lane);
    if (this.#lanes.get(name) === waiting && !waiting.taken) this.#lanes.delete(name);
    this.#arm();
  }

  #passedThreshold({ rounds }: Gathered, tokens: number): TransferReason | undefined {
    const { maxSize, maxTokens } = this.#options;
    if (rounds >= maxSize) return "rounds";
    return tokens > maxTokens ? "tokens" : undefined;
  }

  /**
   * An upper bound of the tokens. Counts exactly only if the limit may be exceeded and the rounds alone do not make the
   * session due.
   */
  async #tokensAtMost({ rounds, texts }: Gathered): Promise<number> {
    const { maxSize, maxTokens } = this.#options;
    const atMost = texts.reduce((sum, text) => sum + tokensAtMost(text), 0);
    return atMost <= maxTokens || rounds >= maxSize ? atMost : this.#tokensOf(texts);
  }

  async #tokensOf(texts: readonly string[]): Promise<number> {
    if (texts.length === 0) return 0;
    return (await this.#options.countTokens(texts)).reduce((sum, count) => sum + count, 0);
  }

  /** Sets the timer for the session that has been idle longest. */
  #arm(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
    if (this.#options.eager) return;
    for (const { touched, due, taken } of this.#lanes.values()) {
      if (due !== undefined || taken) continue;
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
      if (!waiting.taken) waiting.due ??= "idle";
    }
    this.#arm();
    onDue();
  }
}

const newWaiting = (lane: Lane): GatheringLane => ({
  ...{ lane, space: spaceKey(lane.space), touched: 0, since: 0, rounds: 0, tokens: 0, due: undefined },
  ...{ looking: false, again: false, taken: false, touchedSince: true, isRest: false },
});
