/** Session: the service bound to one scope. This is the object that callers use. */
import { type Blocks, SessionBlocks } from "./blocks/session-blocks.js";
import { Turn } from "./buffers/turn.js";
import { keepingAlive } from "./clock.js";
import type { Context } from "./context/context.js";
import type { MemoryConfig } from "./conversation/memory-config.js";
import { SessionConversation } from "./conversation/session-conversation.js";
import { HoldfastError } from "./errors.js";
import { type Facts, SessionFacts } from "./facts/session-facts.js";
import type { UpdateOptions, WriteOptions } from "./input/call.js";
import type { ContextOptions } from "./input/context.js";
import { Grants, type SessionOptions } from "./input/grants.js";
import type { ListOptions } from "./input/list.js";
import type { PageOptions } from "./input/page.js";
import type { PromoteOptions } from "./input/promotion.js";
import type { QueryOptions } from "./input/query.js";
import { type ParsedScope, parseScope } from "./input/scope.js";
import { type Points, SessionPoints } from "./points/session-points.js";
import type { BufferService } from "./service.js";
import type { FlushReport } from "./stats.js";
import type { ParkedItem } from "./stores/indexing.js";
import type { Ledger } from "./stores/ledger.js";
import type { Promotion } from "./stores/promotions.js";
import type { Added, ForgetReceipt, Hits, Item, ItemPatch, NewItem, NewMessage, Page, Scope } from "./types.js";

/** The session interface. It is the same for an in-process memory and for one behind a server. */
export type Session = Pick<LocalSession, keyof LocalSession>;

export class LocalSession {
  /** The scope that the session is bound to. */
  readonly scope: Scope;
  /** The memory blocks of this scope: named texts that agents edit. */
  readonly blocks: Blocks;
  /** The facts of this scope. */
  readonly facts: Facts;
  /** Vectors of your own, in named collections. */
  readonly points: Points;
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
    this.points = new SessionPoints(service.working.points, place, this.#grants);
    service.opened(place);
  }

  /**
   * Adds messages, in order. They are durable and searchable when the promise resolves.
   *
   * @example
   * const { ids } = await session.add([{ role: "user", content: "I moved to Lisbon in May." }]);
   */
  add(messages: readonly NewMessage[], options?: WriteOptions): Promise<Added> {
    return this.#service.add(this.scope, messages, options);
  }

  /** Adds several rounds in one call; each is all or nothing. A round is what one `add` would get. */
  addBatch(rounds: readonly (readonly NewMessage[])[], options?: WriteOptions): Promise<readonly Added[]> {
    return this.#service.addBatch(this.scope, rounds, options);
  }

  /** Adds knowledge and other items that are not messages. */
  addItems(items: readonly NewItem[], options?: WriteOptions): Promise<Added> {
    return this.#service.addItems(this.scope, items, options);
  }

  /** Resolves when the whole session is embedded and written. Reports what could not be embedded. */
  flush(): Promise<FlushReport> {
    return keepingAlive(this.#service.flush(this.scope));
  }

  /** Items of this space that could not be embedded, with the reason. */
  parked(options?: PageOptions): Promise<Page<ParkedItem>> {
    return this.#service.backlog.parked(this.scope, options);
  }

  /** Retries parked items: the given ids, or all of the space. */
  replay(ids?: readonly string[]): Promise<number> {
    return this.#service.backlog.replay(this.scope, ids);
  }

  /**
   * Finds what answers a question, by words and by meaning, best first. What was added a moment ago is found, too.
   *
   * @example
   * const hits = await session.query("where does she live?", { topK: 5 });
   * if (hits.partial) console.log("some messages are still being embedded");
   */
  async query(text: string, options: QueryOptions = {}): Promise<Hits> {
    if (options?.spaces) this.#grants.check(options.spaces);
    return keepingAlive(this.#service.ask(this.#place, text, options));
  }

  /**
   * Announces what the user is typing, so that the answer can be ready when the question is asked. Each call replaces
   * the text before, so call it as often as the text changes. Options are those of the query to come; without them it is
   * expected to be asked as this session's questions were before. Changes no answer.
   */
  async anticipate(text: string, options?: QueryOptions): Promise<void> {
    if (options?.spaces) this.#grants.check(options.spaces);
    this.#service.anticipate(this.#place, text, options);
  }

  /**
   * Builds the context for the model's next turn: blocks, facts, recent turns and recalled text, within a budget.
   *
   * @example
   * const context = await session.context({ query: question, budgetTokens: 1500 });
   * const { system, messages } = renderAnthropic(context);
   */
  async context(options: ContextOptions = {}): Promise<Context> {
    if (options?.spaces) this.#grants.check(options.spaces);
    return keepingAlive(this.#service.context(this.scope, options));
  }

  /**
   * Records that the model's window is empty again, for instance after a compaction. Later contexts may repeat text
   * that was in it.
   */
  async windowReset(options?: WriteOptions): Promise<void> {
    return this.#service.working.windowReset(this.#place, options);
  }

  /** The contents of the model's window, as far as `context` supplied them. */
  ledger(): Promise<Ledger> {
    return this.#service.working.ledger(this.#place);
  }

  /** The last turns of this session, for models that keep no history. Recorded turns are added to the session. */
  async conversation(config?: Partial<MemoryConfig>): Promise<SessionConversation> {
    if (this.scope.session === undefined) {
      throw new HoldfastError("invalid_input", "the scope names no session", {
        hint: "a conversation is that of one session",
      });
    }
    return SessionConversation.open(this, config, this.#service.clock);
  }

  /**
   * Copies items into another space, where others can read them, and logs the promotion there. Returns the ids of the
   * copies.
   */
  async promote(ids: readonly string[], options: PromoteOptions): Promise<readonly string[]> {
    if (options?.to !== undefined) this.#grants.checkOne(options.to, "options.to");
    return this.#service.working.promote(this.#place, ids, options);
  }

  /** A page of the promotions into this space, newest first. */
  async promotions(options?: PageOptions): Promise<Page<Promotion>> {
    return this.#service.working.promotions(this.#place, options ?? {});
  }

  /** Items by id, in the given order. Ids that do not exist are left out. */
  get(ids: readonly string[]): Promise<readonly Item[]> {
    return this.#service.get(this.scope, ids);
  }

  /**
   * A page of items, newest first unless `order` says otherwise.
   *
   * @example
   * let cursor: string | undefined;
   * do {
   *   const page = await session.list({ limit: 100, ...(cursor && { cursor }) });
   *   for (const item of page.items) console.log(item.role, item.content);
   *   cursor = page.next;
   * } while (cursor);
   */
  list(options?: ListOptions): Promise<Page<Item>> {
    return this.#service.list(this.scope, options);
  }

  /** Changes an item and returns its new version. Queries find the new text when it resolves. */
  update(id: string, patch: ItemPatch, options?: UpdateOptions): Promise<number> {
    return this.#service.update(this.scope, id, patch, options);
  }

  /** Deletes items by id, with their words, vectors and bytes. This cannot be undone. */
  delete(ids: readonly string[]): Promise<ForgetReceipt> {
    return this.#service.delete(this.scope, ids);
  }

  /** Forgets this session and all its items, or the whole space if the scope names no session. */
  forget(): Promise<ForgetReceipt> {
    return this.#service.forget(this.scope);
  }

  /** A turn that collects writes for this scope. `commit` writes them in one transaction. */
  turn(capacity?: number): Turn {
    return new Turn(capacity, this.#place);
  }

  /**
   * Commits the writes collected in the turn. On failure the turn keeps them for a retry, which writes nothing twice.
   * Writes pushed since then are committed after the retry.
   *
   * @example
   * const turn = session.turn();
   * turn.push({ op: "save_message", message: { role: "user", content: "The flights are booked." } });
   * turn.push({ op: "upsert_fact", category: "trip", content: "Flights are booked", confidence: 0.9 });
   * await session.commit(turn);
   */
  commit(turn: Turn, options?: WriteOptions): Promise<Added> {
    return this.#service.commit(this.scope, turn, options);
  }
}
