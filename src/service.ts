/**
 * BufferService: the write path (`add`) and the read path (`query`) of a memory.
 *
 *   add    validate → WriteBuffer (group commit: rows, words, sequences, versions) → durable and searchable → return;
 *          in the background: RoundBuffer → HybridBuffer (embed) → store (vectors) → external index
 *   query  validate → QueryBuffer (cached or answered ahead, and unchanged since?) → Retriever (words and vectors in
 *          parallel, fused) → content read last → return;
 *          in the background: SpeculativeBuffer (guess the next question, answer it ahead)
 *
 * All other operations follow below. A method parses its input and calls the parts: they decide, the service moves data.
 */
import { Backlog } from "./backlog.js";
import type { MemoryBlocks } from "./blocks/memory-blocks.js";
import { MeaningPath, withEmbedded } from "./buffers/meaning-path.js";
import { type LatencyWatch, Meter } from "./buffers/meter.js";
import type { AnswerEntry } from "./buffers/query/answer-cache.js";
import { QueryBuffer, queryCache } from "./buffers/query/query-buffer.js";
import { Retriever } from "./buffers/query/retriever.js";
import { SpeculativeBuffer } from "./buffers/speculative/speculative-buffer.js";
import type { Turn } from "./buffers/turn.js";
import { lanesOf, sizedUnit } from "./buffers/units.js";
import { waitingIn } from "./buffers/waiting.js";
import { type UnitResult, WriteBuffer } from "./buffers/write.js";
import { type Clock, DeferredTasks } from "./clock.js";
import type { Context } from "./context/context.js";
import { HoldfastError } from "./errors.js";
import { Events } from "./events/events.js";
import type { MemoryFacts } from "./facts/memory-facts.js";
import { Forgetting } from "./forgetting.js";
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
import { parsePatch } from "./input/patch.js";
import { type ParsedQuery, parseQuery, type QueryOptions, remembered } from "./input/query.js";
import { type ParsedScope, parseScope } from "./input/scope.js";
import { MemoryPressure } from "./memory-pressure.js";
import type { ResolvedOptions } from "./options.js";
import { Reindexing } from "./reindexing/reindexing.js";
import type { ServiceParts } from "./service-parts.js";
import { entrySpace, laneIn, laneKey } from "./space-key.js";
import {
  type Buffers,
  buffersOf,
  type CloseReport,
  type Counted,
  type FlushReport,
  type ServiceStats,
  statsOf,
} from "./stats.js";
import type { OnceWrite } from "./stores/receipts.js";
import type { DoneOf, Store, Unit, Write } from "./stores/store.js";
import type { StoreView } from "./stores/store-view.js";
import type {
  Added,
  ForgetReceipt,
  Hits,
  Item,
  ItemPatch,
  NewItem,
  NewMessage,
  Page,
  Scope,
  SpaceRef,
} from "./types.js";
import { WorkingMemory } from "./working-memory.js";

/** The parts of a memory, put together. `openMemory` makes one; use `memory.session` for everyday calls. */
export class BufferService {
  /** Publishes an event for every movement through the buffers. */
  readonly events: Events;
  /** Re-embeds all items with another model. */
  readonly reindexing: Reindexing;
  /** The blocks of any scope. */
  readonly blocks: MemoryBlocks;
  /** The facts of any scope. */
  readonly facts: MemoryFacts;
  /** The clock that it was opened with. */
  readonly clock: Clock;
  /** The store, for reading. */
  readonly store: StoreView;
  readonly #store: Store;
  readonly #options: ResolvedOptions;
  readonly #writes: WriteBuffer;
  readonly #forgetting: Forgetting;
  readonly #housekeeping: Housekeeping;
  readonly #pressure: MemoryPressure;
  readonly #meter: Meter;
  readonly #meaning: MeaningPath | undefined;
  readonly #queries: QueryBuffer;
  readonly #speculative: SpeculativeBuffer | undefined; // absent if it is turned off
  readonly #deferred: DeferredTasks | undefined; // what it observes
  /** Blocks, facts, turns and contexts. */
  readonly working: WorkingMemory;
  /** Items that could not be embedded. */
  readonly backlog: Backlog;
  #closing: Promise<CloseReport> | undefined;

  /** Requires an open store. Without an embedder, search uses words only. */
  constructor(store: Store, options: ResolvedOptions, { embedder, index, extractor, memory }: ServiceParts = {}) {
    const { clock, buffer } = options;
    this.store = store;
    this.#store = store;
    this.clock = clock;
    this.#options = options;
    this.#meter = new Meter(clock);
    this.events = new Events(store, clock);
    this.reindexing = new Reindexing(store, options);
    this.#writes = new WriteBuffer({ store, clock, events: this.events, ...buffer.writeBuffer });
    this.#housekeeping = new Housekeeping(options.clock, store, () => this.#forgetting.run({ expired: true }));
    this.#meaning =
      embedder &&
      new MeaningPath({
        ...{ store, options, embedder, meter: this.#meter, events: this.events },
        isEmbedderShared: embedder === options.embedder,
        ...(index && { index }),
        isIndexShared: index === options.vectorIndex,
        onProgress: () => this.#deferred?.add(() => this.#speculative?.settled()),
      });
    this.#forgetting = new Forgetting({
      store,
      events: this.events,
      now: () => clock.now(),
      write: (forget) => this.#writes.writeOne("forget", forget),
      meaning: this.#meaning,
      dropAnswers: (space) => this.#dropAnswers(space),
    });
    const retriever = new Retriever({ store, clock, vectors: this.#meaning?.vectors });
    const rank = retriever.rank.bind(retriever);
    const ahead = new Map<string, AnswerEntry>();
    this.#queries = new QueryBuffer({ store, clock, meter: this.#meter, ...queryCache(buffer.query), ahead, rank });
    if (buffer.speculative.maxSize > 0) {
      this.#deferred = new DeferredTasks(clock);
      this.#speculative = new SpeculativeBuffer(ahead, {
        ...{ store, clock, events: this.events, ...buffer.speculative },
        parse: (place, text, asked) => this.#parse(place, text, asked),
        prefetch: (place, query) => this.#queries.prefetch(place, query),
        interrupt: () => this.#queries.interrupt(),
        isBusy: () => this.#meaning?.isBusy === true,
      });
    }
    const parts = [this.#queries, this.#speculative, this.#meaning, store];
    this.#pressure = new MemoryPressure(clock, buffer.maxProcessBytes, parts, memory);
    this.working = new WorkingMemory({
      ...{ store, options, extractor, writes: this.#writes, meter: this.#meter },
      now: () => this.#now(),
      query: (place, text, asked) => this.ask(place, text, asked),
      forget: (target) => this.#forgetting.run(target, () => this.#meaning?.pointsChanged()),
      deleteItems: (space, ids) => this.delete(space, ids),
      said: (place, rows) => this.#deferred?.add(() => this.#speculative?.added(place, rows)),
      added: async (space, session) => void (await this.#meaning?.added(laneIn({ space, session }), 1)),
    });
    this.backlog = new Backlog({
      store,
      now: () => this.#now(),
      replay: (which) => this.#writes.writeOne("replay", { op: "replay", which }),
      replayed: () => this.#meaning?.replayed(),
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
    this.#deferred?.add(() => this.#speculative?.added(place, round.rows));
    return added;
  }

  /** Adds rounds in order, each atomic. If some fail, the error lists them (`details.failed`) and has the others. */
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
      const rows = parsed.flatMap((round) => round.rows);
      this.#deferred?.add(() => this.#speculative?.added(place, rows));
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
    this.#meaning?.pointsChanged();
    return added;
  }

  // The read path.

  /** Searches the scope's space (or the spaces given) for a question. Hits are sorted best first. */
  async query(scope: Scope, text: string, options: QueryOptions = {}): Promise<Hits> {
    return this.ask(parseScope(scope), text, options);
  }

  /** Like `query`, for a scope that is already parsed. */
  async ask(place: ParsedScope, text: string, options: QueryOptions): Promise<Hits> {
    const query = this.#parse(place, text, options);
    this.#now();
    const asked = this.#deferred && !query.presentation.explain ? remembered(options ?? {}) : undefined;
    const hits = await this.#queries.query(place, query);
    if (asked) this.#deferred?.add(() => this.#speculative?.answered(place, query, asked));
    return hits;
  }

  #parse(place: ParsedScope, text: string, options: QueryOptions): ParsedQuery {
    return parseQuery(text, options, place, this.#options.buffer.query);
  }

  /** Announces what the user is typing (`Session.anticipate`). Returns at once; replaces the announcement before. */
  anticipate(place: ParsedScope, text: string, options?: QueryOptions): void {
    this.#parse(place, text, options ?? {}); // refuses what a query would refuse
    this.#now();
    this.#speculative?.anticipate(place, text, options);
  }

  /** Prepares for the first question of a session that comes into use. */
  opened(place: ParsedScope): void {
    this.#deferred?.add(() => this.#speculative?.opened(place));
  }

  /** Builds the context for a model's next turn: blocks, facts, recent turns and recalled text, within a budget. */
  async context(scope: Scope, options: ContextOptions = {}): Promise<Context> {
    return this.working.context(parseScope(scope), options);
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
    const narrowed = session === undefined ? filter : { sessions: [session], ...filter };
    const page = await this.#store.list({ ...request, spaces: [space], filter: narrowed, now: this.#now() });
    return withEmbedded(page, space, this.#meaning);
  }

  /** `list` of messages, under the seed's name for it. */
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
    this.#dropAnswers(space); // removes the old text from memory as well
    return version;
  }

  /** Deletes items by id. */
  async delete(scope: Scope, ids: readonly string[]): Promise<ForgetReceipt> {
    this.#now();
    return this.#forgetting.delete(parseScope(scope), parseIds(ids));
  }

  /** Forgets the scope's session, or the whole space if the scope names no session, including the registry entry. */
  async forget(scope: Scope): Promise<ForgetReceipt> {
    return this.#forgetting.forget(parseScope(scope));
  }

  #dropAnswers(space?: SpaceRef): void {
    this.#deferred?.run(); // what was observed is to be forgotten, too
    for (const part of [this.#queries, this.#speculative, this.#meaning]) part?.forget(space);
  }

  /** Commits one write and returns its result. With a key, the write is idempotent. */
  async write<W extends Write>(write: W, once?: OnceWrite): Promise<DoneOf<W>> {
    this.#now();
    const done = await this.#writes.writeOne("registry", write, once);
    if (write.op === "amend") this.#dropAnswers(entrySpace(write.entry)); // a forget will know the new name only
    return done;
  }

  /** Commits units in order, in large groups. Each unit is atomic and has its own result. Used by imports. */
  async writeAll(units: readonly Unit[]): Promise<readonly UnitResult[]> {
    this.#now();
    const results = await this.#writes.write({ lane: "import", units: units.map(sizedUnit), stepwise: false });
    for (const lane of lanesOf(units)) await this.#meaning?.added(lane, 1);
    this.#meaning?.pointsChanged();
    return results;
  }

  /** Resolves when the scope's session, or the whole memory, is embedded and written; failed items stay pending. */
  async flush(scope?: Scope): Promise<FlushReport> {
    const place = scope && parseScope(scope);
    this.#now();
    await this.#writes.flushAll();
    await this.#meaning?.flush(place && [laneIn(place)]);
    return waitingIn(this.#store, place, this.#now());
  }

  /** The buffers, with their statistics. */
  get buffers(): Buffers {
    return buffersOf(this.#counted);
  }

  /** Starts to measure recent latencies, besides those since the memory was opened. */
  watchLatencies(): LatencyWatch {
    return this.#meter.watch();
  }

  /** Counters, latencies, health, and targets beside what was measured. */
  stats(): Promise<ServiceStats> {
    return statsOf(this.#counted, this.#meter, this.#store);
  }

  get #counted(): Counted {
    const [speculative, pressure] = [this.#speculative, this.#pressure];
    return { writes: this.#writes, queries: this.#queries, speculative, meaning: this.#meaning, pressure };
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
    this.#deferred?.cancel();
    this.#speculative?.close();
    await this.#pressure.stop();
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
