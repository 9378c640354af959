/**
 * The base of contexto's context engines, between an agent's loop and a backend. It buffers an episode after each turn,
 * delivers episodes when the context is compacted or the engine is disposed of, and injects what the backend finds.
 *
 * ```ts
 * const buffer = new SqliteBufferStore("buffer.db", { session: "monday" });
 * const engine = new DefaultContextEngine({ buffer, backend });
 * const { messages } = await engine.assemble({ messages: [...history, question], prompt: question.content });
 * const answer = await model(messages);
 * await engine.afterTurn({ messages: [question, answer] }); // on disk
 * await engine.compact(); // when the window is full
 * await engine.dispose();
 * buffer.close();
 * ```
 *
 * Invariants:
 * - An episode is in the buffer when `afterTurn` resolves, and leaves it only after the backend's `ingest` has resolved. So
 *   each is delivered at least once, whenever the process dies, and always with the same id. A crash between the two repeats
 *   it: buffer and backend share no transaction, so only the backend can make it exactly once.
 * - An item's id is in the buffer before its text is in an answer. So each is injected at most once per session, while the
 *   buffer keeps the id; a crash between the two loses the injection, not the item.
 * - Episodes are delivered oldest first, and none while another delivery of this engine is under way.
 */
import { type Clock, systemClock } from "../../clock.js";
import { HoldfastError } from "../../errors.js";
import { newId } from "../../ids.js";
import { parseInteger } from "../../input/integer.js";
import { invalid, objectWith, wrongType } from "../../input/refusal.js";
import { KeyedMutex } from "../../keyed-mutex.js";
import { estimateTokens } from "../../tokens/estimate.js";
import type { BufferedEntry, BufferStore } from "./buffer-store.js";
import type { CompactionState, CompactParams, CompactResult } from "./compaction.js";
import {
  backendFailed,
  type ContextoBackend,
  episodeOf,
  type JsonMessage,
  parseBackend,
  parseFound,
  type SearchItem,
} from "./contexto-backend.js";
import { fitting, type RecalledMessage, recalledMessages, recalledText } from "./recalled.js";

/** The options of a context engine. */
export interface ContextEngineOptions<Message extends object = JsonMessage> {
  /** Must be bound to a session, which the engine serves. Whoever opened it closes it, after `dispose`. */
  readonly buffer: BufferStore;
  /** Where episodes go, and where they are searched. */
  readonly backend: ContextoBackend<Message>;
  /** Length of the injected text. Default: 10 % of the token budget at 4 characters each; 2,000 if no budget is known. */
  readonly maxContextChars?: number;
  /** Dates episodes. Default: the system clock. */
  readonly clock?: Clock;
}

/** What `afterTurn` takes. */
export interface AfterTurnParams<Message extends object> {
  /** If given, it must be the engine's. */
  readonly sessionId?: string | undefined;
  /** Default: the session's name. */
  readonly sessionKey?: string | undefined;
  /** The turn's messages, which must be JSON; others may come before them. */
  readonly messages: readonly Message[];
  /** Number of messages before the turn. Default: 0. */
  readonly prePromptMessageCount?: number | undefined;
  /** What answered; it is kept with the episode. */
  readonly runtimeContext?: { readonly model?: string | undefined; readonly provider?: string | undefined } | undefined;
}

/** What `assemble` takes. */
export interface AssembleParams<Message extends object> {
  /** If given, it must be the engine's. */
  readonly sessionId?: string | undefined;
  /** The model's window. */
  readonly messages: readonly Message[];
  /** What to search for. Without it, nothing is injected. */
  readonly prompt?: string | undefined;
  /** Tokens that the model's window may have. Default: what a call named last. */
  readonly tokenBudget?: number | undefined;
}

/** What `assemble` returns. */
export interface AssembleResult<Message extends object> {
  /** The window; if anything was injected, two messages precede it. */
  readonly messages: (Message | RecalledMessage)[];
  /** An estimate of what was injected. */
  readonly estimatedTokens: number;
  /** Why less was injected than there may be: memory must not cost an agent its turn, so `assemble` does not reject. */
  readonly error?: HoldfastError;
}

const KEYS: ReadonlySet<string> = new Set(["buffer", "backend", "maxContextChars", "clock"]);
const CONTEXT_CHARS = { min: 100, usual: 2_000, max: 1_000_000, ofBudget: 0.1, perToken: 4 };
const RESULTS_MAX = 7;
/** Episodes per delivery, so that a crash repeats no more than these. */
const BATCH = 100;

/** The base of the context engines: buffers turns, delivers episodes to a backend, injects what it finds. */
export abstract class ContextEngine<Message extends object = JsonMessage> {
  protected readonly state: CompactionState;
  /** Whether `compact` shortens the model's window; otherwise the host does. */
  abstract readonly ownsCompaction: boolean;
  readonly #session: string;
  readonly #backend: ContextoBackend<Message>;
  readonly #maxContextChars: number | undefined;
  readonly #clock: Clock;
  readonly #deliveries = new KeyedMutex();
  #isDisposed = false;

  /** `keys` are the options of a subclass. */
  constructor(options: ContextEngineOptions<Message>, keys: readonly string[] = []) {
    const { buffer, backend, maxContextChars, clock } = objectWith(options, new Set([...KEYS, ...keys]), "options");
    this.#session = sessionOf(buffer);
    this.state = { buffer: buffer as BufferStore, cachedTokenBudget: undefined };
    this.#backend = parseBackend(backend);
    if (maxContextChars !== undefined) {
      const { min, max } = CONTEXT_CHARS;
      this.#maxContextChars = parseInteger(maxContextChars, "options.maxContextChars", min, max);
    }
    this.#clock = (clock as Clock | undefined) ?? systemClock;
  }

  /** Buffers the turn as one episode. A turn without messages is none. */
  async afterTurn({ sessionId, sessionKey, messages, ...rest }: AfterTurnParams<Message>): Promise<void> {
    this.#assertServes(sessionId);
    if (!Array.isArray(messages)) throw wrongType("messages", "a list", messages);
    const { prePromptMessageCount = 0, runtimeContext } = rest;
    const turn = messages.slice(parseInteger(prePromptMessageCount, "prePromptMessageCount", 0, messages.length));
    if (turn.length === 0) return;
    const now = this.#clock.now();
    const key = sessionKey ?? this.#session;
    const { model, provider } = runtimeContext ?? {};
    this.state.buffer.push(
      {
        id: newId(now),
        event: { type: "episode", action: "combined" },
        sessionKey: key,
        timestamp: new Date(now).toISOString(),
        context: { sessionId: this.#session, model, provider },
        data: { messages: turn },
      },
      this.#session,
      key,
    );
  }

  /** Searches for the prompt, and puts what was never injected before the messages. */
  async assemble(params: AssembleParams<Message>): Promise<AssembleResult<Message>> {
    const { sessionId, messages, prompt, tokenBudget } = params;
    this.#assertServes(sessionId);
    if (!Array.isArray(messages)) throw wrongType("messages", "a list", messages);
    if (prompt !== undefined && typeof prompt !== "string") throw wrongType("prompt", "a string", prompt);
    this.#setBudget(tokenBudget);
    const { lines, error } = prompt?.trim() ? await this.#recall(prompt) : { lines: [] };
    const text = lines.length === 0 ? "" : recalledText(lines);
    return {
      messages: text === "" ? [...messages] : [...recalledMessages(text), ...messages],
      estimatedTokens: estimateTokens(text),
      ...(error && { error }),
    };
  }

  /**
   * Delivers episodes because the model's window is full. Rejects with `backend_failed` if the backend does not take them;
   * they stay buffered for the next call.
   */
  abstract compact(params?: CompactParams): Promise<CompactResult<Message>>;

  /**
   * Delivers all buffered episodes, also those of an earlier process. From then on the engine takes no more turns. If it rejects,
   * the rest stays buffered, and another call tries again.
   */
  async dispose(): Promise<void> {
    this.#isDisposed = true;
    await this.exclusively(() => this.deliver(this.state.buffer.getAll()));
  }

  /** The token budget of a compaction. */
  protected begin({ sessionId, tokenBudget }: CompactParams): number | undefined {
    this.#assertServes(sessionId);
    this.#setBudget(tokenBudget);
    return this.state.cachedTokenBudget;
  }

  /** Runs one delivery at a time. */
  protected exclusively<T>(work: () => Promise<T>): Promise<T> {
    return this.#deliveries.run(this.#session, work);
  }

  /** Delivers these entries and removes them from the buffer. Requires `exclusively`. */
  protected async deliver(entries: readonly BufferedEntry[]): Promise<void> {
    for (let at = 0; at < entries.length; at += BATCH) {
      const batch = entries.slice(at, at + BATCH);
      const episodes = batch.map((entry) => episodeOf<Message>(entry));
      try {
        await this.#backend.ingest(episodes);
      } catch (cause) {
        throw backendFailed("ingest", cause, "what it did not take is still buffered; try again");
      }
      this.state.buffer.deleteByRowids(batch.map(({ rowid }) => rowid));
    }
  }

  /** The lines to inject: all of those whose ids were recorded, even if it failed after some. */
  async #recall(prompt: string): Promise<{ readonly lines: string[]; readonly error?: HoldfastError }> {
    const { buffer } = this.state;
    const lines: string[] = [];
    try {
      const found = await this.#search(prompt);
      const fresh = found.filter(({ id }) => !buffer.hasInjectedId(id));
      for (const { id, line } of fitting(fresh, this.#contextChars())) {
        if (buffer.addInjectedId(id)) lines.push(line);
      }
      return { lines };
    } catch (cause) {
      const isTyped = cause instanceof HoldfastError;
      return {
        lines,
        error: isTyped ? cause : new HoldfastError("store_failed", "the buffer store failed", { cause }),
      };
    }
  }

  async #search(prompt: string): Promise<readonly SearchItem[]> {
    try {
      return parseFound(await this.#backend.search(prompt, RESULTS_MAX)).slice(0, RESULTS_MAX);
    } catch (cause) {
      throw backendFailed("search", cause, "the next call of assemble() searches again");
    }
  }

  #contextChars(): number {
    const { min, usual, ofBudget, perToken } = CONTEXT_CHARS;
    const { cachedTokenBudget: budget } = this.state;
    if (this.#maxContextChars !== undefined) return this.#maxContextChars;
    return budget === undefined ? usual : Math.max(min, Math.floor(budget * ofBudget * perToken));
  }

  #setBudget(tokenBudget: number | undefined): void {
    if (tokenBudget === undefined) return;
    this.state.cachedTokenBudget = parseInteger(tokenBudget, "tokenBudget", 1, Number.MAX_SAFE_INTEGER);
  }

  #assertServes(sessionId: string | undefined): void {
    if (this.#isDisposed)
      throw new HoldfastError("closed", "the context engine is disposed of", { hint: "make another one" });
    if (sessionId === undefined || sessionId === this.#session) return;
    throw invalid(
      "sessionId",
      "is not the session of this engine",
      "make an engine per session, each with its own buffer store",
    );
  }
}

function sessionOf(buffer: unknown): string {
  if (typeof buffer !== "object" || buffer === null) throw wrongType("options.buffer", "a buffer store", buffer);
  const { session } = buffer as BufferStore;
  if (session !== undefined) return session;
  const hint = "open it with { session }, so that sessions share neither episodes nor injected ids";
  throw invalid("options.buffer", "is bound to no session", hint);
}
