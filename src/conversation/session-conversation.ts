/**
 * A conversation memory whose turns live in a store: the window shows the last of them, and those that leave it can still
 * be found there. A turn is durable before it is in the window, and turns have the same order in both.
 *
 * The window is a copy. What is edited or forgotten in the store, and what others add to the session, shows after
 * `reload`.
 */
import { type Clock, systemClock } from "../clock.js";
import { RESULTS_MAX } from "../input/limits.js";
import type { ListOptions } from "../input/list.js";
import type { Added, Item, NewMessage, Page } from "../types.js";
import { ConversationMemory } from "./conversation-memory.js";
import type { MemoryConfig } from "./memory-config.js";
import { makeTurn, SPEAKERS, type Speaker, type TurnRecord } from "./turn-record.js";

/** What is needed of a session. */
export interface ConversationStore {
  /** Resolves when the messages are durable. */
  add(messages: readonly NewMessage[]): Promise<Added>;
  list(options?: ListOptions): Promise<Page<Item>>;
}

export class SessionConversation {
  readonly #store: ConversationStore;
  readonly #memory: ConversationMemory;
  readonly #clock: Clock;
  /** Resolves when all calls so far have ended; never rejects. */
  #ended: Promise<unknown> = Promise.resolve();

  private constructor(store: ConversationStore, config: Partial<MemoryConfig>, clock: Clock) {
    this.#store = store;
    this.#memory = new ConversationMemory(config, clock);
    this.#clock = clock;
  }

  /** The window starts with the newest turns of the store, whether or not an earlier one was cleared. */
  static async open(
    store: ConversationStore,
    config: Partial<MemoryConfig> = {},
    clock: Clock = systemClock,
  ): Promise<SessionConversation> {
    const conversation = new SessionConversation(store, config, clock);
    await conversation.reload();
    return conversation;
  }

  /** When it resolves the turn is durable and in the window; if it rejects, not in the window. Calls keep their order. */
  async recordTurn(role: Speaker, content: string): Promise<void> {
    const turn = makeTurn(role, content, this.#clock.now());
    await this.#inOrder(async () => {
      await this.#store.add([{ role: turn.role, content: turn.content, occurredAt: turn.timestamp }]);
      this.#record(turn);
    });
  }

  /** Fills the window anew with the newest turns of the store. If it rejects the window is as before. */
  async reload(): Promise<void> {
    await this.#inOrder(async () => {
      const turns = await newestTurns(this.#store, this.config.maxTurns);
      this.#memory.clear();
      for (const turn of turns) this.#record(turn);
    });
  }

  formatContext(): string {
    return this.#memory.formatContext();
  }

  /** Empties the window; the store keeps its turns. A turn that is being recorded comes after it. */
  clear(): void {
    this.#memory.clear();
  }

  get length(): number {
    return this.#memory.length;
  }

  get isEmpty(): boolean {
    return this.#memory.isEmpty;
  }

  get config(): MemoryConfig {
    return this.#memory.config;
  }

  get turns(): readonly TurnRecord[] {
    return this.#memory.turns;
  }

  #record({ role, content, timestamp }: TurnRecord): void {
    this.#memory.recordTurn(role, content, timestamp);
  }

  /** Does the work when all that was asked before has ended, well or badly. */
  #inOrder(work: () => Promise<void>): Promise<void> {
    const done = this.#ended.then(work);
    this.#ended = done.catch(() => undefined); // its own caller is told
    return done;
  }
}

/** What user and assistant said last, oldest first. */
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
