/**
 * The store in RAM: every guarantee of the contract but durability, and nothing on any medium. For tests, for trying
 * things out, and for agents that are meant to forget when the process ends.
 *
 * A commit runs from start to end without giving way, so nobody sees half of it.
 */
import { HoldfastError, toRecord } from "../../errors.js";
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
  Outcome,
  Purged,
  ReadRequest,
  RegistryRequest,
  Scored,
  Store,
  StoreStats,
  Unit,
  WordsRequest,
} from "../store.js";
import { apply } from "./apply.js";
import { Attempt } from "./attempt.js";
import { blockLog, blocks, blockVersions } from "./blocks.js";
import { extracted, facts } from "./facts.js";
import { passes } from "./filter.js";
import { keys } from "./keys.js";
import { ledger } from "./ledgers.js";
import { pageOf } from "./page.js";
import { parkedItems } from "./parked.js";
import { promotions } from "./promotions.js";
import { toSessionEntry } from "./registry.js";
import { progressOf, toReindex } from "./reindex.js";
import { isVisible, toItem, toKeyed } from "./row.js";
import type { Space } from "./space.js";
import { State } from "./state.js";
import { chunks, scoreVectors, searchVectors } from "./vectors.js";
import { earlier, pendingItems, tail, waitingLanes } from "./waiting.js";
import { searchWords } from "./word-search.js";

export interface MemoryStoreOptions {
  /**
   * Items that one forget removes, a replay takes up or an attach queues before it answers `remaining`. More of them
   * hold up the event loop for longer.
   */
  readonly forgetMax?: number;
  /** Removals that `changes` remembers (one per space and commit). Fewer: readers that lag behind start over sooner. */
  readonly removalsMax?: number;
}

export class MemoryStore implements Store {
  readonly #state: State;
  readonly #forgetMax: number;
  #commit = 0;
  #lastGroup: string | undefined;
  #closed = false;

  constructor({ forgetMax = 10_000, removalsMax = 10_000 }: MemoryStoreOptions = {}) {
    this.#state = new State(removalsMax);
    this.#forgetMax = forgetMax;
  }

  async commit(units: readonly Unit[], now: number, group: string): Promise<Committed> {
    this.#requireOpen();
    const started = performance.now();
    const commit = this.#commit + 1;
    const changed = new Set<Space>();
    let isEmpty = true;
    const outcomes = units.map((unit) => {
      const attempt = new Attempt(now, commit);
      const outcome = this.#attempt(unit, attempt);
      isEmpty &&= attempt.isEmpty;
      for (const space of attempt.touched) changed.add(space);
      return outcome;
    });
    if (!isEmpty) {
      this.#commit = commit;
      if (group !== "") this.#lastGroup = group;
      for (const space of changed) space.version = commit;
      this.#state.removals.trim();
    }
    return { commit: this.#commit, changed: !isEmpty, outcomes, workMs: performance.now() - started };
  }

  #attempt(unit: Unit, attempt: Attempt): Outcome {
    try {
      return { ok: true, done: unit.map((write) => apply(write, this.#state, attempt, this.#forgetMax)) };
    } catch (error) {
      attempt.rollback();
      return { ok: false, error: { hint: "Nothing of this unit was written. Please report it.", ...toRecord(error) } };
    }
  }

  async reopen(): Promise<void> {
    this.#requireOpen();
  }

  async wasCommitted(group: string): Promise<boolean> {
    this.#requireOpen();
    return group === this.#lastGroup;
  }

  async get(spaces: readonly SpaceRef[], ids: readonly string[], now: number): Promise<readonly Item[]> {
    const found = this.#spaces(spaces);
    const items: Item[] = [];
    for (const id of new Set(ids)) {
      for (const space of found) {
        const row = space.rows.get(id);
        if (row && isVisible(row, space, now)) items.push(toItem(row, space));
      }
    }
    return items;
  }

  async read({ spaces, keys, filter, now }: ReadRequest): Promise<readonly KeyedItem[]> {
    const asked = new Set(this.#spaces(spaces));
    const { marks } = this.#state;
    return [...new Set(keys)].flatMap((key) => {
      const found = marks.find(key);
      if (!found || !asked.has(found.mark.space)) return [];
      const { row, mark } = found;
      if (!isVisible(row, mark.space, now) || !passes(row, filter, marks)) return [];
      return toKeyed(row, mark.space);
    });
  }

  async list({ spaces, filter, sortBy, order, limit, cursor, now }: ListRequest): Promise<Page<Item>> {
    const rows = this.#spaces(spaces).flatMap((space) =>
      [...space.rows.values()]
        .filter((row) => isVisible(row, space, now) && passes(row, filter, this.#state.marks))
        .map((row) => ({ row, space })),
    );
    const page = pageOf(rows, {
      list: `${sortBy} ${order}`,
      key: ({ row }) => (sortBy === "arrival" ? [row.arrival] : [row.occurredAt, row.arrival]),
      order,
      limit,
      cursor,
    });
    return { ...page, items: page.items.map(({ row, space }) => toItem(row, space)) };
  }

  async searchWords(request: WordsRequest): Promise<readonly Scored[]> {
    this.#requireOpen();
    return searchWords(request, this.#state);
  }

  async speakers(spaces: readonly SpaceRef[], names: readonly string[]): Promise<readonly string[]> {
    const spoken = new Set<string>();
    for (const space of this.#spaces(spaces)) {
      for (const { name } of space.rows.values()) if (name !== undefined) spoken.add(asciiLower(name));
    }
    return names.filter((name) => spoken.has(asciiLower(name)));
  }

  async versions(spaces: readonly SpaceRef[]): Promise<readonly number[]> {
    this.#requireOpen();
    return spaces.map((ref) => this.#state.registry.find(ref)?.version ?? 0);
  }

  async changes(spaces: readonly SpaceRef[], since: number, bounds?: ChangesBounds): Promise<Changes> {
    const without = new Set(bounds?.without);
    const isMeant = (commit: number) => commit > since && commit <= (bounds?.upTo ?? Infinity) && !without.has(commit);
    const changed = this.#spaces(spaces).flatMap((space) =>
      [...space.rows.values()]
        .filter((row) => isMeant(row.commit))
        .sort((a, b) => a.arrival - b.arrival)
        .map((row) => ({ space: space.ref, id: row.id, version: row.version })),
    );
    return { commit: this.#commit, changed, ...this.#state.removals.since(spaces, since, isMeant) };
  }

  /** In the order of registration. */
  async entries({ kind, name, id, limit, cursor }: RegistryRequest & { kind: SpaceKind }): Promise<Page<Entry>> {
    this.#requireOpen();
    const spaces = [...this.#state.registry.ofKind(kind)].filter(
      ({ entry }) => (name === undefined || entry.name === name) && (id === undefined || entry.id === id),
    );
    const page = pageOf(spaces, { list: kind, key: (space) => [space.order], order: "asc", limit, cursor });
    return { ...page, items: page.items.map((space) => ({ ...space.entry })) };
  }

  /** In the order of registration. */
  async sessions(request: RegistryRequest & { kind: "session" }): Promise<Page<SessionEntry>> {
    this.#requireOpen();
    const { space: ref, agent, name, id, limit, cursor } = request;
    const spaces = ref ? this.#spaces([ref]) : [...this.#state.registry.all()];
    const sessions = spaces.flatMap((space) =>
      [...space.sessions.values()]
        .filter(
          ({ entry }) =>
            (agent === undefined || entry.agent === agent) &&
            (name === undefined || entry.name === name) &&
            (id === undefined || entry.id === id),
        )
        .map((session) => ({ session, space })),
    );
    const page = pageOf(sessions, {
      list: "session",
      key: ({ session }) => [session.order],
      order: "asc",
      limit,
      cursor,
    });
    return { ...page, items: page.items.map(({ session, space }) => toSessionEntry(session, space)) };
  }

  async blocks(request: BlocksRequest): Promise<readonly Block[]> {
    this.#requireOpen();
    return blocks(request, this.#state);
  }

  async blockLog(request: BlockLogRequest): Promise<readonly BlockEdit[]> {
    this.#requireOpen();
    return blockLog(request, this.#state);
  }

  async blockVersions(request: BlockVersionsRequest): Promise<Page<BlockVersion>> {
    this.#requireOpen();
    return blockVersions(request, this.#state);
  }

  async facts(request: FactsRequest): Promise<Page<Fact>> {
    this.#requireOpen();
    return facts(request, this.#state);
  }

  async extracted(space: SpaceRef, session: string): Promise<number> {
    this.#requireOpen();
    return extracted(space, session, this.#state);
  }

  async ledger(space: SpaceRef, session: string): Promise<Ledger> {
    this.#requireOpen();
    return ledger(space, session, this.#state);
  }

  async promotions(request: PromotionsRequest): Promise<Page<Promotion>> {
    this.#requireOpen();
    return promotions(request, this.#state);
  }

  async keys(request: KeysRequest): Promise<Page<StoredKey>> {
    this.#requireOpen();
    return keys(request, this.#state);
  }

  async waiting(owner: string, limit: number, now: number): Promise<readonly WaitingLane[]> {
    this.#requireOpen();
    return waitingLanes(this.#state, owner, limit, now);
  }

  async pending(request: PendingRequest): Promise<readonly PendingItem[]> {
    this.#requireOpen();
    return pendingItems(request, this.#state);
  }

  async tail(request: TailRequest): Promise<Tail> {
    this.#requireOpen();
    return tail(request, this.#state);
  }

  async earlier(keys: readonly number[], count: number, now: number): Promise<readonly (readonly Neighbour[])[]> {
    this.#requireOpen();
    return earlier(keys, count, now, this.#state);
  }

  async searchVectors(request: VectorsRequest): Promise<readonly VectorScored[]> {
    this.#requireOpen();
    return searchVectors(request, this.#state);
  }

  async scoreVectors(request: ScoresRequest): Promise<Scores> {
    this.#requireOpen();
    return scoreVectors(request, this.#state);
  }

  async chunks(spaces: readonly SpaceRef[], ids: readonly string[], now: number): Promise<readonly StoredChunk[]> {
    this.#requireOpen();
    return chunks(spaces, ids, now, this.#state);
  }

  async parked(request: ParkedRequest): Promise<ParkedPage> {
    this.#requireOpen();
    return parkedItems(request, this.#state);
  }

  async outbox(limit: number, maxBytes: number, now: number): Promise<readonly OutboxRow[]> {
    this.#requireOpen();
    return this.#state.outbox.due(limit, maxBytes, now, this.#state.marks);
  }

  async toReindex(request: ToReindexRequest): Promise<ToReindex> {
    this.#requireOpen();
    return toReindex(request, this.#state);
  }

  async vectorSpace(): Promise<VectorSpace | undefined> {
    this.#requireOpen();
    return this.#state.vectorSpace;
  }

  async indexingStats(): Promise<IndexingStats> {
    this.#requireOpen();
    const { marks, outbox, vectorSpace, next } = this.#state;
    return {
      ...marks.count(),
      ...(vectorSpace && { vectorSpace: { ...vectorSpace } }),
      ...(next && { next: progressOf(next, this.#state) }),
      ...(outbox.attached && { index: outbox.attached.index }),
      ...outbox.count(),
    };
  }

  /** There is no medium from which anything could be recovered. */
  async purge(): Promise<Purged> {
    this.#requireOpen();
    return { purged: true, left: [] };
  }

  /** Drops answers to retries that may no longer come. */
  async maintain(now: number): Promise<void> {
    this.#requireOpen();
    for (const space of this.#state.registry.all()) space.answers.forgetOld(new Attempt(now, this.#commit));
  }

  async stats(): Promise<StoreStats> {
    this.#requireOpen();
    let items = 0;
    for (const space of this.#state.registry.all()) items += space.rows.size;
    return { commit: this.#commit, items, bytes: 0, checkpoints: 0, busyRetries: 0, busyMs: 0 };
  }

  async proveWritable(): Promise<void> {
    this.#requireOpen();
  }

  async close(): Promise<void> {
    this.#closed = true;
  }

  #spaces(refs: readonly SpaceRef[]): readonly Space[] {
    this.#requireOpen();
    return this.#state.registry.findAll(refs);
  }

  #requireOpen(): void {
    if (!this.#closed) return;
    throw new HoldfastError("closed", "The store is closed.", { hint: "Open it again before using it." });
  }
}

/** Lower case of A to Z alone, as the contract has it. */
const asciiLower = (text: string): string => text.replace(/[A-Z]/g, (letter) => letter.toLowerCase());
