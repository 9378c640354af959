/**
 * The SQLite store on the main thread: it hands work to the storage threads and keeps one small connection of its own.
 *
 * Threads: `writer` commits; `reader` lists, searches by words and checkpoints, so that neither a slow search nor a
 * checkpoint holds up a commit; `vectors` searches by vectors beside it, and keeps those of the spaces that are asked for
 * in memory; the connection `peek` on the main thread reads what takes less time than a hop to a thread.
 */
import { randomUUID } from "node:crypto";
import { resolve } from "node:path";
import { HoldfastError } from "../../errors.js";
import type { Entry, Item, Page, SessionEntry, SpaceKind, SpaceRef, VectorSpace } from "../../types.js";
import type {
  Block,
  BlockEdit,
  BlockLogRequest,
  BlocksRequest,
  BlockVersion,
  BlockVersionsRequest,
} from "../blocks.js";
import type { FoundItems } from "../estimates.js";
import type { Fact, FactsRequest } from "../facts.js";
import type {
  IndexingStats,
  MirrorStats,
  Neighbour,
  OutboxRow,
  ParkedPage,
  ParkedRequest,
  PendingItem,
  PendingRequest,
  Scores,
  ScoresRequest,
  StoredChunk,
  Tail,
  TailRequest,
  VectorScored,
  VectorsRequest,
  WaitingLane,
} from "../indexing.js";
import type { KeysRequest, StoredKey } from "../keys.js";
import type { Ledger } from "../ledger.js";
import type { Promotion, PromotionsRequest } from "../promotions.js";
import type { ToReindex, ToReindexRequest } from "../reindexing.js";
import type {
  Changes,
  ChangesBounds,
  Committed,
  KeyedItem,
  ListRequest,
  Purged,
  ReadRequest,
  RegistryRequest,
  Scored,
  Store,
  StoreStats,
  Unit,
  WordsRequest,
} from "../store.js";
import { retryBusy } from "./busy.js";
import { type Opened, openThreads, type ReadingRole } from "./opened.js";
import type { Reader } from "./reader.js";
import { descriptorOf, type Traces } from "./residue.js";
import { Searches } from "./searches.js";
import type { ThreadOptions } from "./worker.js";

/** After so many commits or messages a checkpoint is due. 250 single adds make about 14 MB of log. */
const COMMITS_DUE = 250;
const MESSAGES_DUE = 1_000;
/** After so many slices of housekeeping a checkpoint is due, too. */
const SLICES_DUE = 16;
/** More rows than this are read by the reader thread, not on the main thread. */
const PEEK_MAX = 64;
/** A read that takes longer on the main thread has the reader's started, for those that follow. */
const BRIEF_MS = 5;
const MIB = 1024 * 1024;
const MIRROR_BYTES = 172 * MIB;
const ROSTER_BYTES = 64 * MIB;

export interface SqliteStoreOptions {
  readonly path: string;
  readonly busyTimeoutMs: number;
  /** How much memory the vectors of searched spaces may take, in bytes. What does not fit is read from the file. */
  readonly mirrorBytes?: number;
  /** How much the items of spaces that are searched by words may take, without their text. */
  readonly rosterBytes?: number;
  /** Threads that start with the store, not with their first call: the first question need not wait for them. */
  readonly warm?: readonly ReadingRole[];
}

export class SqliteStore implements Store {
  readonly #options: ThreadOptions;
  readonly #searches: Searches;
  #threads: Opened;
  #checkpointing: Promise<void> | undefined;
  #sinceCheckpoint = { commits: 0, messages: 0 };
  #checkpoints = 0;
  #closing: Promise<void> | undefined;
  #reopening: Promise<void> | undefined;
  #purging: Promise<unknown> = Promise.resolve();

  private constructor(options: ThreadOptions, threads: Opened) {
    this.#options = options;
    this.#searches = new Searches(() => this.#ready(), options.busyTimeoutMs);
    this.#threads = threads;
  }

  /** The connections, when they are not just being opened anew. */
  async #ready(): Promise<Opened> {
    await this.#reopening;
    return this.#open;
  }

  get #open(): Opened {
    if (this.#closing) throw new HoldfastError("closed", "the store is closed", { hint: "open it again" });
    return this.#threads;
  }

  /** Reads on the main thread. */
  async #peek<T>(read: (peek: Reader) => T): Promise<T> {
    if (this.#reopening) await this.#reopening;
    const { peek } = this.#open;
    return retryBusy(() => read(peek), this.#options.busyTimeoutMs);
  }

  static async open({ path, busyTimeoutMs, warm = [], ...bytes }: SqliteStoreOptions) {
    const { mirrorBytes = MIRROR_BYTES, rosterBytes = ROSTER_BYTES } = bytes;
    const options = { path: resolve(path), id: randomUUID(), busyTimeoutMs, mirrorBytes, rosterBytes };
    return new SqliteStore(options, await openThreads(options, warm));
  }

  async #writer<T>(method: string, ...args: readonly unknown[]): Promise<T> {
    return (await this.#ready()).writer.call(method, ...args);
  }

  async #reader<T>(method: string, ...args: readonly unknown[]): Promise<T> {
    return (await this.#ready()).reader.call(method, ...args);
  }

  /** On the main thread until the reader's has started: a program that asks for a page and ends has no use for a thread. */
  async #brief<M extends keyof Reader>(method: M, ...args: Parameters<Reader[M]>): Promise<ReturnType<Reader[M]>> {
    const opened = await this.#ready();
    if (opened.awakeReader) return opened.awakeReader.call(method, ...args);
    const started = performance.now();
    const value = await this.#peek((peek) => Reflect.apply(peek[method], peek, args));
    if (performance.now() - started > BRIEF_MS) opened.wakeReader(0);
    return value;
  }

  async commit(units: readonly Unit[], now: number, group: string): Promise<Committed> {
    const committed = await this.#writer<Committed>("commit", units, now, group);
    const since = this.#sinceCheckpoint;
    since.commits++;
    for (const unit of units) for (const write of unit) since.messages += "items" in write ? write.items.length : 1;
    const due = since.commits >= COMMITS_DUE || since.messages >= MESSAGES_DUE;
    if (due) this.#checkpointing ??= this.#checkpoint();
    return committed;
  }

  /**
   * Runs beside the commits: the reader copies the bulk of the log into the file, then the writer, between two commits,
   * the little that has come meanwhile, so that the log can begin anew (an overwritten log syncs twice as fast as one
   * that grows). A failure here loses nothing: the log grows, and the next checkpoint finds it.
   */
  async #checkpoint(): Promise<void> {
    this.#sinceCheckpoint = { commits: 0, messages: 0 };
    try {
      await this.#threads.reader.call("checkpoint");
      await this.#threads.writer.call("checkpoint");
      this.#checkpoints++;
    } catch (error) {
      if (!(error instanceof HoldfastError)) throw error;
    } finally {
      this.#checkpointing = undefined;
    }
  }

  /** Whatever is under way ends with an unknown outcome. Calls meanwhile wait; two reopens at once are one. */
  reopen(): Promise<void> {
    this.#reopening ??= this.#reopen().finally(() => {
      this.#reopening = undefined;
    });
    return this.#reopening;
  }

  async #reopen(): Promise<void> {
    if (this.#closing) throw new HoldfastError("closed", "the store is closed", { hint: "open it again" });
    await this.#threads.end();
    this.#threads = await openThreads(this.#options, []);
  }

  wasCommitted(group: string): Promise<boolean> {
    return this.#writer("wasCommitted", group);
  }

  async get(spaces: readonly SpaceRef[], ids: readonly string[], now: number): Promise<readonly Item[]> {
    if (ids.length > PEEK_MAX) return this.#reader("get", spaces, ids, now);
    return this.#peek((peek) => peek.get(spaces, ids, now));
  }

  async read(request: ReadRequest): Promise<readonly KeyedItem[]> {
    if (request.keys.length > PEEK_MAX) return this.#reader("read", request);
    return this.#peek((peek) => peek.read(request));
  }

  list(request: ListRequest): Promise<Page<Item>> {
    const isLong = request.sortBy === "timestamp" || Object.keys(request.filter).length > 0; // may look at every item
    return isLong ? this.#reader("list", request) : this.#brief("list", request);
  }

  searchWords(request: WordsRequest): Promise<FoundItems<Scored>> {
    return this.#searches.words(request);
  }

  speakers(spaces: readonly SpaceRef[], names: readonly string[]): Promise<readonly string[]> {
    return this.#peek((peek) => peek.speakers(spaces, names));
  }

  versions(spaces: readonly SpaceRef[]): Promise<readonly number[]> {
    return this.#peek((peek) => peek.versions(spaces));
  }

  changes(spaces: readonly SpaceRef[], since: number, bounds?: ChangesBounds): Promise<Changes> {
    return this.#reader("changes", spaces, since, bounds);
  }

  entries(request: RegistryRequest & { kind: SpaceKind }): Promise<Page<Entry>> {
    return this.#brief("entries", request);
  }

  sessions(request: RegistryRequest & { kind: "session" }): Promise<Page<SessionEntry>> {
    return this.#brief("sessions", request);
  }

  /** On the main thread, like the ledger: they are small, and every context asks for them. */
  blocks(request: BlocksRequest): Promise<readonly Block[]> {
    return this.#peek((peek) => peek.blocks(request));
  }

  blockLog(request: BlockLogRequest): Promise<readonly BlockEdit[]> {
    return this.#brief("blockLog", request);
  }

  blockVersions(request: BlockVersionsRequest): Promise<Page<BlockVersion>> {
    return this.#brief("blockVersions", request);
  }

  facts(request: FactsRequest): Promise<Page<Fact>> {
    return this.#brief("facts", request);
  }

  extracted(space: SpaceRef, session: string): Promise<number> {
    return this.#brief("extracted", space, session);
  }

  ledger(space: SpaceRef, session: string): Promise<Ledger> {
    return this.#peek((peek) => peek.ledger(space, session));
  }

  promotions(request: PromotionsRequest): Promise<Page<Promotion>> {
    return this.#brief("promotions", request);
  }

  /** One key is read on the main thread: every request through a door asks for one. */
  async keys(request: KeysRequest): Promise<Page<StoredKey>> {
    if (request.id === undefined) return this.#brief("keys", request);
    return this.#peek((peek) => peek.keys(request));
  }

  waiting(owner: string, limit: number, now: number): Promise<readonly WaitingLane[]> {
    return this.#brief("waiting", owner, limit, now);
  }

  pending(request: PendingRequest): Promise<readonly PendingItem[]> {
    return this.#brief("pending", request);
  }

  /** On the main thread: a question waits for it before it is searched by meaning, and it is mostly empty. */
  tail(request: TailRequest): Promise<Tail> {
    return this.#peek((peek) => peek.tail(request));
  }

  earlier(keys: readonly number[], count: number, now: number): Promise<readonly (readonly Neighbour[])[]> {
    return this.#brief("earlier", keys, count, now);
  }

  searchVectors(request: VectorsRequest): Promise<FoundItems<VectorScored>> {
    return this.#searches.vectors(request);
  }

  scoreVectors(request: ScoresRequest): Promise<Scores> {
    return this.#searches.scores(request);
  }

  /** What the vectors in memory take. Starts no thread for it. */
  async mirrors(): Promise<MirrorStats> {
    const { livingVectors } = await this.#ready();
    return livingVectors?.call("mirrorStats") ?? { ...NO_MIRRORS, budget: this.#options.mirrorBytes };
  }

  chunks(spaces: readonly SpaceRef[], ids: readonly string[], now: number): Promise<readonly StoredChunk[]> {
    return this.#brief("chunks", spaces, ids, now);
  }

  parked(request: ParkedRequest): Promise<ParkedPage> {
    return this.#brief("parked", request);
  }

  outbox(limit: number, maxBytes: number, now: number): Promise<readonly OutboxRow[]> {
    return this.#reader("outbox", limit, maxBytes, now);
  }

  toReindex(request: ToReindexRequest): Promise<ToReindex> {
    return this.#reader("toReindex", request);
  }

  vectorSpace(): Promise<VectorSpace | undefined> {
    return this.#peek((peek) => peek.vectorSpace());
  }

  indexingStats(): Promise<IndexingStats> {
    return this.#brief("indexingStats");
  }

  /** Words out of the index, text out of the log, then a look at the bytes; a rewrite of the file if any were found. */
  purge(deadlineMs: number): Promise<Purged> {
    const purged = this.#purging.then(() => this.#purge(deadlineMs));
    this.#purging = purged.catch(() => undefined); // the next one takes its turn; this one's caller has the error
    return purged;
  }

  async #purge(deadlineMs: number): Promise<Purged> {
    const { livingReader, livingVectors } = await this.#ready();
    await Promise.all([livingReader?.call("sweep"), livingVectors?.call("sweep"), this.#peek((peek) => peek.sweep())]);
    const { unpurged, traces } = await this.#writer<{ unpurged: number; traces?: Traces }>("beginPurge");
    await this.#writer("mergeWords");
    if (!(await this.#writer<boolean>("truncateLog", deadlineMs))) return LOG_LEFT;
    if (!traces || (await this.#findResidue(traces))) {
      await this.#writer("vacuum");
      if (!(await this.#writer<boolean>("truncateLog", deadlineMs))) return LOG_LEFT;
    }
    await this.#writer("endPurge", unpurged);
    return { purged: true, left: [] };
  }

  #findResidue(traces: Traces): Promise<boolean> {
    return this.#reader("findResidue", descriptorOf(this.#options.path), traces);
  }

  async maintain(now: number, signal?: AbortSignal): Promise<void> {
    await this.#writer("trim", now);
    await this.#inSlices(signal, () => this.#writer<boolean>("tidyVectors", now));
    await this.#inSlices(signal, () => this.#writer<boolean>("tidyWords"));
    if (!signal?.aborted && (await this.#writer<boolean>("purgeOverdue", now))) {
      // The process that forgot is gone, and with it the traces to look for, so this rewrites the file.
      await this.purge(0);
    }
  }

  /** Repeats what is done a slice at a time, between commits, until there is no more of it. */
  async #inSlices(signal: AbortSignal | undefined, tidy: () => Promise<boolean>): Promise<void> {
    for (let slice = 1; !signal?.aborted && (await tidy()); slice++) {
      if (slice % SLICES_DUE !== 0) continue;
      this.#checkpointing ??= this.#checkpoint(); // what is removed is overwritten, and all of that is logged
      await this.#checkpointing;
    }
  }

  async stats(): Promise<StoreStats> {
    const { busyRetries, busyMs } = await this.#writer<{ busyRetries: number; busyMs: number }>("stats");
    const { peek } = await this.#ready();
    return { ...peek.stats(), checkpoints: this.#checkpoints, busyRetries, busyMs };
  }

  proveWritable(now: number): Promise<void> {
    return this.#writer("proveWritable", now);
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    await this.#checkpointing;
    await this.#threads.close();
  }
}

const NO_MIRRORS = { spaces: 0, vectors: 0, bytes: 0, loads: 0, evictions: 0, hits: 0 };

const LOG_LEFT: Purged = {
  purged: false,
  left: [{ what: "log", why: "another process is reading; the log is emptied when it ends its read or closes" }],
};
