/**
 * A conversation memory whose turns are kept in a store. The window shows the newest turns; evicted turns can still be
 * found in the store. A turn is durable before it is in the window, and both have the same order.
 *
 * The window is a copy. Edits and deletions in the store, and messages that others add to the session, appear after
 * `reload`.
 */
import { type Clock, systemClock } from "../clock.js";
import { RESULTS_MAX } from "../input/limits.js";
import type { ListOptions } from "../input/list.js";
import type { Added, Item, NewMessage, Page } from "../types.js";
import { ConversationMemory } from "./conversation-memory.js";
import type { MemoryConfig } from "./memory-config.js";
import { makeTurn, SPEAKERS, type Speaker, type TurnRecord } from "./turn-record.js";

/** The part of a session that a conversation needs. */
export interface ConversationStore {
  /** Resolves when the messages are durable. */
  add(messages: readonly NewMessage[]): Promise<Added>;
  list(options?: ListOptions): Promise<Page<Item>>;
}

/** The newest turns of a session as text. Recorded turns are added to the session. */
export class SessionConversation {
  readonly #store: ConversationStore;
  readonly #memory: ConversationMemory;
  readonly #clock: Clock;
  /** Resolves when all earlier calls have ended; never rejects. */
  #ended: Promise<unknown> = Promise.resolve();

  private constructor(store: ConversationStore, config: Partial<MemoryConfig>, clock: Clock) {
    this.#store = store;
    this.#memory = new ConversationMemory(config, clock);
    this.#clock = clock;
  }

  /** Starts with the newest turns of the store, even if an earlier window was cleared. */
  static async open(
    store: ConversationStore,
    config: Partial<MemoryConfig> = {},
    clock: Clock = systemClock,
  ): Promise<SessionConversation> {
    const conversation = new SessionConversation(store, config, clock);
    await conversation.reload();
    return conversation;
  }

  /**
   * Resolves when the turn is durable and in the window. If it rejects, the turn is not in the window. Calls keep their
   * order.
   */
  async recordTurn(role: Speaker, content: string): Promise<void> {
    const turn = makeTurn(role, content, this.#clock.now());
    await this.#inOrder(async () => {
      await this.#store.add([{ role: turn.role, content: turn.content, occurredAt: turn.timestamp }]);
      this.#record(turn);
    });
  }

  /** Refills the window with the newest turns of the store. If it rejects, the window is unchanged. */
  async reload(): Promise<void> {
    await this.#inOrder(async () => {
      const turns = await newestTurns(this.#store, this.config.maxTurns);
      this.#memory.clear();
      for (const turn of turns) this.#record(turn);
    });
  }

  /** The window as text, oldest turn first, within its budget. */
  formatContext(): string {
    return this.#memory.formatContext();
  }

  /** Clears the window; the store keeps its turns. A turn that is being recorded is added afterwards. */
  clear(): void {
    this.#memory.clear();
  }

  /** Number of turns in the window. */
  get length(): number {
    return this.#memory.length;
  }

  /** True if the window has no turns. */
  get isEmpty(): boolean {
    return this.#memory.isEmpty;
  }

  /** The limits of the window. */
  get config(): MemoryConfig {
    return this.#memory.config;
  }

  /** The turns in the window, oldest first. */
  get turns(): readonly TurnRecord[] {
    return this.#memory.turns;
  }

  #record({ role, content, timestamp }: TurnRecord): void {
    this.#memory.recordTurn(role, content, timestamp);
  }

  /** Runs the work after all earlier calls have ended, successfully or not. */
  #inOrder(work: () => Promise<void>): Promise<void> {
    const done = this.#ended.then(work);
    this.#ended = done.catch(() => undefined); // reported to its own caller
    return done;
  }
}

/** The newest turns of user and assistant, oldest first. */
async function newestTurns(store: ConversationStore, count: number): Promise<readonly TurnRecord[]> {
  const turns: TurnRecord[] = [];
  for (let cursor: string | undefined; turns.length < count; ) {
    const limit = Math.min(count - turns.length, RESULTS_MAX);
    const page = await store.list({ kind: "message", role: SPEAKERS, limit, ...(cursor !== undefined && { cursor }) });
    for (const { role, content, occurredAt } of page.items) turns.push(makeTurn(role, content, occurredAt));
    cursor = page.next;
    if (cursor === undefined) break;
  }
  return turns.reverse();
}
