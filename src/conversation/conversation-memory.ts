/**
 * The last turns of a conversation, to be put before the next question to a backend that remembers nothing. In memory
 * and synchronous, as the seed has it; turns that leave are gone. `SessionConversation` keeps them in a store.
 */
import { type Clock, systemClock } from "../clock.js";
import { parseInstant } from "../input/instant.js";
import type { Instant } from "../types.js";
import { contextText } from "./context-text.js";
import { completeConfig, type MemoryConfig } from "./memory-config.js";
import { parseSerialised, type SerialisedMemory, serialise } from "./serialised-memory.js";
import { makeTurn, type Speaker, type TurnRecord } from "./turn-record.js";
import { TurnWindow } from "./turn-window.js";

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

  /** From the serialised form, which carries limits of its own; those given in `config` win over them. */
  static fromJSON(value: unknown, config: Partial<MemoryConfig> = {}, clock?: Clock): ConversationMemory {
    const parsed = parseSerialised(value);
    const memory = new ConversationMemory({ ...parsed.config, ...given(config) }, clock);
    for (const turn of parsed.turns) memory.#window.push(turn);
    return memory;
  }

  /** Records a turn; the oldest leaves if there are more than `maxTurns`. An empty content is a turn too. */
  recordTurn(role: Speaker, content: string, timestamp?: Instant): void {
    const time = timestamp === undefined ? this.#clock.now() : parseInstant(timestamp, "timestamp");
    this.#window.push(makeTurn(role, content, time));
  }

  /**
   * The turns as text, within the budgets: the newest that fit, in order. If not even the newest fits it is cut. Empty
   * if there is no turn, or no room for the header, the speaker and one character.
   */
  formatContext(): string {
    return contextText(this.turns, this.config);
  }

  clear(): void {
    this.#window.clear();
  }

  get length(): number {
    return this.#window.length;
  }

  get isEmpty(): boolean {
    return this.length === 0;
  }

  /** The turns, oldest first; a frozen copy. */
  get turns(): readonly TurnRecord[] {
    return this.#window.list();
  }

  toJSON(): SerialisedMemory {
    return serialise(this.turns, this.config);
  }
}

/** Without the keys whose value is undefined, which would hide others. */
function given(config: Partial<MemoryConfig>): Partial<MemoryConfig> {
  return Object.fromEntries(Object.entries(config).filter(([, value]) => value !== undefined));
}
