/**
 * A store that fails on demand, wrapped around a working one. It fails in the ways that the contract allows: with
 * nothing written, or with an outcome that is unknown until a reopen. Until that reopen it refuses further commits,
 * which exposes callers that continue without one.
 */
import { HoldfastError } from "../errors.js";
import type {
  Block,
  BlockEdit,
  BlockLogRequest,
  BlocksRequest,
  BlockVersion,
  BlockVersionsRequest,
} from "../stores/blocks.js";
import type { Fact, FactsRequest } from "../stores/facts.js";
import type {
  IndexingStats,
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
} from "../stores/indexing.js";
import type { KeysRequest, StoredKey } from "../stores/keys.js";
import type { Ledger } from "../stores/ledger.js";
import type { NearestRequest, PointHit, PointsRequest, VectorPoint } from "../stores/points.js";
import type { Promotion, PromotionsRequest } from "../stores/promotions.js";
import type { ToReindex, ToReindexRequest } from "../stores/reindexing.js";
import type { SearchRequest, SearchResult } from "../stores/search.js";
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
} from "../stores/store.js";
import type { Entry, Item, Page, SessionEntry, SpaceKind, SpaceRef, VectorSpace } from "../types.js";

export type CommitFault =
  /** Nothing is written; `store_failed`. */
  | "failed"
  /** Nothing is written; `busy`. */
  | "busy"
  /** Nothing is written, but the outcome is unknown; `outcome_unknown`. */
  | "unknown, not written"
  /** Everything is written, but the outcome is unknown; `outcome_unknown`. */
  | "unknown, written";

export class FaultyStore implements Store {
  readonly #inner: Store;
  readonly #faults: CommitFault[] = [];
  #reopenFaults = 0;
  #readFaults = 0;
  #isOutcomeUnknown = false;
  #gate: Promise<void> = Promise.resolve();
  #held = 0;
  #commits = 0;

  constructor(inner: Store) {
    this.#inner = inner;
  }

  /** Makes the next commits fail, after those already ordered to fail. */
  failCommits(fault: CommitFault, times = 1): void {
    for (let time = 0; time < times; time++) this.#faults.push(fault);
  }

  /** Makes the next reopens fail with `store_failed`. */
  failReopens(times = 1): void {
    this.#reopenFaults += times;
  }

  /** Makes the next searches and reads of pending items fail with `store_failed`, whichever come first. */
  failReads(times = 1): void {
    this.#readFaults += times;
  }

  /** Holds every commit from now on, before anything is written, until the returned function is called. */
  stallCommits(): () => void {
    let release = (): void => {};
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    this.#gate = this.#gate.then(() => released);
    return release;
  }

  /** The number of calls of `commit`. */
  get commits(): number {
    return this.#commits;
  }

  /** The number of commits on hold. */
  get heldCommits(): number {
    return this.#held;
  }

  async commit(units: readonly Unit[], now: number, group: string): Promise<Committed> {
    this.#commits++;
    this.#held++;
    await this.#gate;
    this.#held--;
    this.#requireKnownOutcome();
    const fault = this.#faults.shift();
    if (fault === undefined) return this.#inner.commit(units, now, group);
    if (fault === "failed" || fault === "busy") throw nothingWritten(fault === "busy" ? "busy" : "store_failed");
    this.#isOutcomeUnknown = true;
    if (fault === "unknown, written") await this.#inner.commit(units, now, group);
    throw new HoldfastError("outcome_unknown", "The store was told to lose the outcome of this commit.", {
      hint: "Reopen the store, then ask whether the group was committed.",
    });
  }

  async reopen(): Promise<void> {
    if (this.#reopenFaults > 0) {
      this.#reopenFaults--;
      throw new HoldfastError("store_failed", "The store was told to fail this reopen.", { hint: "Reopen again." });
    }
    await this.#inner.reopen();
    this.#isOutcomeUnknown = false;
  }

  async wasCommitted(group: string): Promise<boolean> {
    this.#requireKnownOutcome();
    return this.#inner.wasCommitted(group);
  }

  get(spaces: readonly SpaceRef[], ids: readonly string[], now: number): Promise<readonly Item[]> {
    return this.#inner.get(spaces, ids, now);
  }

  read(request: ReadRequest): Promise<readonly KeyedItem[]> {
    return this.#inner.read(request);
  }

  list(request: ListRequest): Promise<Page<Item>> {
    return this.#inner.list(request);
  }

  async search(request: SearchRequest): Promise<SearchResult> {
    this.#failRead();
    return this.#inner.search(request);
  }

  async speakers(spaces: readonly SpaceRef[], names: readonly string[]): Promise<readonly string[]> {
    this.#failRead();
    return this.#inner.speakers(spaces, names);
  }

  versions(spaces: readonly SpaceRef[]): Promise<readonly (SpaceVersion | undefined)[]> {
    return this.#inner.versions(spaces);
  }

  changes(cursors: readonly ChangesCursor[]): Promise<readonly Changes[]> {
    return this.#inner.changes(cursors);
  }

  entries(request: RegistryRequest & { kind: SpaceKind }): Promise<Page<Entry>> {
    return this.#inner.entries(request);
  }

  sessions(request: RegistryRequest & { kind: "session" }): Promise<Page<SessionEntry>> {
    return this.#inner.sessions(request);
  }

  blocks(request: BlocksRequest): Promise<readonly Block[]> {
    return this.#inner.blocks(request);
  }

  blockLog(request: BlockLogRequest): Promise<readonly BlockEdit[]> {
    return this.#inner.blockLog(request);
  }

  blockVersions(request: BlockVersionsRequest): Promise<Page<BlockVersion>> {
    return this.#inner.blockVersions(request);
  }

  facts(request: FactsRequest): Promise<Page<Fact>> {
    return this.#inner.facts(request);
  }

  extracted(space: SpaceRef, session: string): Promise<number> {
    return this.#inner.extracted(space, session);
  }

  ledger(space: SpaceRef, session: string): Promise<Ledger> {
    return this.#inner.ledger(space, session);
  }

  constrain(isConstrained: boolean): Promise<void> {
    return this.#inner.constrain(isConstrained);
  }

  points(request: PointsRequest): Promise<Page<VectorPoint>> {
    return this.#inner.points(request);
  }

  nearest(request: NearestRequest): Promise<readonly PointHit[]> {
    return this.#inner.nearest(request);
  }

  promotions(request: PromotionsRequest): Promise<Page<Promotion>> {
    return this.#inner.promotions(request);
  }

  keys(request: KeysRequest): Promise<Page<StoredKey>> {
    return this.#inner.keys(request);
  }

  waiting(owner: string, limit: number, now: number): Promise<readonly WaitingLane[]> {
    return this.#inner.waiting(owner, limit, now);
  }

  async pending(request: PendingRequest): Promise<PendingItems> {
    this.#failRead();
    return this.#inner.pending(request);
  }

  tail(request: TailRequest): Promise<Tail> {
    return this.#inner.tail(request);
  }

  earlier(keys: readonly number[], count: number, now: number): Promise<readonly (readonly Neighbour[])[]> {
    return this.#inner.earlier(keys, count, now);
  }

  unsent(spaces: readonly SpaceRef[], limit: number): Promise<readonly number[]> {
    return this.#inner.unsent(spaces, limit);
  }

  chunks(spaces: readonly SpaceRef[], ids: readonly string[], now: number): Promise<readonly StoredChunk[]> {
    return this.#inner.chunks(spaces, ids, now);
  }

  parked(request: ParkedRequest): Promise<ParkedPage> {
    return this.#inner.parked(request);
  }

  outbox(limit: number, maxBytes: number, now: number): Promise<readonly OutboxRow[]> {
    return this.#inner.outbox(limit, maxBytes, now);
  }

  toReindex(request: ToReindexRequest): Promise<ToReindex> {
    return this.#inner.toReindex(request);
  }

  vectorSpace(): Promise<VectorSpace | undefined> {
    return this.#inner.vectorSpace();
  }

  indexingStats(): Promise<IndexingStats> {
    return this.#inner.indexingStats();
  }

  purge(deadlineMs: number): Promise<Purged> {
    return this.#inner.purge(deadlineMs);
  }

  maintain(now: number, signal?: AbortSignal): Promise<void> {
    return this.#inner.maintain(now, signal);
  }

  stats(): Promise<StoreStats> {
    return this.#inner.stats();
  }

  async proveWritable(now: number): Promise<void> {
    const fault = this.#faults[0];
    if (fault !== undefined) throw nothingWritten(fault === "busy" ? "busy" : "store_failed");
    return this.#inner.proveWritable(now);
  }

  close(now?: number): Promise<void> {
    return this.#inner.close(now);
  }

  #failRead(): void {
    if (this.#readFaults === 0) return;
    this.#readFaults--;
    throw new HoldfastError("store_failed", "The store was told to fail this read.", { hint: "Try again." });
  }

  #requireKnownOutcome(): void {
    if (!this.#isOutcomeUnknown) return;
    throw new HoldfastError("store_failed", "The outcome of an earlier commit is unknown.", {
      hint: "Reopen the store before using it further.",
    });
  }
}

function nothingWritten(code: "busy" | "store_failed"): HoldfastError {
  return new HoldfastError(code, "The store was told to fail this commit before writing.", { hint: "Try again." });
}
