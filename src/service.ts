/**
 * BufferService: the write path (`add`) and the read path (`query`) of a memory.
 *
 *   add    validate → WriteBuffer (group commit: rows, words, sequences, versions) → durable and searchable → return;
 *          in the background: RoundBuffer → HybridBuffer (embed) → store (vectors) → external index
 *   query  validate → QueryBuffer (cached, and unchanged since?) → Retriever (words and vectors in parallel, fused)
 *          → content read last → return
 *
 * All other operations follow below. A method parses its input, calls the parts and returns. The parts make the
 * decisions; the service moves data between them.
 */
import type { MemoryBlocks } from "./blocks/memory-blocks.js";
import { healthOf } from "./buffers/health.js";
import { MeaningPath } from "./buffers/meaning-path.js";
import { Meter } from "./buffers/meter.js";
import { QueryBuffer, queryCache } from "./buffers/query/query-buffer.js";
import { Retriever } from "./buffers/query/retriever.js";
import type { RoundView } from "./buffers/round-buffer.js";
import type { Turn } from "./buffers/turn.js";
import { sizedUnit } from "./buffers/units.js";
import { waitingIn } from "./buffers/waiting.js";
import { type UnitResult, WriteBuffer } from "./buffers/write.js";
import type { Clock } from "./clock.js";
import type { Context } from "./context/context.js";
import type { Embedder } from "./embedding/embedder.js";
import { HoldfastError } from "./errors.js";
import { Events } from "./events/events.js";
import type { Extractor } from "./extraction/extractor.js";
import type { MemoryFacts } from "./facts/memory-facts.js";
import { AGENTS_ITEMS_LEFT, factsAmong, forgetAll } from "./forgetting.js";
import { Housekeeping } from "./housekeeping.js";
import {
  parseIds,
  parseRounds,
  parseUpdateOptions,
  parseWriteOptions,
  splitKey,
  type UpdateOptions,
  type WriteOptions,
} from "./input/call.js";
import type { ContextOptions } from "./input/context.js";
import { parseIdentity } from "./input/identity.js";
import { type ListOptions, parseList } from "./input/list.js";
import { type ParsedRound, parseItems, parseMessages } from "./input/message.js";
import { onceOf } from "./input/once.js";
import { type PageOptions, parsePage } from "./input/page.js";
import { parsePatch } from "./input/patch.js";
import { type PromoteOptions, type PromotionsOptions, parsePromotion, parsePromotions } from "./input/promotion.js";
import { parseQuery, type QueryOptions } from "./input/query.js";
import { type ParsedScope, parseScope } from "./input/scope.js";
import type { ResolvedOptions } from "./options.js";
import { Reindexing } from "./reindexing/reindexing.js";
import { laneIn, laneKey, spaceKey } from "./space-key.js";
import { type Buffers, type CloseReport, type FlushReport, queryStats, type ServiceStats } from "./stats.js";
import type { ParkedItem } from "./stores/indexing.js";
import type { Promotion } from "./stores/promotions.js";
import type { OnceWrite } from "./stores/receipts.js";
import type { DoneOf, ForgetWrite, Store, StoreView, Unit, Write } from "./stores/store.js";
import type { VectorIndex } from "./stores/vector-index.js";
import type { Added, ForgetReceipt, Hits, Item, ItemPatch, NewItem, NewMessage, Page, Scope } from "./types.js";
import { WorkingMemory } from "./working-memory.js";

/** The parts behind the service. The caller closes those that it passed in. */
export interface ServiceParts {
  readonly embedder?: Embedder | undefined;
  readonly index?: VectorIndex | undefined;
  readonly extractor?: Extractor | undefined;
}

export class BufferService {
  /** Publishes an event for every movement through the buffers. */
  readonly events: Events;
  /** Re-embeds all items with another model. */
  readonly reindexing: Reindexing;
  readonly blocks: MemoryBlocks;
  readonly facts: MemoryFacts;
  readonly clock: Clock;
  readonly store: StoreView;
  readonly #store: Store;
  readonly #options: ResolvedOptions;
  readonly #writes: WriteBuffer;
  readonly #housekeeping: Housekeeping;
  readonly #meter: Meter;
  readonly #meaning: MeaningPath | undefined;
  readonly #queries: QueryBuffer;
  /** Blocks, facts, turns and contexts. */
  readonly working: WorkingMemory;
  #closing: Promise<CloseReport> | undefined;

  /** Requires an open store. Without an embedder, search uses words only. */
  constructor(store: Store, options: ResolvedOptions, { embedder, index, extractor }: ServiceParts = {}) {
    const { clock, buffer } = options;
    this.store = store;
    this.#store = store;
    this.clock = clock;
    this.#options = options;
    this.#meter = new Meter(options.clock);
    this.events = new Events(store, options.clock);
    this.reindexing = new Reindexing(store, options);
    this.#writes = new WriteBuffer({ store, clock, events: this.events, ...buffer.writeBuffer });
    this.#housekeeping = new Housekeeping(options.clock, store, () => this.#forget({ expired: true }));
    this.#meaning =
      embedder &&
      new MeaningPath({
        store,
        options,
        meter: this.#meter,
        events: this.events,
        embedder,
        isEmbedderShared: embedder === options.embedder,
        ...(index && { index }),
        isIndexShared: index === options.vectorIndex,
      });
    const retriever = new Retriever({ store, clock, vectors: this.#meaning?.vectors });
    const rank = retriever.rank.bind(retriever);
    this.#queries = new QueryBuffer({ store, clock, meter: this.#meter, ...queryCache(buffer.query), rank });
    this.working = new WorkingMemory({
      store,
      options,
      writes: this.#writes,
      extractor,
      now: () => this.#now(),
      query: (place, text, asked) => this.ask(place, text, asked),
      forget: (target) => this.#forget(target),
      deleteItems: (space, ids) => this.delete(space, ids),
      added: async (space, session) => void (await this.#meaning?.added(laneIn({ space, session }), 1)),
    });
    this.blocks = this.working.blocks;
    this.facts = this.working.facts;
  }

  /** Resumes items that wait to be embedded. Rejects a file that holds another model's vectors (`vector_space`). */
  async start(): Promise<void> {
    await this.#meaning?.start();
  }

  // The write path.

  /** Adds messages to the scope's session, in order. They are durable and searchable when the promise resolves. */
  async add(scope: Scope, messages: readonly NewMessage[], options: WriteOptions = {}): Promise<Added> {
    return this.#addRound(parseScope(scope), parseMessages(messages, this.#now()), parseWriteOptions(options));
  }

  /** Adds items of other kinds: knowledge, facts, overflow. */
  async addItems(scope: Scope, items: readonly NewItem[], options: WriteOptions = {}): Promise<Added> {
    return this.#addRound(parseScope(scope), parseItems(items, this.#now()), parseWriteOptions(options));
  }

  async #addRound(place: ParsedScope, round: ParsedRound, key: string | undefined): Promise<Added> {
    const started = performance.now();
    const added = await this.#writes.add(place, round, key);
    this.#meter.added(performance.now() - started);
    await this.#meaning?.added(laneIn(place), 1);
    return added;
  }

  /**
   * Adds several rounds in order; each round is atomic. If some fail, the error lists them (`details.failed`) and
   * carries the results of the others (`details.added`).
   */
  async addBatch(
    scope: Scope,
    rounds: readonly (readonly NewMessage[])[],
    options: WriteOptions = {},
  ): Promise<readonly Added[]> {
    const place = parseScope(scope);
    const parsed = parseRounds(rounds, this.#now());
    const started = performance.now();
    try {
      const added = await this.#writes.addBatch(place, parsed, parseWriteOptions(options));
      this.#meter.added(performance.now() - started);
      return added;
    } finally {
      await this.#meaning?.added(laneIn(place), parsed.length); // some rounds may be committed even if others failed
    }
  }

  /** Commits the writes collected in a turn, in one transaction. On failure the turn keeps them for a retry. */
  async commit(scope: Scope, turn: Turn, options?: WriteOptions): Promise<Added> {
    const place = parseScope(scope);
    const started = performance.now();
    const added = await this.working.commit(place, turn, options);
    this.#meter.added(performance.now() - started);
    await this.#meaning?.added(laneIn(place), 1);
    return added;
  }

  // The read path.

  /** Searches the scope's space (or the spaces given) for a question. Hits are sorted best first. */
  async query(scope: Scope, text: string, options: QueryOptions = {}): Promise<Hits> {
    return this.ask(parseScope(scope), text, options);
  }

  /** Like `query`, for a scope that is already parsed. */
  async ask(place: ParsedScope, text: string, options: QueryOptions): Promise<Hits> {
    const { question, presentation } = parseQuery(text, options, place, this.#options.buffer.query);
    this.#now();
    return this.#queries.query(place, question, presentation);
  }

  /** Builds the context for a model's next turn: blocks, facts, recent turns and recalled text, within a budget. */
  async context(scope: Scope, options: ContextOptions = {}): Promise<Context> {
    return this.working.context(parseScope(scope), options);
  }

  /** Copies items into another space and logs the promotion there. Returns the ids of the copies. */
  async promote(place: ParsedScope, ids: readonly string[], options: PromoteOptions): Promise<readonly string[]> {
    this.#now();
    const { key, rest } = splitKey(options);
    const write = parsePromotion(place, ids, rest);
    const once = onceOf(key, { space: place.space }, "promote", ids, rest);
    const promoted = await this.#writes.writeOne(`promote ${spaceKey(write.to)}`, write, once);
    await this.#meaning?.added(laneIn({ space: write.to }), 1);
    return promoted.ids;
  }

  /** A page of the promotions into the scope's space, newest first. */
  promotions({ space }: ParsedScope, options: PromotionsOptions): Promise<Page<Promotion>> {
    this.#now();
    return this.#store.promotions({ space, ...parsePage(parsePromotions(options)) });
  }

  /** The items with these ids in the scope's space, in the order requested. Missing ids are skipped. */
  async get(scope: Scope, ids: readonly string[]): Promise<readonly Item[]> {
    const { space } = parseScope(scope);
    const wanted = parseIds(ids);
    const items = new Map((await this.#store.get([space], wanted, this.#now())).map((item) => [item.id, item]));
    return wanted.flatMap((id) => items.get(id) ?? []);
  }

  /** A page of the session's items, or of the whole space if the scope names no session. */
  async list(scope: Scope, options: ListOptions = {}): Promise<Page<Item>> {
    const { space, session } = parseScope(scope);
    const { filter, ...request } = parseList(options);
    const sessions = filter.sessions ?? (session === undefined ? undefined : [session]);
    const narrowed = sessions ? { ...filter, sessions } : filter;
    return this.#store.list({ ...request, spaces: [space], filter: narrowed, now: this.#now() });
  }

  /** A page of the session's messages. Same as `list`, under the seed's name for it. */
  messages(scope: Scope, options: ListOptions = {}): Promise<Page<Item>> {
    return this.list(scope, { kind: "message", ...options });
  }

  /** Edits an item and returns its new version number. No later answer contains the old text. */
  async update(scope: Scope, id: string, patch: ItemPatch, options: UpdateOptions = {}): Promise<number> {
    const place = parseScope(scope);
    const { space } = place;
    const { key, rest } = splitKey(options);
    const parsed = { id: parseIdentity(id, "id"), patch: parsePatch(patch), ...parseUpdateOptions(rest) };
    const once = onceOf(key, { space }, "update", id, patch, rest);
    const { version } = await this.#writes.writeOne(laneKey(place), { op: "update", space, ...parsed }, once);
    await this.#meaning?.edited(space, id);
    this.#queries.forget(space); // removes the old text from memory as well
    return version;
  }

  /** Deletes items by id. */
  async delete(scope: Scope, ids: readonly string[]): Promise<ForgetReceipt> {
    const { space } = parseScope(scope);
    const wanted = parseIds(ids);
    const existing = await this.#store.get([space], wanted, this.#now());
    const onGone = () => this.#meaning?.deleted(space, wanted, existing);
    const facts = await factsAmong(this.#store, space, wanted, this.#now());
    const known = new Set([...existing.map(({ id }) => id), ...facts]);
    const receipt = await this.#forget({ space, ids: wanted }, onGone);
    return { ...receipt, missing: wanted.filter((id) => !known.has(id)) };
  }

  /** Forgets the scope's session, or the whole space if the scope names no session, including the registry entry. */
  async forget(scope: Scope): Promise<ForgetReceipt> {
    const { space, session } = parseScope(scope);
    const target = session === undefined ? { space, entry: true } : { space, session, entry: true };
    const receipt = await this.#forget(target, () => this.#meaning?.forgotten(space, session));
    if (session !== undefined || !("agent" in space) || receipt.entries === 0) return receipt;
    return { ...receipt, left: [...receipt.left, AGENTS_ITEMS_LEFT] };
  }

  #forget(target: ForgetWrite["target"], onGone: () => unknown = () => {}): Promise<ForgetReceipt> {
    const write = (forget: ForgetWrite) => this.#writes.writeOne("forget", forget);
    const letGo = (items: number) => {
      if (items > 0) this.#queries.forget("space" in target ? target.space : undefined);
      return onGone();
    };
    const { events, clock } = this;
    return forgetAll({ store: this.#store, events, write, target, now: clock.now(), onGone: letGo });
  }

  /** Commits one write and returns its result. With a key, the write is idempotent. */
  write<W extends Write>(write: W, once?: OnceWrite): Promise<DoneOf<W>> {
    this.#now();
    return this.#writes.writeOne("registry", write, once);
  }

  /** Commits units in order, in large groups. Each unit is atomic and has its own result. Used by imports. */
  async writeAll(units: readonly Unit[]): Promise<readonly UnitResult[]> {
    this.#now();
    const results = await this.#writes.write({ lane: "import", units: units.map(sizedUnit), stepwise: false });
    const lanes = units.flat().flatMap((write) => {
      if (write.op === "add") return [laneIn(write)];
      return write.op === "restore_fact" ? [{ space: write.space }] : [];
    });
    for (const lane of new Map(lanes.map((lane) => [laneKey(lane), lane])).values())
      await this.#meaning?.added(lane, 1);
    return results;
  }

  /**
   * Resolves when everything accepted so far is durable and embedded and its vectors are written, for the scope's
   * session or for the whole memory. Items that could not be embedded remain pending or parked.
   */
  async flush(scope?: Scope): Promise<FlushReport> {
    const place = scope && parseScope(scope);
    this.#now();
    await this.#writes.flushAll();
    await this.#meaning?.flush(place && [laneIn(place)]);
    return waitingIn(this.#store, place, this.#now());
  }

  /** Items of the scope's space that could not be embedded, with the reason. Word search still finds them. */
  async parked(scope: Scope, options: PageOptions = {}): Promise<Page<ParkedItem>> {
    const { space } = parseScope(scope);
    return this.#store.parked({ spaces: [space], ...parsePage(options), now: this.#now() });
  }

  /** Retries parked items of the scope's space: the given ids, or all. Returns the number of items retried. */
  async replay(scope: Scope, ids?: readonly string[]): Promise<number> {
    const { space } = parseScope(scope);
    const which = { space, ...(ids && { ids: parseIds(ids) }) };
    let replayed = 0;
    for (let remaining = true; remaining; ) {
      const done = await this.#writes.writeOne("replay", { op: "replay", which });
      replayed += done.replayed;
      remaining = done.remaining;
    }
    this.#meaning?.replayed();
    return replayed;
  }

  get buffers(): Buffers {
    const meaning = this.#meaning;
    return {
      write: this.#writes.stats(),
      round: async (scope) => (await meaning?.view(laneIn(parseScope(scope)))) ?? EMPTY_ROUND,
      hybrid: meaning?.stats.hybrid,
      query: queryStats(this.#queries, this.#meaning),
    };
  }

  async stats(): Promise<ServiceStats> {
    const meaning = this.#meaning?.stats;
    const write = this.#writes.stats();
    const query = queryStats(this.#queries, this.#meaning);
    return {
      write,
      query,
      store: { ...(await this.#store.stats()), ...(await this.#store.indexingStats()) },
      ...(meaning && { meaning }),
      latencies: this.#meter.latencies,
      health: healthOf(this.#meter, write.waitingBytes + (meaning?.hybrid.bytes ?? 0) + query.bytes, query.repeated),
    };
  }

  /** Removes expired items now instead of within a minute. */
  async sweep(): Promise<void> {
    await this.#housekeeping.sweep();
  }

  /**
   * Stops intake, writes what was accepted, embeds as much as it can until the deadline, syncs and closes the file.
   * Rejects if the file was lost while it was open (`store_unsafe`); the file is closed in that case too.
   */
  close(): Promise<CloseReport> {
    this.#closing ??= this.#finish().finally(() => this.#store.close(this.clock.now()));
    return this.#closing;
  }

  async #finish(): Promise<CloseReport> {
    await this.#housekeeping.stop();
    await this.reindexing.close();
    await this.#writes.close();
    await this.working.close();
    await this.#meaning?.close(this.#options.buffer.closeMs);
    this.events.close();
    const { items } = await this.#store.stats();
    const { pending, parked } = await this.#store.indexingStats();
    return { items, pending, parked };
  }

  #now(): number {
    if (this.#closing) throw new HoldfastError("closed", "the memory is closed", { hint: "open it again" });
    return this.#options.clock.now();
  }
}

const EMPTY_ROUND: RoundView = { currentTokens: 0, roundCount: 0, messageCount: 0 };
