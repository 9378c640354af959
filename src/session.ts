/** Session: the service with a scope bound to it, as callers hold it. */
import { type Blocks, SessionBlocks } from "./blocks/session-blocks.js";
import { Turn } from "./buffers/turn.js";
import type { Context } from "./context/context.js";
import type { MemoryConfig } from "./conversation/memory-config.js";
import { SessionConversation } from "./conversation/session-conversation.js";
import { HoldfastError } from "./errors.js";
import { type Facts, SessionFacts } from "./facts/session-facts.js";
import type { AddOptions, UpdateOptions } from "./input/call.js";
import type { ContextOptions } from "./input/context.js";
import { Grants, type SessionOptions } from "./input/grants.js";
import type { ListOptions } from "./input/list.js";
import type { PageOptions } from "./input/page.js";
import type { PromoteOptions } from "./input/promotion.js";
import type { QueryOptions } from "./input/query.js";
import { type ParsedScope, parseScope } from "./input/scope.js";
import type { FlushReport } from "./reports.js";
import type { BufferService } from "./service.js";
import type { ParkedItem } from "./stores/indexing.js";
import type { Ledger } from "./stores/ledger.js";
import type { Promotion } from "./stores/promotions.js";
import type { Added, ForgetReceipt, Hits, Item, ItemPatch, NewItem, NewMessage, Page, Scope } from "./types.js";

/** A scope as callers hold it: the same for a memory in this process and for one behind a server. */
export type Session = Pick<LocalSession, keyof LocalSession>;

export class LocalSession {
  readonly scope: Scope;
  readonly blocks: Blocks;
  readonly facts: Facts;
  readonly #service: BufferService;
  readonly #place: ParsedScope;
  readonly #grants: Grants;

  constructor(service: BufferService, scope: Scope, options: SessionOptions = {}) {
    const place = parseScope(scope);
    this.#service = service;
    this.#place = place;
    this.#grants = new Grants(scope, options);
    this.scope = Object.freeze({ ...scope });
    this.blocks = new SessionBlocks(service.blocks, place);
    this.facts = new SessionFacts(service.facts, place, this.#grants);
  }

  /** Adds messages, in order. When it resolves they are durable and searchable. */
  add(messages: readonly NewMessage[], options?: AddOptions): Promise<Added> {
    return this.#service.add(this.scope, messages, options);
  }

  addBatch(rounds: readonly (readonly NewMessage[])[], options?: AddOptions): Promise<readonly Added[]> {
    return this.#service.addBatch(this.scope, rounds, options);
  }

  /** Adds knowledge and other items that nobody said. */
  addItems(items: readonly NewItem[], options?: AddOptions): Promise<Added> {
    return this.#service.addItems(this.scope, items, options);
  }

  /** Resolves when all of this session is embedded and written; says what could not be. */
  flush(): Promise<FlushReport> {
    return this.#service.flush(this.scope);
  }

  /** Items of this space that could not be embedded, with the reason. */
  parked(options?: PageOptions): Promise<Page<ParkedItem>> {
    return this.#service.parked(this.scope, options);
  }

  /** Tries again to embed parked items: these, or all of the space. */
  replay(ids?: readonly string[]): Promise<number> {
    return this.#service.replay(this.scope, ids);
  }

  async query(text: string, options: QueryOptions = {}): Promise<Hits> {
    this.#grants.check(options?.spaces);
    return this.#service.ask(this.#place, text, options);
  }

  /** What the model is given before its next turn: blocks, facts, recent turns and recalled text, within a budget. */
  async context(options: ContextOptions = {}): Promise<Context> {
    this.#grants.check(options?.spaces);
    return this.#service.context(this.scope, options);
  }

  /** The model's window is empty again, after a compaction for instance: what stood in it may be given again. */
  async windowReset(): Promise<void> {
    return this.#service.carried.windowReset(this.#place);
  }

  /** What stands in the window of the session's model, as far as it was given by `context`. */
  ledger(): Promise<Ledger> {
    return this.#service.carried.ledger(this.#place);
  }

  /** The last turns of this session, for models that keep none themselves. What is recorded is added to the session. */
  async conversation(config?: Partial<MemoryConfig>): Promise<SessionConversation> {
    if (this.scope.session === undefined) {
      throw new HoldfastError("invalid_input", "the scope names no session", {
        hint: "a conversation is that of one session",
      });
    }
    return SessionConversation.open(this, config, this.#service.clock);
  }

  /** Copies items into another space, for others to read, and logs that there. Answers with their ids. */
  async promote(ids: readonly string[], options: PromoteOptions): Promise<readonly string[]> {
    if (options?.to !== undefined) this.#grants.checkOne(options.to, "options.to");
    return this.#service.carried.promote(this.#place, ids, options);
  }

  /** What was promoted into this space, newest first. */
  async promotions(options?: PageOptions): Promise<Page<Promotion>> {
    return this.#service.carried.promotions(this.#place, options ?? {});
  }

  get(ids: readonly string[]): Promise<readonly Item[]> {
    return this.#service.get(this.scope, ids);
  }

  list(options?: ListOptions): Promise<Page<Item>> {
    return this.#service.list(this.scope, options);
  }

  update(id: string, patch: ItemPatch, options?: UpdateOptions): Promise<number> {
    return this.#service.update(this.scope, id, patch, options);
  }

  delete(ids: readonly string[]): Promise<ForgetReceipt> {
    return this.#service.delete(this.scope, ids);
  }

  /** Forgets this session with all its items; the whole space if the scope names no session. */
  forget(): Promise<ForgetReceipt> {
    return this.#service.forget(this.scope);
  }

  /** A turn to gather writes in; `commit` writes them in one transaction. */
  turn(capacity?: number): Turn {
    return new Turn(capacity);
  }

  commit(turn: Turn): Promise<Added> {
    return this.#service.commit(this.scope, turn);
  }
}
