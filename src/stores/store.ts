/**
 * The Store contract: durable storage of items, by space.
 *
 * All methods are asynchronous and take batches. Where a store runs (in a thread, on a server) is up to the
 * implementation. Input is trusted: the service has validated it, assigned ids, made text well-formed and supplied
 * every timestamp.
 *
 * Guarantees of every implementation (checked by the conformance suite in src/testing):
 * - A commit is durable when `commit` resolves, and every later read by any client of the store sees it.
 * - A unit is atomic. A failed unit is rolled back without affecting other units.
 * - Each commit that changes a space gives it a higher version. A reader that has read a version has seen, or sees in
 *   `changes`, the effects of this and all lower versions: versions increase in the order in which commits become
 *   visible. A version counts only the changes of its own space; no number in the contract counts changes across
 *   spaces.
 * - The sequences of a session are 1, 2, 3… in commit order and are never reused, not even after a delete.
 * - No read returns an item outside the given spaces, or an expired one.
 *
 * The other half of the contract, retrieval by meaning (pending items, leases, vectors, outbox), is in indexing.ts.
 * Data that agents edit and carry: blocks.ts, facts.ts, points.ts, ledger.ts, promotions.ts. Access keys: keys.ts. Idempotent
 * units: receipts.ts.
 */
import type { ErrorRecord } from "../errors.js";
import type {
  Added,
  Entry,
  Item,
  Kind,
  Metadata,
  Order,
  Page,
  Part,
  Role,
  Scalar,
  SessionEntry,
  SpaceKind,
  SpaceRef,
  Tier,
} from "../types.js";
import type { BlockReads, PutBlockDone, PutBlockWrite } from "./blocks.js";
import type { FactDone, FactReads, FactWrite } from "./facts.js";
import type { Indexing, IndexingDone, IndexingWrite } from "./indexing.js";
import type { KeyReads, PutKeyDone, PutKeyWrite, RevokeKeyDone, RevokeKeyWrite } from "./keys.js";
import type { LedgerDone, LedgerReads, LedgerWrite } from "./ledger.js";
import type { PointReads, PutPointDone, PutPointWrite } from "./points.js";
import type { PromotionDone, PromotionReads, PromotionWrite } from "./promotions.js";
import type { OnceDone, OnceWrite } from "./receipts.js";
import type { SearchRequest, SearchResult } from "./search.js";

/** An item ready to be stored: validated, with id and times. */
export interface NewRow {
  readonly id: string;
  readonly kind: Kind;
  readonly role?: Role;
  readonly name?: string;
  readonly content: string;
  readonly parts?: readonly Part[];
  readonly metadata: Metadata;
  readonly tier: Tier;
  readonly occurredAt: number;
  readonly expiresAt?: number;
}

/** Adds a round: the items of one call, in order. Registers the space, agent and session it names if they are new. */
export interface AddWrite {
  readonly op: "add";
  readonly space: SpaceRef;
  readonly session?: string;
  readonly agent?: string;
  readonly items: readonly NewRow[];
  /**
   * How to handle an item whose id already exists in the space. `same`: an item with the same payload is not written
   * again; a different payload is a conflict. `replace`: the item becomes the next version of the existing one.
   */
  readonly existing: "same" | "replace";
  /** For a later part of a large add: the id of that add's first item, whose round these items share. */
  readonly continues?: string;
}

/**
 * Edits one item. Fails with `not_found` if it does not exist, or `conflict` (details.version) if its version is not
 * `expectVersion`.
 */
export interface UpdateWrite {
  readonly op: "update";
  readonly space: SpaceRef;
  readonly id: string;
  readonly patch: {
    readonly content?: string;
    /** Given with `content`: the parts that the content came from, or null if it is plain text. */
    readonly parts?: readonly Part[] | null;
    readonly role?: Role;
    readonly name?: string | null;
    readonly metadata?: Metadata;
    readonly tier?: Tier;
    readonly occurredAt?: number;
    readonly expiresAt?: number | null;
  };
  readonly expectVersion?: number;
}

/**
 * Forgets a slice of its target: as much as fits into a few milliseconds. Repeat while `remaining`.
 *
 * - `ids`: these items and facts; missing ones are ignored.
 * - `block`: the block with this id and all its versions.
 * - `points`: these points of a collection; missing ones are ignored.
 * - `session`: its items, points and ledger, then its registry entry.
 * - `space`: its items, facts, points, blocks, promotion log and sessions, then its registry entry.
 * - `expired`: all expired items, facts and points, in any space.
 *
 * With `entry: false` the registry entry stays; for a space, its blocks stay too.
 *
 * Facts whose only source is a forgotten item are removed in the same transaction. When a space's registry entry is
 * removed, the space is also removed from the logs of other spaces (src/actor.ts), its idempotency keys are removed,
 * and access keys that were created for it alone lose their names.
 */
export interface ForgetWrite {
  readonly op: "forget";
  readonly target:
    | { readonly space: SpaceRef; readonly ids: readonly string[] }
    | { readonly space: SpaceRef; readonly block: string }
    | { readonly space: SpaceRef; readonly points: { readonly collection: string; readonly ids: readonly string[] } }
    | { readonly space: SpaceRef; readonly session: string; readonly entry: boolean }
    | { readonly space: SpaceRef; readonly entry: boolean }
    | { readonly expired: true };
}

/** Creates a registry entry. If the name is taken: `conflict` for "new", the existing entry for "ensure". */
export interface RegisterWrite {
  readonly op: "register";
  readonly create: "new" | "ensure";
  readonly entry:
    | { readonly kind: SpaceKind; readonly name: string; readonly description?: string }
    | { readonly kind: "session"; readonly name: string; readonly space: SpaceRef; readonly agent?: string };
}

/** Renames or describes a registry entry. Fails with `not_found`, or with `conflict` if the new name is taken. */
export interface AmendWrite {
  readonly op: "amend";
  readonly entry:
    | { readonly kind: SpaceKind; readonly name: string }
    | { readonly kind: "session"; readonly name: string; readonly space: SpaceRef };
  readonly name?: string;
  readonly description?: string | null;
  /** For spaces: how long items are kept, counted from `recordedAt`. Null keeps them forever. */
  readonly retentionMs?: number | null;
}

export type Write =
  | OnceWrite
  | AddWrite
  | UpdateWrite
  | ForgetWrite
  | RegisterWrite
  | AmendWrite
  | PutBlockWrite
  | PutPointWrite
  | FactWrite
  | LedgerWrite
  | PromotionWrite
  | PutKeyWrite
  | RevokeKeyWrite
  | IndexingWrite;

/** The result of one slice of a forget. */
export interface ForgetDone {
  readonly op: "forget";
  /** Removed items, including the items of facts. */
  readonly items: number;
  readonly sessions: number;
  readonly entries: number;
  /** Blocks, each once whatever its versions. */
  readonly blocks: number;
  /** Removed facts: those requested, and those that had no other source. */
  readonly facts: number;
  readonly points: number;
  /** The ids of facts that lost a source and remain, because they have other sources. */
  readonly factsLeft: readonly string[];
  /** The number of copies of the removed items that were promoted to other spaces and still exist there. */
  readonly copiesLeft: number;
  /** True if an idempotency key that added any of the removed data is kept, so that a retry cannot add it again. */
  readonly keysLeft: boolean;
  readonly remaining: boolean;
}

export const NOTHING_FORGOTTEN: ForgetDone = Object.freeze({
  op: "forget",
  items: 0,
  sessions: 0,
  entries: 0,
  blocks: 0,
  facts: 0,
  points: 0,
  factsLeft: [],
  copiesLeft: 0,
  keysLeft: false,
  remaining: false,
});

/** The result of one write. */
export type Done =
  | OnceDone
  | ({ readonly op: "add" } & Added)
  | { readonly op: "update"; readonly version: number }
  | ForgetDone
  | { readonly op: "register"; readonly entry: Entry | SessionEntry; readonly created: boolean }
  | { readonly op: "amend"; readonly entry: Entry | SessionEntry }
  | PutBlockDone
  | PutPointDone
  | FactDone
  | LedgerDone
  | PromotionDone
  | PutKeyDone
  | RevokeKeyDone
  | IndexingDone;

/** The result of a write of type `W`. */
export type DoneOf<W extends Write> = Extract<Done, { readonly op: W["op"] }>;

/** Writes that are applied atomically. If the first is `once`, the unit is applied once (receipts.ts). */
export type Unit = readonly Write[];

export type Outcome =
  | { readonly ok: true; readonly done: readonly Done[] }
  | { readonly ok: false; readonly error: ErrorRecord };

/**
 * A space at one version. `id` is the id of its registry entry, which renames do not change. A space that takes the
 * name of a forgotten or renamed space is a different space.
 */
export interface SpaceVersion {
  readonly id: string;
  readonly version: number;
}

export interface Committed {
  /** False if every unit failed or changed nothing, so that nothing was committed. */
  readonly changed: boolean;
  /** The spaces that this commit changed but did not remove, each with its new version. */
  readonly versions: readonly SpaceVersion[];
  /** One outcome per unit, in order. */
  readonly outcomes: readonly Outcome[];
  /** Milliseconds of work inside the store. */
  readonly workMs: number;
}

/** A filter in the store's terms: lists only, times as numbers. */
export interface RowFilter {
  readonly sessions?: readonly string[];
  readonly agents?: readonly string[];
  readonly roles?: readonly Role[];
  readonly kinds?: readonly Kind[];
  readonly tiers?: readonly Tier[];
  readonly from?: number;
  readonly to?: number;
  /** True: only items pending embedding, including parked ones. */
  readonly pending?: true;
  readonly metadata?: readonly { readonly path: readonly string[]; readonly anyOf: readonly Scalar[] }[];
}

/**
 * A page of items, ordered by arrival (the order of sequences in a session) or by `occurredAt` with ties by arrival.
 */
export interface ListRequest {
  readonly spaces: readonly SpaceRef[];
  readonly filter: RowFilter;
  readonly sortBy: "arrival" | "timestamp";
  readonly order: Order;
  readonly limit: number;
  readonly cursor?: string;
  /** The id of the item with which the page begins. Fails with `not_found` (details.id) if the list does not have it. */
  readonly start?: string;
  /** True: each item has its `embedding`. */
  readonly embedding?: true;
  readonly now: number;
}

/** The version up to which a reader has seen a space. */
export interface ChangesCursor {
  readonly space: SpaceRef;
  /** If absent, the reader has not seen the space. */
  readonly since?: SpaceVersion | undefined;
}

/** The changes of a space after a version. `spaceVersion` is the version that the change gave the space. */
export interface Changes {
  /** The space's current version, from which the next call continues. Undefined if no space has this name. */
  readonly version: SpaceVersion | undefined;
  /** Added or edited items, each once. */
  readonly changed: readonly { readonly id: string; readonly version: number; readonly spaceVersion: number }[];
  /** The number of removed items, per space version. */
  readonly removed: readonly { readonly items: number; readonly spaceVersion: number }[];
  /**
   * False if there are more changes than this result contains, if the change log no longer reaches back that far, or if
   * the name now belongs to another space or to none. The reader must then start over.
   */
  readonly complete: boolean;
}

export interface RegistryRequest {
  readonly kind: SpaceKind | "session";
  /** Sessions only: those of this space. */
  readonly space?: SpaceRef;
  readonly agent?: string;
  readonly name?: string;
  readonly id?: string;
  /** Sessions only: by creation. Default: asc. */
  readonly order?: Order;
  readonly limit: number;
  readonly cursor?: string;
}

/** Whether the bytes of forgotten data are gone from the medium. */
export interface Purged {
  readonly purged: boolean;
  readonly left: readonly { readonly what: string; readonly why: string }[];
}

export interface StoreStats {
  readonly items: number;
  /** The items of each kind. A fact is an item while it holds. */
  readonly kinds: { readonly [kind in Kind]: number };
  readonly blocks: number;
  /** Users that exist, with or without items. */
  readonly users: number;
  /** Agents that exist, with or without a memory of their own. */
  readonly agents: number;
  /** Teams that exist, with or without items. */
  readonly teams: number;
  /** Sessions of all users, agents and teams. */
  readonly sessions: number;
  /** Bytes on the medium, including the log. */
  readonly bytes: number;
  readonly checkpoints: number;
  /** How often a commit had to wait for another process, and the total wait. */
  readonly busyRetries: number;
  readonly busyMs: number;
}

/** Reads items by key, in no particular order. Skips items that are gone, in other spaces or filtered out. */
export interface ReadRequest {
  readonly spaces: readonly SpaceRef[];
  readonly keys: readonly number[];
  readonly filter: RowFilter;
  readonly now: number;
}

/** An item with its key, the store's number of it. */
export interface KeyedItem extends Item {
  readonly key: number;
  /** When it stops appearing in results: its own expiry or its space's retention, whichever comes first. */
  readonly until?: number;
}

export interface Store extends Indexing, BlockReads, FactReads, PointReads, LedgerReads, PromotionReads, KeyReads {
  /**
   * Commits units in one transaction. `group` names this attempt so that `wasCommitted` can look it up later. An empty
   * name is not recorded; use it for writes that can be repeated. Rejects with `busy` or `store_failed` (nothing was
   * written), or with `outcome_unknown` (reopen, then call `wasCommitted`).
   */
  commit(units: readonly Unit[], now: number, group: string): Promise<Committed>;
  /** Closes what is left of the connection and opens a new one. */
  reopen(): Promise<void>;
  /** Whether the last group that this store tried was committed. Valid only after `reopen`, and only for that group. */
  wasCommitted(group: string): Promise<boolean>;

  /** Items by id, in any order. Missing, expired and forgotten ones are left out. */
  get(spaces: readonly SpaceRef[], ids: readonly string[], now: number): Promise<readonly Item[]>;
  read(request: ReadRequest): Promise<readonly KeyedItem[]>;
  /** A page of items. */
  list(request: ListRequest): Promise<Page<Item>>;
  /** Ranks the items of one snapshot by words, by vectors, or by both. */
  search(request: SearchRequest): Promise<SearchResult>;
  /** The names among these that appear as speakers in the spaces. ASCII letters match case-insensitively. */
  speakers(spaces: readonly SpaceRef[], names: readonly string[]): Promise<readonly string[]>;
  /** One per space, in order; undefined if the space does not exist. */
  versions(spaces: readonly SpaceRef[]): Promise<readonly (SpaceVersion | undefined)[]>;
  /** One per cursor, in order, all from the same snapshot. */
  changes(cursors: readonly ChangesCursor[]): Promise<readonly Changes[]>;

  entries(request: RegistryRequest & { kind: SpaceKind }): Promise<Page<Entry>>;
  sessions(request: RegistryRequest & { kind: "session" }): Promise<Page<SessionEntry>>;

  /** Ensures that the bytes of forgotten data are gone. Waits for readers, at most until the deadline. */
  purge(deadlineMs: number): Promise<Purged>;
  /** Housekeeping: trims old records and indexes, and finishes a purge that another process left undone. */
  maintain(now: number, signal?: AbortSignal): Promise<void>;
  stats(): Promise<StoreStats>;
  /** While the process is short of memory, the store gives up what only saves time; see `SearchResult.vectors`. */
  constrain(isConstrained: boolean): Promise<void>;
  /** Tests whether the store can write, by a durable write that no read returns. Rejects as `commit` does. */
  proveWritable(now: number): Promise<void>;
  /**
   * Closes the store. If `now` is given, first finishes a purge that another process left undone, provided that this
   * takes a few seconds at most.
   */
  close(now?: number): Promise<void>;
}
