/**
 * The last turns of a conversation, as context for a backend that has no memory. In memory and synchronous; evicted
 * turns are gone. `SessionConversation` keeps them in a store.
 */
import { type Clock, systemClock } from "../clock.js";
import { parseInstant } from "../input/instant.js";
import type { Instant } from "../types.js";
import { contextText } from "./context-text.js";
import { completeConfig, type MemoryConfig } from "./memory-config.js";
import { parseSerialised, type SerialisedMemory, serialise } from "./serialised-memory.js";
import { makeTurn, type Speaker, type TurnRecord } from "./turn-record.js";
import { TurnWindow } from "./turn-window.js";

/** A bounded window on a conversation, in memory only. */
export class ConversationMemory {
  /** Complete and frozen. */
  readonly config: MemoryConfig;
  readonly #clock: Clock;
  readonly #window: TurnWindow;

  constructor(config: Partial<MemoryConfig> = {}, clock: Clock = systemClock) {
    this.config = completeConfig(config);
    this.#clock = clock;
    this.#window = new TurnWindow(this.config.maxTurns);
  }

  /** Five turns, 4,000 characters. */
  static withDefaults(): ConversationMemory {
    return new ConversationMemory();
  }

  /** Reads the serialised form. Limits in `config` override those in it. */
  static fromJSON(value: unknown, config: Partial<MemoryConfig> = {}, clock?: Clock): ConversationMemory {
    const parsed = parseSerialised(value);
    const memory = new ConversationMemory({ ...parsed.config, ...given(config) }, clock);
    for (const turn of parsed.turns) memory.#window.push(turn);
    return memory;
  }

  /** Records a turn, and evicts the oldest if there are more than `maxTurns`. A turn may be empty. */
  recordTurn(role: Speaker, content: string, timestamp?: Instant): void {
    const time = timestamp === undefined ? this.#clock.now() : parseInstant(timestamp, "timestamp");
    this.#window.push(makeTurn(role, content, time));
  }

  /**
   * The newest turns that fit the budgets, as text, in order. If not even the newest fits, it is cut. Empty if there is
   * no turn, or no room for the header, the speaker and one character.
   */
  formatContext(): string {
    return contextText(this.turns, this.config);
  }

  /** Removes all turns. */
  clear(): void {
    this.#window.clear();
  }

  /** Number of turns in the window. */
  get length(): number {
    return this.#window.length;
  }

  /** True if the window has no turns. */
  get isEmpty(): boolean {
    return this.length === 0;
  }

  /** The turns, oldest first, as a frozen copy. */
  get turns(): readonly TurnRecord[] {
    return this.#window.list();
  }

  /** The window and its limits as JSON; `fromJSON` reads it. */
  toJSON(): SerialisedMemory {
    return serialise(this.turns, this.config);
  }
}

/** Drops keys with the value undefined, which would override others. */
function given(config: Partial<MemoryConfig>): Partial<MemoryConfig> {
  return Object.fromEntries(Object.entries(config).filter(([, value]) => value !== undefined));
}
