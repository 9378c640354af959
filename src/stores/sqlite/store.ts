/**
 * The SQLite store on the main thread. It passes work to the storage threads and keeps one small connection of its own.
 *
 * Threads: `writer` commits; `search` searches and keeps the vectors of searched spaces in memory; `reader` lists and
 * checkpoints. So neither a search nor a checkpoint delays a commit. A connection on the main thread serves reads
 * that take less time than a hop to a thread.
 */
import { randomUUID } from "node:crypto";
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
import type { Fact, FactsRequest } from "../facts.js";
import type {
  IndexingStats,
  MirrorStats,
  Neighbour,
  OutboxRow,
  ParkedPage,
  ParkedRequest,
  PendingItems,
  PendingRequest,
  StoredChunk,
  Tail,
  TailRequest,
  WaitingLane,
} from "../indexing.js";
import type { KeysRequest, StoredKey } from "../keys.js";
import type { Ledger } from "../ledger.js";
import type { NearestRequest, PointHit, PointsRequest, VectorPoint } from "../points.js";
import type { Promotion, PromotionsRequest } from "../promotions.js";
import type { ToReindex, ToReindexRequest } from "../reindexing.js";
import type { SearchRequest, SearchResult } from "../search.js";
import type {
  Changes,
  ChangesCursor,
  Committed,
  KeyedItem,
  ListRequest,
  Purged,
  ReadRequest,
  RegistryRequest,
  SpaceVersion,
  Store,
  StoreStats,
  Unit,
} from "../store.js";
import { Connections } from "./connections.js";
import { Checkpoints } from "./file/checkpoints.js";
import { IN_MEMORY } from "./file/driver.js";
import { absolutePath } from "./file/file.js";
import { FIRST_PLACE, type NearestPlace, type NearestStep } from "./records/point-reader.js";
import { descriptorOf, type Traces } from "./rows/residue.js";
import { LostThread } from "./thread.js";
import type { ReadingRole } from "./threads.js";

/** Housekeeping runs a checkpoint after this many slices. */
const SLICES_DUE = 16;
/** Reads of more rows than this go to the reader thread instead of the main thread. */
const MAIN_ROWS_MAX = 64;
/** The minimum interval between checks, during queries, that the file is still in place. */
const LOOK_MS = 1_000;
const MIB = 1024 * 1024;
/** The largest file that is rewritten at close. This takes about two seconds; closing must not take longer. */
const REWRITTEN_AT_CLOSE = 256 * MIB;
const MIRROR_BYTES = 236 * MIB;

export interface SqliteStoreOptions {
  readonly path: string;
  readonly busyTimeoutMs: number;
  /** The memory budget for the vectors of searched spaces, in bytes. Vectors that do not fit are read from the file. */
  readonly mirrorBytes?: number;
  /**
   * Threads to start with the store instead of with their first call, so that the first query need not wait for them.
   */
  readonly warm?: readonly ReadingRole[];
}

export class SqliteStore implements Store {
  readonly #connections: Connections;
  readonly #checkpoints: Checkpoints;
  #closing: Promise<void> | undefined;
  #lookAt = 0;
  #purging: Promise<unknown> = Promise.resolve();

  private constructor(connections: Connections) {
    this.#connections = connections;
    this.#checkpoints = new Checkpoints({
      writer: (method) => connections.write(method),
      reader: (method) => connections.read(method),
    });
  }

  static async open({ path, busyTimeoutMs, warm = [], mirrorBytes = MIRROR_BYTES }: SqliteStoreOptions) {
    const options = {
      path: path === IN_MEMORY ? path : absolutePath(path),
      id: randomUUID(),
      busyTimeoutMs,
      mirrorBytes,
    };
    return new SqliteStore(await Connections.open(options, warm));
  }

  async commit(units: readonly Unit[], now: number, group: string): Promise<Committed> {
    const committed = await this.#connections
      .write("commit", units, now, group)
      .catch((error: unknown) => Promise.reject(error instanceof LostThread ? outcomeUnknown(error) : error));
    this.#checkpoints.committed(units);
    return committed;
  }

  reopen(): Promise<void> {
    return this.#connections.reopen();
  }

  wasCommitted(group: string): Promise<boolean> {
    return this.#connections.readWriter("wasCommitted", group);
  }

  async get(spaces: readonly SpaceRef[], ids: readonly string[], now: number): Promise<readonly Item[]> {
    if (ids.length > MAIN_ROWS_MAX) return this.#connections.read("get", spaces, ids, now);
    return this.#connections.onMain((reader) => reader.get(spaces, ids, now));
  }

  async read(request: ReadRequest): Promise<readonly KeyedItem[]> {
    if (request.keys.length > MAIN_ROWS_MAX) return this.#connections.read("read", request);
    return this.#connections.onMain((reader) => reader.read(request));
  }

  list(request: ListRequest): Promise<Page<Item>> {
    const isLong = request.sortBy === "timestamp" || Object.keys(request.filter).length > 0; // may scan all items
    return isLong ? this.#connections.read("list", request) : this.#connections.brief("list", request);
  }

  search(request: SearchRequest): Promise<SearchResult> {
    return this.#connections.search("search", request);
  }

  speakers(spaces: readonly SpaceRef[], names: readonly string[]): Promise<readonly string[]> {
    return this.#connections.onMain((reader) => reader.speakers(spaces, names));
  }

  /**
   * Every query begins with this call. It also checks the file, so that a client that only reads notices when it is
   * lost.
   */
  versions(spaces: readonly SpaceRef[]): Promise<readonly (SpaceVersion | undefined)[]> {
    if (performance.now() > this.#lookAt) {
      this.#lookAt = performance.now() + LOOK_MS;
      this.#connections.write("assertInPlace").catch(() => undefined); // recorded; later calls reject
    }
    return this.#connections.onMain((reader) => reader.versions(spaces));
  }

  changes(cursors: readonly ChangesCursor[]): Promise<readonly Changes[]> {
    return this.#connections.read("changes", cursors);
  }

  entries(request: RegistryRequest & { kind: SpaceKind }): Promise<Page<Entry>> {
    return this.#connections.brief("entries", request);
  }

  sessions(request: RegistryRequest & { kind: "session" }): Promise<Page<SessionEntry>> {
    return this.#connections.brief("sessions", request);
  }

  /** Runs on the main thread, like the ledger: blocks are small, and every context reads them. */
  blocks(request: BlocksRequest): Promise<readonly Block[]> {
    return this.#connections.onMain((reader) => reader.blocks(request));
  }

  blockLog(request: BlockLogRequest): Promise<readonly BlockEdit[]> {
    return this.#connections.brief("blockLog", request);
  }

  blockVersions(request: BlockVersionsRequest): Promise<Page<BlockVersion>> {
    return this.#connections.brief("blockVersions", request);
  }

  facts(request: FactsRequest): Promise<Page<Fact>> {
    return this.#connections.brief("facts", request);
  }

  extracted(space: SpaceRef, session: string): Promise<number> {
    return this.#connections.brief("extracted", space, session);
  }

  points(request: PointsRequest): Promise<Page<VectorPoint>> {
    return this.#connections.brief("points", request);
  }

  /** Compares in steps of a few milliseconds, so that other reads run in between. */
  async nearest(request: NearestRequest): Promise<readonly PointHit[]> {
    let best: readonly PointHit[] = [];
    for (let place: NearestPlace | undefined = FIRST_PLACE; place; ) {
      const floor = best.length < request.limit ? Number.NEGATIVE_INFINITY : (best.at(-1)?.score ?? 0);
      const step: NearestStep = await this.#connections.brief("nearest", request, place, floor);
      if (step.hits.length > 0)
        best = [...best, ...step.hits].sort((a, b) => b.score - a.score).slice(0, request.limit);
      place = step.next;
    }
    return best;
  }

  ledger(space: SpaceRef, session: string): Promise<Ledger> {
    return this.#connections.onMain((reader) => reader.ledger(space, session));
  }

  promotions(request: PromotionsRequest): Promise<Page<Promotion>> {
    return this.#connections.brief("promotions", request);
  }

  /** A single key is read on the main thread, because every authenticated request looks one up. */
  async keys(request: KeysRequest): Promise<Page<StoredKey>> {
    if (request.id === undefined) return this.#connections.brief("keys", request);
    return this.#connections.onMain((reader) => reader.keys(request));
  }

  waiting(owner: string, limit: number, now: number): Promise<readonly WaitingLane[]> {
    return this.#connections.brief("waiting", owner, limit, now);
  }

  pending(request: PendingRequest): Promise<PendingItems> {
    return this.#connections.brief("pending", request);
  }

  /** Runs on the main thread: a search by meaning waits for it, and the result is usually empty. */
  tail(request: TailRequest): Promise<Tail> {
    return this.#connections.onMain((reader) => reader.tail(request));
  }

  earlier(keys: readonly number[], count: number, now: number): Promise<readonly (readonly Neighbour[])[]> {
    return this.#connections.brief("earlier", keys, count, now);
  }

  unsent(spaces: readonly SpaceRef[], limit: number): Promise<readonly number[]> {
    return this.#connections.brief("unsent", spaces, limit);
  }

  /** The memory use of the mirrors. Does not start the search thread. */
  async mirrors(): Promise<MirrorStats> {
    const { search } = await this.#connections.ready();
    if (search.isRunning) return this.#connections.search("mirrorStats");
    return { ...NO_MIRRORS, budget: this.#connections.searchOptions.mirrorBytes };
  }

  constrain(isConstrained: boolean): Promise<void> {
    return this.#connections.constrain(isConstrained);
  }

  chunks(spaces: readonly SpaceRef[], ids: readonly string[], now: number): Promise<readonly StoredChunk[]> {
    return this.#connections.brief("chunks", spaces, ids, now);
  }

  parked(request: ParkedRequest): Promise<ParkedPage> {
    return this.#connections.brief("parked", request);
  }

  outbox(limit: number, maxBytes: number, now: number): Promise<readonly OutboxRow[]> {
    return this.#connections.read("outbox", limit, maxBytes, now);
  }

  toReindex(request: ToReindexRequest): Promise<ToReindex> {
    return this.#connections.read("toReindex", request);
  }

  vectorSpace(): Promise<VectorSpace | undefined> {
    return this.#connections.onMain((reader) => reader.vectorSpace());
  }

  indexingStats(): Promise<IndexingStats> {
    return this.#connections.brief("indexingStats");
  }

  /**
   * Merges forgotten words out of the index, truncates the log, then scans the file for residue and rewrites it if any
   * is found.
   */
  purge(deadlineMs: number): Promise<Purged> {
    const purged = this.#purging.then(() => this.#purge(deadlineMs));
    this.#purging = purged.catch(() => undefined); // the next purge still runs; the caller gets the error
    return purged;
  }

  async #purge(deadlineMs: number): Promise<Purged> {
    const { search } = await this.#connections.ready();
    if (search.isRunning) await this.#connections.search("sweep");
    const { unpurged, traces } = await this.#connections.write("beginPurge");
    let slice: "first" | "next" = "first";
    await this.#inSlices(undefined, async () => {
      const isMore = await this.#connections.write("mergeWords", slice);
      slice = "next";
      return isMore;
    });
    if (!(await this.#connections.write("truncateLog", deadlineMs))) return LOG_LEFT;
    if (!traces || (await this.#findResidue(traces))) {
      await this.#connections.write("vacuum");
      if (!(await this.#connections.write("truncateLog", deadlineMs))) return LOG_LEFT;
    }
    await this.#connections.write("endPurge", unpurged);
    return { purged: true, left: [] };
  }

  async #findResidue(traces: Traces): Promise<boolean> {
    if (this.#connections.options.path === IN_MEMORY) return false;
    const descriptor = await this.#connections.onMain(() => descriptorOf(this.#connections.options.path));
    return this.#connections.read("findResidue", descriptor, traces);
  }

  async maintain(now: number, signal?: AbortSignal): Promise<void> {
    await this.#connections.write("trim");
    await this.#checkpoints.runIfAny();
    await this.#inSlices(signal, () => this.#connections.write("tidyVectors", now));
    await this.#inSlices(signal, () => this.#connections.write("tidyWords"));
    if (!signal?.aborted && (await this.#connections.write("purgeOverdue", now))) await this.purge(0);
  }

  /** Finishes a purge left by another process. That process's traces are lost, so the whole file is rewritten. */
  async #finishPurge(now: number): Promise<void> {
    try {
      if (!(await this.#connections.write("purgeOverdue", now))) return;
      const { bytes } = await this.#connections.onMain((reader) => reader.stats());
      if (bytes <= REWRITTEN_AT_CLOSE) await this.purge(0);
    } catch (error) {
      if (!(error instanceof HoldfastError)) throw error; // the purge stays due
    }
  }

  /** Calls `tidy`, one slice at a time between commits, until it returns false or the signal aborts. */
  async #inSlices(signal: AbortSignal | undefined, tidy: () => Promise<boolean>): Promise<void> {
    for (let slice = 1; !signal?.aborted && (await tidy()); slice++) {
      if (slice % SLICES_DUE !== 0) continue;
      await this.#checkpoints.run(); // removed content is overwritten, which grows the log
    }
  }

  async stats(): Promise<StoreStats> {
    const waits = await this.#connections.readWriter("stats");
    const read = await this.#connections.onMain((reader) => reader.stats());
    return { ...read, checkpoints: this.#checkpoints.count, ...waits };
  }

  proveWritable(now: number): Promise<void> {
    return this.#connections.write("proveWritable", now);
  }

  close(now?: number): Promise<void> {
    this.#closing ??= this.#close(now);
    return this.#closing;
  }

  /** Rejects if the file was lost: the last writes may not be in the file at this path. */
  async #close(now?: number): Promise<void> {
    await this.#checkpoints.settled();
    if (now !== undefined) await this.#finishPurge(now);
    await this.#connections.close();
  }
}

const outcomeUnknown = (cause: LostThread): HoldfastError =>
  new HoldfastError("outcome_unknown", "the storage thread ended while it was writing", { cause });

const NO_MIRRORS = { spaces: 0, vectors: 0, bytes: 0, loads: 0, evictions: 0, hits: 0 };

const LOG_LEFT: Purged = {
  purged: false,
  left: [{ what: "log", why: "another process is reading; the log is emptied when it ends its read or closes" }],
};
