/**
 * The Store contract: where items live, durably, by space.
 *
 * Everything is asynchronous and comes in batches; where a store runs (a thread, a server) is its own affair.
 * Input is trusted: the service has validated it, assigned ids, made text well-formed and given every time.
 *
 * Guarantees of every implementation (the conformance suite in src/testing holds them to it):
 * - `commit` is durable when it resolves, and its writes are visible to every later read by anyone on the store.
 * - A unit is all or nothing; a unit that fails undoes itself and nobody else.
 * - Each commit has the next global commit number; a space's version is the number of the last commit that changed it.
 * - Sequences of a session count 1, 2, 3… in commit order, and are never given twice, also after a delete.
 * - No read returns an item of a space it was not given, or one that has expired.
 *
 * Retrieval by meaning (pending items, leases, vectors, outbox) is the other half of the contract: indexing.ts. What agents
 * edit and carry has chapters of its own: blocks.ts, facts.ts, ledger.ts, promotions.ts; who may come in: keys.ts.
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
import type { FoundItems } from "./estimates.js";
import type { FactDone, FactReads, FactWrite } from "./facts.js";
import type { Indexing, IndexingDone, IndexingWrite } from "./indexing.js";
import type { KeyReads, PutKeyDone, PutKeyWrite, RevokeKeyDone, RevokeKeyWrite } from "./keys.js";
import type { LedgerDone, LedgerReads, LedgerWrite } from "./ledger.js";
import type { PromotionDone, PromotionReads, PromotionWrite } from "./promotions.js";

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

/** Adds a round: items of one call, in order. Registers the space, agent and session it names if they are new. */
export interface AddWrite {
  readonly op: "add";
  readonly space: SpaceRef;
  readonly session?: string;
  readonly agent?: string;
  readonly items: readonly NewRow[];
  /**
   * What an item does whose id is taken in the space. `same`: an item of the same payload is the same item and is not
   * written again, any other payload is a conflict. `replace`: it becomes the next version of that item.
   */
  readonly existing: "same" | "replace";
  /** A later part of a large add: the id of that add's first item, whose round these items share. */
  readonly continues?: string;
  /** Unique per space and session for 7 days: the same key and hash give the first answer, another hash a conflict. */
  readonly idempotency?: { readonly key: string; readonly hash: string };
}

/** Edits one item; `not_found` if it is not there, `conflict` (details.version) if `expectVersion` does not hold. */
export interface UpdateWrite {
  readonly op: "update";
  readonly space: SpaceRef;
  readonly id: string;
  readonly patch: {
    readonly content?: string;
    /** Given with `content`: the parts it came from, or null if it is plain text. */
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
 * `ids`: these items and facts, missing ones ignored. `block`: the block of this id with all its versions. `session`: its
 * items and its ledger, then its registry entry. `space`: its items, facts, blocks, log of promotions, sessions, then its
 * registry entry. `expired`: whatever has expired, in any space. With `entry: false` the registry entry stays, and of a
 * space its blocks do.
 * Facts that rest on a forgotten item alone go with it, in the same transaction.
 */
export interface ForgetWrite {
  readonly op: "forget";
  readonly target:
    | { readonly space: SpaceRef; readonly ids: readonly string[] }
    | { readonly space: SpaceRef; readonly block: string }
    | { readonly space: SpaceRef; readonly session: string; readonly entry: boolean }
    | { readonly space: SpaceRef; readonly entry: boolean }
    | { readonly expired: true };
}

/** Creates a registry entry; `conflict` if the name is taken and `create` is "new", the existing one if "ensure". */
export interface RegisterWrite {
  readonly op: "register";
  readonly create: "new" | "ensure";
  readonly entry:
    | { readonly kind: SpaceKind; readonly name: string; readonly description?: string }
    | { readonly kind: "session"; readonly name: string; readonly space: SpaceRef; readonly agent?: string };
}

/** Renames or describes a registry entry; `not_found`, or `conflict` if the new name is taken. */
export interface AmendWrite {
  readonly op: "amend";
  readonly entry:
    | { readonly kind: SpaceKind; readonly name: string }
    | { readonly kind: "session"; readonly name: string; readonly space: SpaceRef };
  readonly name?: string;
  readonly description?: string | null;
  /** For spaces: how long items are kept, counted from `recordedAt`; null: for ever. */
  readonly retentionMs?: number | null;
}

export type Write =
  | AddWrite
  | UpdateWrite
  | ForgetWrite
  | RegisterWrite
  | AmendWrite
  | PutBlockWrite
  | FactWrite
  | LedgerWrite
  | PromotionWrite
  | PutKeyWrite
  | RevokeKeyWrite
  | IndexingWrite;

/** What a slice of a forget has removed, and what it left. */
export interface ForgetDone {
  readonly op: "forget";
  /** Items removed, those of facts included. */
  readonly items: number;
  readonly sessions: number;
  readonly entries: number;
  readonly blocks: number;
  /** Facts that were removed: those asked for, and those that rested on nothing else. */
  readonly facts: number;
  /** The ids of facts that lost a source and stay, because they rest on others too. */
  readonly factsLeft: readonly string[];
  /** How many copies of the removed items were promoted to other spaces and are still there. */
  readonly copiesLeft: number;
  readonly remaining: boolean;
}

export const NOTHING_FORGOTTEN: ForgetDone = Object.freeze({
  op: "forget",
  items: 0,
  sessions: 0,
  entries: 0,
  blocks: 0,
  facts: 0,
  factsLeft: [],
  copiesLeft: 0,
  remaining: false,
});

/** What one write did. */
export type Done =
  | ({ readonly op: "add" } & Omit<Added, "commit">)
  | { readonly op: "update"; readonly version: number }
  | ForgetDone
  | { readonly op: "register"; readonly entry: Entry | SessionEntry; readonly created: boolean }
  | { readonly op: "amend"; readonly entry: Entry | SessionEntry }
  | PutBlockDone
  | FactDone
  | LedgerDone
  | PromotionDone
  | PutKeyDone
  | RevokeKeyDone
  | IndexingDone;

/** Writes that stand or fall together. */
export type Unit = readonly Write[];

export type Outcome =
  | { readonly ok: true; readonly done: readonly Done[] }
  | { readonly ok: false; readonly error: ErrorRecord };

export interface Committed {
  /** The number of this commit; the last one before it if every unit failed or changed nothing. */
  readonly commit: number;
  /** False: every unit failed or changed nothing, so that there was no commit. */
  readonly changed: boolean;
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
  /** True: only items that wait to be embedded, parked ones included. */
  readonly pending?: true;
  readonly metadata?: readonly { readonly path: readonly string[]; readonly anyOf: readonly Scalar[] }[];
}

/** A page of items: by arrival (the order of sequences in a session), or by `occurredAt`, ties by arrival. */
export interface ListRequest {
  readonly spaces: readonly SpaceRef[];
  readonly filter: RowFilter;
  readonly sortBy: "arrival" | "timestamp";
  readonly order: Order;
  readonly limit: number;
  readonly cursor?: string;
  readonly now: number;
}

/**
 * Items that contain any of the terms, or stand near one that does in its session, scored by BM25 with the words of their
 * neighbours (retrieval/words/neighbours.ts) from their own space's statistics, best first, ties newest first. The filter
 * says what may be found, not what may lend its words.
 */
export interface WordsRequest {
  readonly spaces: readonly SpaceRef[];
  /** Distinct analysed terms (retrieval/words). */
  readonly terms: readonly string[];
  readonly filter: RowFilter;
  readonly limit: number;
  readonly now: number;
  /** Score exactly these items instead of searching; also those that contain none of the terms, with 0. */
  readonly keys?: readonly number[];
  /** Tell also what is known by the way of items that are not among the best. */
  readonly estimates?: boolean;
}

/** A found item by reference, with what ranking needs to know of it; content is read at the end, with `read`. */
export interface Scored {
  readonly space: SpaceRef;
  /** The store's number of the item, which is never given twice. */
  readonly key: number;
  readonly id: string;
  readonly version: number;
  readonly score: number;
  readonly role?: Role;
  readonly occurredAt: number;
  /** The registry id of its session. */
  readonly sessionId?: string;
  /**
   * From when on it is found otherwise though nothing is written: when it leaves all answers (its own expiry or its
   * space's retention, whichever comes first), or a message that lends it words does.
   */
  readonly until?: number;
}

/** The same, but no longer than until then. */
export const endingBy = (found: Scored, until: number): Scored =>
  until < (found.until ?? Infinity) ? { ...found, until } : found;

/** An item that was read, as if a search had found it. */
export function scoredOf(item: KeyedItem, score: number): Scored {
  const { space, key, id, version, role, occurredAt, sessionId, until } = item;
  return {
    space,
    key,
    id,
    version,
    score,
    ...(role !== undefined && { role }),
    occurredAt,
    ...(sessionId !== undefined && { sessionId }),
    ...(until !== undefined && { until }),
  };
}

/** What changed in the given spaces after a commit number. */
export interface Changes {
  /** The newest commit number of the store. */
  readonly commit: number;
  /** Items added or edited, by reference. */
  readonly changed: readonly { readonly space: SpaceRef; readonly id: string; readonly version: number }[];
  /** How many items were removed from these spaces. */
  readonly removed: number;
  /** False when more has changed than is told here, or the record no longer reaches back that far: start over. */
  readonly complete: boolean;
}

/** Of which commits `changes` tells. */
export interface ChangesBounds {
  /** Nothing of later ones. An item that a later one has changed again is left out. */
  readonly upTo: number;
  /** Nothing of these. */
  readonly without: readonly number[];
}

export interface RegistryRequest {
  readonly kind: SpaceKind | "session";
  /** Sessions only: those of this space. */
  readonly space?: SpaceRef;
  readonly agent?: string;
  readonly name?: string;
  readonly id?: string;
  readonly limit: number;
  readonly cursor?: string;
}

/** Whether what was forgotten has left the medium for good. */
export interface Purged {
  readonly purged: boolean;
  readonly left: readonly { readonly what: string; readonly why: string }[];
}

export interface StoreStats {
  readonly commit: number;
  readonly items: number;
  /** Bytes on the medium, log included. */
  readonly bytes: number;
  readonly checkpoints: number;
  /** How often a commit had to wait for another process, and for how long in all. */
  readonly busyRetries: number;
  readonly busyMs: number;
}

/** Items by the store's numbers, in no order; those that are gone, elsewhere or filtered out are left out. */
export interface ReadRequest {
  readonly spaces: readonly SpaceRef[];
  readonly keys: readonly number[];
  readonly filter: RowFilter;
  readonly now: number;
}

/** An item with the store's number of it. */
export interface KeyedItem extends Item {
  readonly key: number;
  /** From when on it is in no answer: its own expiry or its space's retention, whichever comes first. */
  readonly until?: number;
}

export interface Store extends Indexing, BlockReads, FactReads, LedgerReads, PromotionReads, KeyReads {
  /**
   * Commits units in one transaction. `group` names this attempt, so that `wasCommitted` can tell afterwards; with an
   * empty name nothing is remembered of it, which is for writes that can be repeated.
   * Rejects with `busy` or `store_failed` (nothing written) or `outcome_unknown` (reopen, then ask `wasCommitted`).
   */
  commit(units: readonly Unit[], now: number, group: string): Promise<Committed>;
  /** Closes what is left of the connection and opens anew. */
  reopen(): Promise<void>;
  /** Whether the last group this store tried was committed. Only after `reopen`, and only for that group. */
  wasCommitted(group: string): Promise<boolean>;

  get(spaces: readonly SpaceRef[], ids: readonly string[], now: number): Promise<readonly Item[]>;
  read(request: ReadRequest): Promise<readonly KeyedItem[]>;
  list(request: ListRequest): Promise<Page<Item>>;
  searchWords(request: WordsRequest): Promise<FoundItems<Scored>>;
  /** Which of these names someone in these spaces has spoken under, whatever the case of A to Z. */
  speakers(spaces: readonly SpaceRef[], names: readonly string[]): Promise<readonly string[]>;
  /** The space's version: the last commit that changed it; 0 if it does not exist. */
  versions(spaces: readonly SpaceRef[]): Promise<readonly number[]>;
  changes(spaces: readonly SpaceRef[], since: number, bounds?: ChangesBounds): Promise<Changes>;

  entries(request: RegistryRequest & { kind: SpaceKind }): Promise<Page<Entry>>;
  sessions(request: RegistryRequest & { kind: "session" }): Promise<Page<SessionEntry>>;

  /** Makes sure that the bytes of what was forgotten are gone. Waits for readers, at most until the deadline. */
  purge(deadlineMs: number): Promise<Purged>;
  /**
   * Housekeeping, once in a while: trims old records, puts indexes in order, removes vectors that are no longer in use,
   * finishes a purge that another process has left undone. What is not done when the signal is aborted is done by whoever comes next.
   */
  maintain(now: number, signal?: AbortSignal): Promise<void>;
  stats(): Promise<StoreStats>;
  /** Writes something durably that no read shows, to see whether that can be done; rejects as `commit` does. */
  proveWritable(now: number): Promise<void>;
  close(): Promise<void>;
}
