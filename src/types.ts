/** The model: spaces, the registry, items, messages, and what reads and writes say about them. */

export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };
export type Metadata = { readonly [key: string]: Json };

/** What isolates. An item belongs to exactly one space; every read names the spaces it may see. */
export type SpaceRef = { readonly user: string } | { readonly agent: string } | { readonly team: string };
export type SpaceKind = "user" | "agent" | "team";

/**
 * Where a caller stands. The item space is the user's if there is a user, else the team's, else the agent's, unless
 * `space` says which. Agent and session are attributes that items carry.
 */
export interface Scope {
  readonly user?: string;
  readonly agent?: string;
  readonly team?: string;
  readonly session?: string;
  readonly space?: SpaceKind;
}

export const ROLES = ["user", "assistant", "system", "tool"] as const;
export type Role = (typeof ROLES)[number];

/** working: the task at hand · episodic: what happened (the default) · semantic: what is known. */
export const TIERS = ["working", "episodic", "semantic"] as const;
export type Tier = (typeof TIERS)[number];

/** message: said in a session · knowledge: given by the host · fact: derived · overflow: cut from a block. */
export const KINDS = ["message", "knowledge", "fact", "overflow"] as const;
export type Kind = (typeof KINDS)[number];

/** A point in time as callers may give it: epoch milliseconds, a Date, or an ISO 8601 string. */
export type Instant = number | Date | string;

/** A piece of a message's content. Text is searched; any other type is kept as it is and searched by its description. */
export type Part =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: string; readonly description?: string; readonly [key: string]: Json | undefined };

/** A message as a caller gives it. */
export interface NewMessage {
  /** The caller's own id, unique in the space. Left out, a UUIDv7 is made. */
  readonly id?: string;
  readonly role: Role;
  /** Who speaks, where the role is not enough. */
  readonly name?: string;
  readonly content: string | readonly Part[];
  /** When it was said; the time of the call if left out. Orders nothing. */
  readonly occurredAt?: Instant;
  readonly metadata?: Metadata;
  readonly tier?: Tier;
  /** From this moment on the message is in no answer; soon after, its bytes are gone. */
  readonly expiresAt?: Instant;
}

/** An item of another kind than message as a caller gives it. */
export interface NewItem extends Omit<NewMessage, "role"> {
  readonly kind: Exclude<Kind, "message">;
  readonly role?: Role;
}

/** One searchable unit, as it is stored. Times are epoch milliseconds. */
export interface Item {
  readonly id: string;
  readonly kind: Kind;
  readonly space: SpaceRef;
  /** The session's name and registry id; absent for items outside any session. */
  readonly session?: string;
  readonly sessionId?: string;
  readonly agent?: string;
  /** Place in the session: 1, 2, 3… without collisions, assigned inside the transaction. */
  readonly sequence?: number;
  /** The sequence of the first message of the same add call. */
  readonly round?: number;
  readonly role?: Role;
  readonly name?: string;
  readonly content: string;
  readonly parts?: readonly Part[];
  readonly metadata: Metadata;
  readonly tier: Tier;
  readonly occurredAt: number;
  readonly recordedAt: number;
  readonly updatedAt: number;
  readonly expiresAt?: number;
  /** 1 when added, one more with each edit. */
  readonly version: number;
}

/** What of an item can be edited. `null` takes an optional field away. */
export interface ItemPatch {
  readonly content?: string | readonly Part[];
  readonly role?: Role;
  readonly name?: string | null;
  readonly metadata?: Metadata;
  readonly tier?: Tier;
  readonly occurredAt?: Instant;
  readonly expiresAt?: Instant | null;
}

/** Narrows a read. All that is given must hold; a list means any of its values. */
export interface Filter {
  readonly session?: string | readonly string[];
  readonly agent?: string | readonly string[];
  readonly role?: Role | readonly Role[];
  readonly kind?: Kind | readonly Kind[];
  readonly tier?: Tier | readonly Tier[];
  /** `occurredAt` at or after / before. */
  readonly from?: Instant;
  readonly to?: Instant;
  /** Exact values by key; a dotted key reaches into objects; a list means any of its values. */
  readonly metadata?: { readonly [key: string]: Scalar | readonly Scalar[] };
}
export type Scalar = string | number | boolean | null;

export type Order = "asc" | "desc";

/** The answer to an add: what was written, where, and in which commit. */
export interface Added {
  readonly ids: readonly string[];
  /** Session sequences of the messages, in the order given; empty outside a session. */
  readonly sequences: readonly number[];
  /** The global commit number; any process that has read this commit sees these messages. */
  readonly commit: number;
  /** True when this is a retry and nothing new was written. */
  readonly repeated: boolean;
}

/**
 * What kind of vectors these are. Only vectors of one space can be compared; a store refuses those of another one
 * instead of mixing them.
 */
export interface VectorSpace {
  readonly model: string;
  /** What computed them, where that makes a difference. */
  readonly runtime: string;
  readonly dimensions: number;
}

/**
 * round: embedded for this question, because its batch was not due yet · hybrid: embedded, not yet written (the
 * HybridBuffer's VectorCache) · store: from the store, by words or by meaning.
 */
export type Level = "round" | "hybrid" | "store";

/** One found item. */
export interface Hit extends Item {
  readonly score: number;
  /** Which level of the hierarchy answered; the youngest one, if several did. */
  readonly level: Level;
  /** Whether the item belongs to the session that asks. */
  readonly scope: "in_session" | "cross_session";
  /** What the score is made of; with `explain`. */
  readonly why?: Why;
}

/** What a score is made of. Each arm's own score, and its share of the whole after scaling over all candidates. */
export interface Why {
  /** BM25 over the item's words and, with less weight, those of the messages around it. */
  readonly words?: { readonly score: number; readonly share: number };
  /** The cosine of its best piece. */
  readonly meaning?: { readonly score: number; readonly share: number };
  /** Shares that were added because of who said it, when, in which conversation, and how new it is. */
  readonly role: number;
  readonly date: number;
  readonly session: number;
  readonly recency: number;
}

/** query: finished answers · round, hybrid: RAM · words, meaning: the store · index: an external vector index. */
export type Source = "query" | "round" | "hybrid" | "words" | "meaning" | "index";

/** What one source was asked and gave. A source that could add nothing is not asked, and `why` says so. */
export interface SourceReport {
  readonly source: Source;
  readonly asked: boolean;
  readonly why?: string;
  readonly found: number;
  readonly ms: number;
}

/** How an answer came about. */
export interface Explanation {
  /** How the question was read. */
  readonly question: {
    readonly text: string;
    /** The words that were searched for. */
    readonly terms: readonly string[];
    /** What was embedded; a question about one speaker is put into that speaker's mouth. */
    readonly embedded?: string;
    /** The time that the question names. */
    readonly dates?: readonly { readonly from: number; readonly to: number }[];
    /** Whether it asks for what the assistant said. */
    readonly refersBack: boolean;
  };
  readonly sources: readonly SourceReport[];
  /** How many items were ranked. */
  readonly candidates: number;
  /** Items that were asked about and are not among the hits, each with the reason. */
  readonly missing: readonly { readonly id: string; readonly why: string }[];
}

/** The hits of a query, best first, with what the caller should know about them. */
export interface Hits extends ReadonlyArray<Hit> {
  /** True when something was left out to keep a deadline: some items were searched by words only. */
  readonly partial: boolean;
  /** Why the question was answered by words alone, if it was. */
  readonly degraded?: string;
  /** With `explain`. */
  readonly explanation?: Explanation;
}

export interface Page<T> {
  readonly items: readonly T[];
  /** Give it back as `cursor` for the next page; absent on the last one. */
  readonly next?: string;
}

/** A registered user, agent or team. */
export interface Entry {
  readonly id: string;
  readonly kind: SpaceKind;
  readonly name: string;
  readonly description?: string;
  readonly createdAt: number;
  readonly updatedAt: number;
  /** How long items of this space are kept, counted from `recordedAt`; absent: for ever. */
  readonly retentionMs?: number;
}

/** A registered session; its name is unique in its space. */
export interface SessionEntry {
  readonly id: string;
  readonly name: string;
  readonly space: SpaceRef;
  readonly agent?: string;
  readonly createdAt: number;
  readonly updatedAt: number;
}

/** What a forget has touched, and what it left. */
export interface ForgetReceipt {
  /** Items removed, with their words. */
  readonly items: number;
  readonly sessions: number;
  readonly entries: number;
  readonly blocks: number;
  /** Facts removed: those asked for, and those that rested on nothing else. */
  readonly facts: number;
  /** Ids that were asked for and do not exist (any more). */
  readonly missing: readonly string[];
  /** True when the bytes were checked to be gone from the file and its log. */
  readonly purged: boolean;
  /** What remains on purpose or for now, each with its reason. */
  readonly left: readonly { readonly what: string; readonly why: string }[];
  readonly commit: number;
}
