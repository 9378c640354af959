/** The reading side of the file: lists, searches and the registry, on one connection. */
import { statSync } from "node:fs";
import type { Entry, Item, Page, SessionEntry, SpaceRef, VectorSpace } from "../../types.js";
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
  PendingItems,
  PendingRequest,
  StoredChunk,
  Tail,
  TailRequest,
  WaitingLane,
} from "../indexing.js";
import type { KeysRequest, StoredKey } from "../keys.js";
import type { Ledger } from "../ledger.js";
import type { NearestRequest, PointsRequest, VectorPoint } from "../points.js";
import type { Promotion, PromotionsRequest } from "../promotions.js";
import type { ToReindex, ToReindexRequest } from "../reindexing.js";
import type {
  Changes,
  ChangesCursor,
  KeyedItem,
  ListRequest,
  ReadRequest,
  RegistryRequest,
  SpaceVersion,
  StoreStats,
} from "../store.js";
import { Backlog } from "./embedding/backlog.js";
import { ChunkReader } from "./embedding/chunk-reader.js";
import { OutboxReader } from "./embedding/outbox-reader.js";
import { ReindexReader } from "./embedding/reindex-reader.js";
import { VectorTables } from "./embedding/vector-table.js";
import { pragma, Statements, snapshot } from "./file/connection.js";
import type { Database } from "./file/driver.js";
import { IN_MEMORY } from "./file/driver.js";
import { BlockReader } from "./records/block-reader.js";
import { FactReader } from "./records/fact-reader.js";
import { KeyReader } from "./records/key-reader.js";
import { LedgerReader } from "./records/ledger-reader.js";
import { type NearestPlace, type NearestStep, PointReader } from "./records/point-reader.js";
import { PromotionReader } from "./records/promotion-reader.js";
import { ChangeReader } from "./rows/change-reader.js";
import { kindOf, spaceCode } from "./rows/codec.js";
import { ItemReader } from "./rows/item-reader.js";
import { Registry } from "./rows/registry.js";
import { addWordPieces, findResidue, type Traces } from "./rows/residue.js";
import { WordReader } from "./words/word-reader.js";

/** Whether any of the spaces has a speaker of this name. */
export const SPEAKS = `SELECT 1 FROM item INDEXED BY item_name
  WHERE name = ? COLLATE NOCASE AND space IN (SELECT value FROM json_each(?)) LIMIT 1`;

export class Reader {
  readonly #path: string;
  readonly #database: Database;
  readonly #statements: Statements;
  readonly #registry: Registry;
  readonly #items: ItemReader;
  readonly #backlog: Backlog;
  readonly #tables: VectorTables;
  readonly #changes: ChangeReader;
  readonly #chunks: ChunkReader;
  readonly #outbox: OutboxReader;
  readonly #blocks: BlockReader;
  readonly #facts: FactReader;
  readonly #points: PointReader;
  readonly #ledgers: LedgerReader;
  readonly #promotions: PromotionReader;
  readonly #keys: KeyReader;
  #isClosed = false;

  constructor(database: Database, path: string) {
    this.#path = path;
    this.#database = database;
    try {
      this.#statements = new Statements(this.#database);
      this.#registry = new Registry(this.#database);
      this.#items = new ItemReader(this.#statements, this.#registry);
      const tables = new VectorTables(this.#database);
      this.#tables = tables;
      this.#backlog = new Backlog(this.#database, this.#registry, tables);
      this.#changes = new ChangeReader(this.#statements);
      this.#chunks = new ChunkReader(this.#database, this.#registry, tables);
      this.#outbox = new OutboxReader(this.#database, tables);
      this.#blocks = new BlockReader(this.#statements, this.#registry);
      this.#facts = new FactReader(this.#statements, this.#registry);
      this.#points = new PointReader(this.#statements, this.#registry);
      this.#ledgers = new LedgerReader(this.#statements, this.#registry);
      this.#promotions = new PromotionReader(this.#statements, this.#registry);
      this.#keys = new KeyReader(this.#statements, this.#registry);
    } catch (error) {
      this.#database.close(); // possibly a file of another version or program
      throw error;
    }
  }

  /** Runs `work` on one snapshot of the file. `work` is synchronous, so the snapshot is short-lived. */
  #snapshot<T>(work: () => T): T {
    return snapshot(this.#database, work);
  }

  get(spaces: readonly SpaceRef[], ids: readonly string[], now: number): Item[] {
    return this.#snapshot(() => this.#items.get(spaces, ids, now));
  }

  list(request: ListRequest): Page<Item> {
    return this.#snapshot(() => this.#items.list(request));
  }

  /** A single statement reads one snapshot by itself and needs no transaction. */
  read(request: ReadRequest): KeyedItem[] {
    const { spaces, keys, filter, now } = request;
    const [space] = spaces;
    if (space && spaces.length === 1 && Object.keys(filter).length === 0) return this.#items.readIn(space, keys, now);
    return this.#snapshot(() => this.#items.read(request));
  }

  speakers(spaces: readonly SpaceRef[], names: readonly string[]): string[] {
    return this.#snapshot(() => {
      const keys = JSON.stringify(this.#registry.findSpaces(spaces).map(({ key }) => key));
      const speaks = this.#statements.get(SPEAKS);
      return names.filter((name) => speaks.get(name, keys));
    });
  }

  /**
   * For one space, a single statement is its own snapshot. Every query calls this, and a transaction would take twice
   * as long.
   */
  versions(spaces: readonly SpaceRef[]): (SpaceVersion | undefined)[] {
    const read = () => spaces.map((space) => this.#registry.versionOf(space));
    return spaces.length === 1 ? read() : this.#snapshot(read);
  }

  changes(cursors: readonly ChangesCursor[]): Changes[] {
    return this.#snapshot(() => cursors.map((cursor) => this.#changes.changes(cursor)));
  }

  entries({ kind, name, id, limit, cursor }: RegistryRequest): Page<Entry> {
    const conditions: { sql: string; value: string | number }[] = [
      { sql: "kind = ?", value: spaceCode(kind as Entry["kind"]) },
    ];
    if (name !== undefined) conditions.push({ sql: "name = ?", value: name });
    if (id !== undefined) conditions.push({ sql: "id = ?", value: id });
    return this.#snapshot(() => this.#registry.page<Entry>("space", conditions, limit, cursor));
  }

  sessions({ space, agent, name, id, order, limit, cursor }: RegistryRequest): Page<SessionEntry> {
    return this.#snapshot(() => {
      const conditions: { sql: string; value: string | number }[] = [];
      if (space) conditions.push({ sql: "space = ?", value: this.#registry.findSpace(space)?.key ?? -1 });
      if (agent !== undefined) conditions.push({ sql: "agent = ?", value: this.#registry.agentKeys([agent])[0] ?? -1 });
      if (name !== undefined) conditions.push({ sql: "name = ?", value: name });
      if (id !== undefined) conditions.push({ sql: "id = ?", value: id });
      return this.#registry.page<SessionEntry>("session", conditions, limit, cursor, order);
    });
  }

  waiting(owner: string, limit: number, now: number): WaitingLane[] {
    return this.#snapshot(() => this.#backlog.waiting(owner, limit, now));
  }

  pending(request: PendingRequest): PendingItems {
    return this.#snapshot(() => this.#backlog.pending(request));
  }

  /**
   * Returns early if no space has pending items. This check needs no snapshot: an item that becomes pending meanwhile
   * arrived after the call.
   */
  tail(request: TailRequest): Tail {
    if (!request.spaces.some((space) => this.#items.waitIn(space))) return { items: [], long: [], more: false };
    return this.#snapshot(() => this.#backlog.tail(request));
  }

  earlier(keys: readonly number[], count: number, now: number): Neighbour[][] {
    return this.#snapshot(() => this.#backlog.earlier(keys, count, now));
  }

  parked(request: ParkedRequest): ParkedPage {
    return this.#snapshot(() => this.#backlog.parked(request));
  }

  toReindex(request: ToReindexRequest): ToReindex {
    return this.#snapshot(() => new ReindexReader(this.#database, this.#tables).missing(request));
  }

  vectorSpace(): VectorSpace | undefined {
    return this.#tables.current()?.space;
  }

  /** Items of these spaces whose vectors an external index has not acknowledged. */
  unsent(spaces: readonly SpaceRef[], limit: number): number[] {
    return this.#snapshot(() => this.#outbox.unsent(this.#registry.findSpaces(spaces), limit));
  }

  indexingStats(): IndexingStats {
    return this.#snapshot(() => this.#backlog.stats());
  }

  chunks(spaces: readonly SpaceRef[], ids: readonly string[], now: number): StoredChunk[] {
    return this.#snapshot(() => this.#chunks.of(spaces, ids, now));
  }

  outbox(limit: number, maxBytes: number, now: number): OutboxRow[] {
    return this.#snapshot(() => this.#outbox.due(limit, maxBytes, now));
  }

  stats(): Omit<StoreStats, "checkpoints" | "busyRetries" | "busyMs"> {
    const [head = {}, ...counts] = this.#database.prepare(COUNTS).all();
    const [items, blocks] = [Number(head["items"]), Number(head["blocks"])];
    const [users, agents] = [Number(head["users"]), Number(head["agents"])];
    const [teams, sessions] = [Number(head["teams"]), Number(head["sessions"])];
    const kinds = { message: items, knowledge: 0, fact: 0, overflow: 0 };
    for (const row of counts) {
      kinds[kindOf(Number(row["kind"]))] = Number(row["items"]);
      kinds.message -= Number(row["items"]);
    }
    return { items, kinds, blocks, users, agents, teams, sessions, bytes: this.#bytes() };
  }

  #bytes(): number {
    if (this.#path === IN_MEMORY)
      return Number(pragma(this.#database, "page_count")) * Number(pragma(this.#database, "page_size"));
    const size = (suffix: string): number => statSync(this.#path + suffix, { throwIfNoEntry: false })?.size ?? 0;
    return size("") + size("-wal");
  }

  /** Copies as much of the log as possible into the file. Runs on the reader so that it does not delay commits. */
  checkpoint(): void {
    this.#database.exec("PRAGMA wal_checkpoint(PASSIVE)");
  }

  /** Whether the file still contains bytes of forgotten data outside its live data. */
  findResidue(descriptor: number, { pieces, tokens }: Traces): boolean {
    const words = new WordReader(this.#database);
    const wanted = new Set(pieces);
    for (const token of tokens) {
      if (words.postings(token) === 0) addWordPieces(token.slice(token.indexOf(":") + 1), wanted);
    }
    return findResidue(descriptor, wanted);
  }

  /** There is nothing to load; the call only ensures that the connection is open. */
  warm(): void {}

  leave(): void {
    this.close();
  }

  blocks(request: BlocksRequest): readonly Block[] {
    return this.#snapshot(() => this.#blocks.blocks(request));
  }

  blockLog(request: BlockLogRequest): readonly BlockEdit[] {
    return this.#snapshot(() => this.#blocks.log(request));
  }

  blockVersions(request: BlockVersionsRequest): Page<BlockVersion> {
    return this.#snapshot(() => this.#blocks.versions(request));
  }

  facts(request: FactsRequest): Page<Fact> {
    return this.#snapshot(() => this.#facts.facts(request));
  }

  extracted(space: SpaceRef, session: string): number {
    return this.#snapshot(() => this.#facts.extracted(space, session));
  }

  points(request: PointsRequest): Page<VectorPoint> {
    return this.#snapshot(() => this.#points.points(request));
  }

  nearest(request: NearestRequest, place: NearestPlace, floor: number): NearestStep {
    return this.#snapshot(() => this.#points.nearest(request, place, floor));
  }

  ledger(space: SpaceRef, session: string): Ledger {
    return this.#snapshot(() => this.#ledgers.ledger(space, session));
  }

  promotions(request: PromotionsRequest): Page<Promotion> {
    return this.#snapshot(() => this.#promotions.promotions(request));
  }

  keys(request: KeysRequest): Page<StoredKey> {
    return this.#snapshot(() => this.#keys.keys(request));
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#database.close();
  }
}

/** The head's counts, then the items of each kind. */
const COUNTS = `SELECT 0 AS kind, items, blocks, users, agents, teams, sessions FROM head
  UNION ALL SELECT kind, items, 0, 0, 0, 0, 0 FROM kind_count`;
