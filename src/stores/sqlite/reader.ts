/** The reading side of the file: lists, searches and the registry, on one connection. */
import { statSync } from "node:fs";
import { PLAIN } from "../../retrieval/vectors/cosines.js";
import type { Entry, Item, Page, SessionEntry, SpaceRef, VectorSpace } from "../../types.js";
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
  KeyedItem,
  ListRequest,
  ReadRequest,
  RegistryRequest,
  Scored,
  WordsRequest,
} from "../store.js";
import { Backlog } from "./backlog.js";
import { BlockReader } from "./block-reader.js";
import { ChangeReader } from "./change-reader.js";
import { ChunkReader } from "./chunk-reader.js";
import { spaceCode } from "./codec.js";
import { type ConnectionRole, connect } from "./connection.js";
import type { Database, Row } from "./driver.js";
import { FactReader } from "./fact-reader.js";
import { ItemReader } from "./item-reader.js";
import { KeyReader } from "./key-reader.js";
import { LedgerReader } from "./ledger-reader.js";
import type { NearestItems } from "./nearest-items.js";
import { OutboxReader } from "./outbox-reader.js";
import { PromotionReader } from "./promotion-reader.js";
import { Registry } from "./registry.js";
import { ReindexReader } from "./reindex-reader.js";
import { addWordPieces, findResidue, type Traces } from "./residue.js";
import { type RosterLimits, Rosters } from "./rosters.js";
import { Statements } from "./statements.js";
import { VectorFile } from "./vector-file.js";
import { VectorScores } from "./vector-scores.js";
import { VectorTables } from "./vector-table.js";
import { WordSearch } from "./word-search.js";

/** How long the first question goes before rosters. */
const FIRST_ROSTER_MS = 100;

/** Whether someone of this name has spoken in one of the spaces. */
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
  readonly #scores: VectorScores;
  readonly #changes: ChangeReader;
  readonly #chunks: ChunkReader;
  readonly #outbox: OutboxReader;
  readonly #blocks: BlockReader;
  readonly #facts: FactReader;
  readonly #ledgers: LedgerReader;
  readonly #promotions: PromotionReader;
  readonly #keys: KeyReader;
  readonly #rosterLimits: RosterLimits;
  #rosters: Rosters | undefined;
  #search: WordSearch | undefined;
  #isLoading = false;
  #isClosed = false;

  /** `rosters`: of which spaces the items are kept in memory while they are searched. */
  constructor(path: string, role: ConnectionRole, rosters: RosterLimits) {
    this.#path = path;
    this.#rosterLimits = rosters;
    this.#database = connect(path, role);
    try {
      this.#statements = new Statements(this.#database);
      this.#registry = new Registry(this.#database);
      this.#items = new ItemReader(this.#statements, this.#registry);
      const tables = new VectorTables(this.#database);
      this.#tables = tables;
      this.#backlog = new Backlog(this.#database, this.#registry, tables);
      this.#scores = new VectorScores(this.#registry, tables, new VectorFile(this.#database, PLAIN));
      this.#changes = new ChangeReader(this.#statements, this.#registry);
      this.#chunks = new ChunkReader(this.#database, this.#registry, tables);
      this.#outbox = new OutboxReader(this.#database, tables);
      this.#blocks = new BlockReader(this.#statements, this.#registry);
      this.#facts = new FactReader(this.#statements, this.#registry);
      this.#ledgers = new LedgerReader(this.#statements, this.#registry);
      this.#promotions = new PromotionReader(this.#statements, this.#registry);
      this.#keys = new KeyReader(this.#statements, this.#registry);
    } catch (error) {
      this.#database.close(); // of another version, perhaps, or another program's
      throw error;
    }
  }

  /** Runs `work` on one snapshot of the file. Everything in it is synchronous, so the snapshot is short-lived. */
  #snapshot<T>(work: () => T): T {
    this.#database.exec("BEGIN");
    try {
      return work();
    } finally {
      this.#database.exec("COMMIT");
    }
  }

  get(spaces: readonly SpaceRef[], ids: readonly string[], now: number): Item[] {
    return this.#snapshot(() => this.#items.get(spaces, ids, now));
  }

  list(request: ListRequest): Page<Item> {
    return this.#snapshot(() => this.#items.list(request));
  }

  /** What is read by one statement is read on one snapshot. */
  read(request: ReadRequest): KeyedItem[] {
    const { spaces, keys, filter, now } = request;
    const [space] = spaces;
    if (space && spaces.length === 1 && Object.keys(filter).length === 0) return this.#items.readIn(space, keys, now);
    return this.#snapshot(() => this.#items.read(request));
  }

  searchWords(request: WordsRequest): FoundItems<Scored> {
    const found = this.#snapshot(() => this.#searching().search(request));
    this.#loadRosters();
    return found;
  }

  /** The same, if that is quick and the items are at hand, or it is the first search; else undefined, and they will be soon. */
  searchAtHand(request: WordsRequest, isFirst: boolean): FoundItems<Scored> | undefined {
    const found = this.#snapshot(() => this.#searching().searchAtHand(request, isFirst));
    this.#loadRosters();
    return found;
  }

  /** Items that vectors have found, by reference; undefined if their spaces have changed since, or are not at hand. */
  refer({ spaces, now }: VectorsRequest, nearest: NearestItems): FoundItems<VectorScored> | undefined {
    return this.#snapshot(() => this.#searching().refer(spaces, now, nearest));
  }

  speakers(spaces: readonly SpaceRef[], names: readonly string[]): string[] {
    return this.#snapshot(() => {
      const keys = JSON.stringify(this.#registry.findSpaces(spaces).map(({ key }) => key));
      const speaks = this.#statements.get(SPEAKS);
      return names.filter((name) => speaks.get(name, keys));
    });
  }

  /** A single one is a snapshot by itself; every question asks for it, and to begin and end one takes twice as long. */
  versions(spaces: readonly SpaceRef[]): number[] {
    const read = () => spaces.map((space) => this.#registry.versionOf(space));
    return spaces.length === 1 ? read() : this.#snapshot(read);
  }

  changes(spaces: readonly SpaceRef[], since: number, bounds?: ChangesBounds): Changes {
    return this.#snapshot(() => this.#changes.changes(spaces, since, bounds));
  }

  entries({ kind, name, id, limit, cursor }: RegistryRequest): Page<Entry> {
    const conditions: { sql: string; value: string | number }[] = [
      { sql: "kind = ?", value: spaceCode(kind as Entry["kind"]) },
    ];
    if (name !== undefined) conditions.push({ sql: "name = ?", value: name });
    if (id !== undefined) conditions.push({ sql: "id = ?", value: id });
    return this.#snapshot(() => this.#registry.page<Entry>("space", conditions, limit, cursor));
  }

  sessions({ space, agent, name, id, limit, cursor }: RegistryRequest): Page<SessionEntry> {
    return this.#snapshot(() => {
      const conditions: { sql: string; value: string | number }[] = [];
      if (space) conditions.push({ sql: "space = ?", value: this.#registry.findSpace(space)?.key ?? -1 });
      if (agent !== undefined) conditions.push({ sql: "agent = ?", value: this.#registry.agentKeys([agent])[0] ?? -1 });
      if (name !== undefined) conditions.push({ sql: "name = ?", value: name });
      if (id !== undefined) conditions.push({ sql: "id = ?", value: id });
      return this.#registry.page<SessionEntry>("session", conditions, limit, cursor);
    });
  }

  waiting(owner: string, limit: number, now: number): WaitingLane[] {
    return this.#snapshot(() => this.#backlog.waiting(owner, limit, now));
  }

  pending(request: PendingRequest): PendingItem[] {
    return this.#snapshot(() => this.#backlog.pending(request));
  }

  /** What comes to wait meanwhile was not there when it was asked for, so that a look at each space suffices. */
  tail(request: TailRequest): Tail {
    if (!request.spaces.some((space) => this.#backlog.waitsIn(space))) return { items: [], more: false };
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

  /** For a few items; those with many vectors are left out. */
  scoreVectors(request: ScoresRequest): Scores {
    return this.#snapshot(() => this.#scores.of(request));
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

  stats(): { commit: number; items: number; bytes: number } {
    const head = this.#database.prepare("SELECT commit_no, items FROM head").get() as Row;
    const size = (suffix: string): number => statSync(this.#path + suffix, { throwIfNoEntry: false })?.size ?? 0;
    return { commit: Number(head["commit_no"]), items: Number(head["items"]), bytes: size("") + size("-wal") };
  }

  /** Copies what it can of the log into the file; here, because here it delays no commit. */
  checkpoint(): void {
    this.#database.exec("PRAGMA wal_checkpoint(PASSIVE)");
  }

  /** Whether the file still has bytes of what was forgotten, beside its live data. */
  findResidue(descriptor: number, { pieces, tokens }: Traces): boolean {
    const search = this.#searching();
    const wanted = new Set(pieces);
    for (const token of tokens) {
      if (search.postings(token) === 0) addWordPieces(token.slice(token.indexOf(":") + 1), wanted);
    }
    return findResidue(descriptor, wanted);
  }

  /** What the rosters take; undefined while one is being loaded. */
  rosterBytes(): number | undefined {
    return this.#rosters?.isLoading ? undefined : (this.#rosters?.bytes ?? 0);
  }

  /** Lets go of what was forgotten. */
  sweep(): void {
    this.#snapshot(() => this.#rosters?.catchUp());
  }

  /** Makes ready for the first search. */
  warm(): void {
    this.#searching();
  }

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
    this.#isClosed = true;
    this.#database.close();
  }

  /** Made when it is first needed: a connection that only reads rows has no table for it. */
  #searching(): WordSearch {
    this.#rosters ??= new Rosters(this.#database, this.#rosterLimits);
    this.#search ??= new WordSearch(this.#database, this.#registry, this.#rosters);
    return this.#search;
  }

  /**
   * A page at a time, between other calls; if there is none yet a moment later, because the question that asked for it may
   * still wait for its vectors, which need the processor. If one cannot be read, the next search tries again.
   */
  #loadRosters(): void {
    if (this.#isLoading || !this.#rosters?.isLoading) return;
    this.#isLoading = true;
    const isFirst = this.#rosters.bytes === 0;
    const later = isFirst ? (load: () => void) => setTimeout(load, FIRST_ROSTER_MS).unref() : setImmediate;
    later(() => {
      this.#isLoading = false;
      if (this.#isClosed) return;
      try {
        this.#snapshot(() => {
          this.#rosters?.catchUp();
          this.#rosters?.loadPage();
        });
      } catch {
        return; // whatever it is, a search meets it too, and tells
      }
      this.#loadRosters();
    });
  }
}
