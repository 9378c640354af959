/**
 * BufferService: the two paths, to be read aloud.
 *
 *   add    validate → WriteBuffer (group commit: rows, words, sequences, versions) → durable and searchable → answer;
 *          behind it: RoundBuffer → HybridBuffer (embed) → store (vectors) → external index
 *   query  validate → QueryBuffer (answered before, and nothing has changed?) → Retriever (by words and by meaning, side
 *          by side, fused) → content read at the end → answer
 *
 * Everything else a memory can do stands below them. A method parses, moves, answers; parts decide, the service moves.
 */
import type { MemoryBlocks } from "./blocks/memory-blocks.js";
import { healthOf } from "./buffers/health.js";
import { MeaningPath } from "./buffers/meaning-path.js";
import { Meter } from "./buffers/meter.js";
import { QueryPath } from "./buffers/query/query-path.js";
import type { RoundView } from "./buffers/round-buffer.js";
import type { Turn } from "./buffers/turn.js";
import { waitingIn } from "./buffers/waiting.js";
import { laneOf, type UnitResult, WriteBuffer } from "./buffers/write.js";
import { Carried } from "./carried.js";
import type { Clock } from "./clock.js";
import type { Context } from "./context/context.js";
import { HoldfastError } from "./errors.js";
import { Events } from "./events/events.js";
import type { MemoryFacts } from "./facts/memory-facts.js";
import { factsAmong, forgetAll } from "./forgetting.js";
import {
  type AddOptions,
  parseAddOptions,
  parseIds,
  parseRounds,
  parseUpdateOptions,
  type UpdateOptions,
} from "./input/call.js";
import type { ContextOptions } from "./input/context.js";
import { parseIdentity } from "./input/identity.js";
import { type ListOptions, parseList } from "./input/list.js";
import { type ParsedRound, parseItems, parseMessages } from "./input/message.js";
import { type PageOptions, parsePage } from "./input/page.js";
import { parsePatch } from "./input/patch.js";
import { parseQuery, type QueryOptions } from "./input/query.js";
import { type ParsedScope, parseScope } from "./input/scope.js";
import { Keeper } from "./keeper.js";
import type { ResolvedOptions } from "./options.js";
import { Reindexing } from "./reindexing/reindexing.js";
import type { Buffers, CloseReport, FlushReport, ServiceParts, ServiceStats, StoreView } from "./reports.js";
import type { Lane, ParkedItem } from "./stores/indexing.js";
import type { Done, ForgetWrite, Store, Unit, Write } from "./stores/store.js";
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

export class BufferService {
  /** Tells what moves through the buffers. */
  readonly events: Events;
  /** Embeds everything anew with another model. */
  readonly reindexing: Reindexing;
  readonly #store: Store;
  readonly #options: ResolvedOptions;
  readonly #writes: WriteBuffer;
  readonly #keeper: Keeper;
  readonly #meter: Meter;
  readonly #meaning: MeaningPath | undefined;
  readonly #queries: QueryPath;
  readonly #carried: Carried;
  #closing: Promise<CloseReport> | undefined;

  /** Requires a store that is open. Without an embedder it works by words alone. */
  constructor(store: Store, options: ResolvedOptions, { embedder, index, extractor }: ServiceParts = {}) {
    this.#store = store;
    this.#options = options;
    this.#meter = new Meter(options.clock);
    this.events = new Events(store, options.clock);
    this.reindexing = new Reindexing(store, options);
    const { clock, buffer } = options;
    this.#writes = new WriteBuffer({ store, clock, events: this.events, ...buffer.writeBuffer });
    this.#keeper = new Keeper(options.clock, store, () => this.#forget({ expired: true }));
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
    this.#queries = new QueryPath({ store, options, meter: this.#meter, meaning: this.#meaning });
    this.#carried = new Carried({
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
  }

  /** Takes up what waits to be embedded. Refuses a file with another model's vectors (`vector_space`). */
  async start(): Promise<void> {
    await this.#meaning?.start();
  }

  // The write path.

  /** Adds messages to the scope's session, in order. When it resolves they are durable and searchable. */
  async add(scope: Scope, messages: readonly NewMessage[], options: AddOptions = {}): Promise<Added> {
    return this.#addRound(parseScope(scope), parseMessages(messages, this.#now()), parseAddOptions(options));
  }

  /** Adds items of other kinds: knowledge, facts, overflow. */
  async addItems(scope: Scope, items: readonly NewItem[], options: AddOptions = {}): Promise<Added> {
    return this.#addRound(parseScope(scope), parseItems(items, this.#now()), parseAddOptions(options));
  }

  async #addRound(place: ParsedScope, round: ParsedRound, key: string | undefined): Promise<Added> {
    const started = performance.now();
    const added = await this.#writes.add(place, round, key);
    this.#meter.added(performance.now() - started);
    await this.#meaning?.added(laneIn(place), 1);
    return added;
  }

  /**
   * Adds several rounds, each all or nothing, in order. If some fail, the error names them (`details.failed`) and the
   * answers of the others (`details.added`).
   */
  async addBatch(
    scope: Scope,
    rounds: readonly (readonly NewMessage[])[],
    options: AddOptions = {},
  ): Promise<readonly Added[]> {
    const place = parseScope(scope);
    const parsed = parseRounds(rounds, this.#now());
    const started = performance.now();
    try {
      const added = await this.#writes.addBatch(place, parsed, parseAddOptions(options));
      this.#meter.added(performance.now() - started);
      return added;
    } finally {
      await this.#meaning?.added(laneIn(place), parsed.length); // some rounds may be written even if others failed
    }
  }

  /** Commits what a turn has gathered, in one transaction. If that fails, the turn keeps all of it for another try. */
  async commit(scope: Scope, turn: Turn): Promise<Added> {
    const place = parseScope(scope);
    const started = performance.now();
    const added = await this.#carried.commit(place, turn);
    this.#meter.added(performance.now() - started);
    await this.#meaning?.added(laneIn(place), 1);
    return added;
  }

  // The read path.

  /** Finds what the scope's space (or the spaces named) holds on a question, best first. */
  async query(scope: Scope, text: string, options: QueryOptions = {}): Promise<Hits> {
    return this.ask(parseScope(scope), text, options);
  }

  /** The same, from a place that is parsed. */
  async ask(place: ParsedScope, text: string, options: QueryOptions): Promise<Hits> {
    const { question, presentation } = parseQuery(text, options, place, this.#options.buffer.query);
    this.#now();
    return this.#queries.query(place, question, presentation);
  }

  /** What a model is given before its next turn: blocks, facts, recent turns and recalled text, within a budget. */
  async context(scope: Scope, options: ContextOptions = {}): Promise<Context> {
    return this.#carried.context(parseScope(scope), options);
  }

  // What agents edit and carry.

  get blocks(): MemoryBlocks {
    return this.#carried.blocks;
  }

  get facts(): MemoryFacts {
    return this.#carried.facts;
  }

  /** The rest of what agents edit and carry: windows, promotions. */
  get carried(): Carried {
    return this.#carried;
  }

  // Items by id and by page.

  /** The items of these ids in the scope's space, in the order asked for; absent ones are left out. */
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

  /** A page of the session's messages, as `list`, in the seed's name. */
  messages(scope: Scope, options: ListOptions = {}): Promise<Page<Item>> {
    return this.list(scope, { kind: "message", ...options });
  }

  /** Edits an item and returns its new version number; the old text is in no later answer. */
  async update(scope: Scope, id: string, patch: ItemPatch, options: UpdateOptions = {}): Promise<number> {
    const place = parseScope(scope);
    const done = await this.#writeOne(laneOf(place), {
      op: "update",
      space: place.space,
      id: parseIdentity(id, "id"),
      patch: parsePatch(patch),
      ...parseUpdateOptions(options),
    });
    await this.#meaning?.edited(place.space, id);
    this.#queries.forget(place.space); // the old text is to leave memory too
    return done.op === "update" ? done.version : 0;
  }

  // Forgetting.

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

  /** Forgets the scope's session if it names one, else all of its space, with the registry entry. */
  async forget(scope: Scope): Promise<ForgetReceipt> {
    const { space, session } = parseScope(scope);
    const target = session === undefined ? { space, entry: true } : { space, session, entry: true };
    const receipt = await this.#forget(target, () => this.#meaning?.forgotten(space, session));
    if (session !== undefined || !("agent" in space) || receipt.entries === 0) return receipt;
    const left = {
      what: "items in other spaces",
      why: "they belong to users and teams; they no longer name the agent",
    };
    return { ...receipt, left: [...receipt.left, left] };
  }

  #forget(target: ForgetWrite["target"], onGone: () => unknown = () => {}): Promise<ForgetReceipt> {
    const write = (forget: ForgetWrite) => this.#writeOne(FORGET_LANE, forget);
    const letGo = (items: number) => {
      if (items > 0) this.#queries.forget("space" in target ? target.space : undefined);
      return onGone();
    };
    const { events, clock } = this;
    return forgetAll({ store: this.#store, events, write, target, now: clock.now(), onGone: letGo });
  }

  // The rest.

  /** Commits one write and returns what it did. */
  async write(write: Write): Promise<Done> {
    return this.#writeOne(REGISTRY_LANE, write);
  }

  /** Commits units in order, many at once, each all or nothing; a result for each. For imports. */
  async writeAll(units: readonly Unit[]): Promise<readonly UnitResult[]> {
    return this.#carried.writeAll(units);
  }

  async #writeOne(lane: string, write: Write): Promise<Done> {
    const units = [{ unit: [write], messages: 1, bytes: 1024 }];
    const [result] = await this.#writes.write({ lane, units, stepwise: true });
    if (!result?.ok) throw result?.error ?? new HoldfastError("store_failed", "the store gave no answer");
    return result.done[0] as Done;
  }

  get clock(): Clock {
    return this.#options.clock;
  }

  get store(): StoreView {
    return this.#store;
  }

  /**
   * Resolves when everything accepted so far is durable, embedded, and its vectors are written: of the scope's session, or
   * everywhere. What could not be embedded is still pending or parked.
   */
  async flush(scope?: Scope): Promise<FlushReport> {
    const place = scope && parseScope(scope);
    this.#now();
    await this.#writes.flushAll();
    await this.#meaning?.flush(place && [laneIn(place)]);
    return waitingIn(this.#store, place, this.#now());
  }

  /** Items of the scope's space that could not be embedded, with the reason; words find them all the same. */
  async parked(scope: Scope, options: PageOptions = {}): Promise<Page<ParkedItem>> {
    const { space } = parseScope(scope);
    return this.#store.parked({ spaces: [space], ...parsePage(options), now: this.#now() });
  }

  /** Tries again to embed parked items of the scope's space: these, or all. Answers with how many. */
  async replay(scope: Scope, ids?: readonly string[]): Promise<number> {
    const { space } = parseScope(scope);
    const which = { space, ...(ids && { ids: parseIds(ids) }) };
    let replayed = 0;
    for (let remaining = true; remaining; ) {
      const done = await this.#writeOne(REPLAY_LANE, { op: "replay", which });
      if (done.op !== "replay") break;
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
      query: this.#queries.stats,
    };
  }

  async stats(): Promise<ServiceStats> {
    const meaning = this.#meaning?.stats;
    const write = this.#writes.stats();
    const query = this.#queries.stats;
    return {
      write,
      query,
      store: { ...(await this.#store.stats()), ...(await this.#store.indexingStats()) },
      ...(meaning && { meaning }),
      latencies: this.#meter.latencies,
      health: healthOf(this.#meter, write.waitingBytes + (meaning?.hybrid.bytes ?? 0) + query.bytes, query.repeated),
    };
  }

  /** Removes what has expired now instead of within a minute. */
  async sweep(): Promise<void> {
    await this.#keeper.sweep();
  }

  /** Stops intake, writes what was accepted, embeds what it can until the deadline, syncs, and lets go of the file. */
  close(): Promise<CloseReport> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<CloseReport> {
    await this.#keeper.stop();
    await this.reindexing.close();
    await this.#writes.close();
    await this.#carried.close();
    await this.#meaning?.close(this.#options.buffer.closeMs);
    this.events.close();
    const { commit, items } = await this.#store.stats();
    const { pending, parked } = await this.#store.indexingStats();
    await this.#store.close();
    return { commit, items, pending, parked };
  }

  #now(): number {
    if (this.#closing) throw new HoldfastError("closed", "the memory is closed", { hint: "open it again" });
    return this.#options.clock.now();
  }
}

const FORGET_LANE = "forget";
const REGISTRY_LANE = "registry";
const REPLAY_LANE = "replay";
const EMPTY_ROUND: RoundView = { currentTokens: 0, roundCount: 0, messageCount: 0 };

const laneIn = ({ space, session }: { space: SpaceRef; session?: string | undefined }): Lane =>
  session === undefined ? { space } : { space, session };
