/** The data model: spaces, the registry, items, messages, and the results of reads and writes. */

export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };
export type Metadata = { readonly [key: string]: Json };

/** The unit of isolation. An item belongs to exactly one space, and every read names the spaces that it may see. */
export type SpaceRef = { readonly user: string } | { readonly agent: string } | { readonly team: string };
export type SpaceKind = "user" | "agent" | "team";

/**
 * A caller's position. The item space is the user's if there is a user, else the team's, else the agent's, unless
 * `space` names one. Agent and session are attributes of items.
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

/** A point in time: epoch milliseconds, a Date, or an ISO 8601 string. */
export type Instant = number | Date | string;

/**
 * A part of a message's content. Text is searched; any other type is stored unchanged and searched by its description.
 */
export type Part =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: string; readonly description?: string; readonly [key: string]: Json | undefined };

/** A message to add. */
export interface NewMessage {
  /** Your own id, unique in the space. Default: a new UUIDv7. */
  readonly id?: string;
  readonly role: Role;
  /** The speaker, if the role is not enough. */
  readonly name?: string;
  readonly content: string | readonly Part[];
  /** When it was said; the time of the call by default. It does not affect order. */
  readonly occurredAt?: Instant;
  readonly metadata?: Metadata;
  readonly tier?: Tier;
  /** From this moment on the message is in no answer; soon after, its bytes are gone. */
  readonly expiresAt?: Instant;
}

/** An item to add that is not a message. */
export interface NewItem extends Omit<NewMessage, "role"> {
  readonly kind: Exclude<Kind, "message">;
  readonly role?: Role;
}

/** One searchable unit, as stored. Times are epoch milliseconds. */
export interface Item {
  readonly id: string;
  readonly kind: Kind;
  readonly space: SpaceRef;
  /** The session's name and registry id; absent for items outside any session. */
  readonly session?: string;
  readonly sessionId?: string;
  readonly agent?: string;
  /** The position in the session: 1, 2, 3… without collisions, assigned inside the transaction. */
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
  /** 1 when added, incremented by each edit. */
  readonly version: number;
}

/** The editable fields of an item. `null` removes an optional field. */
export interface ItemPatch {
  readonly content?: string | readonly Part[];
  readonly role?: Role;
  readonly name?: string | null;
  readonly metadata?: Metadata;
  readonly tier?: Tier;
  readonly occurredAt?: Instant;
  readonly expiresAt?: Instant | null;
}

/** Narrows a read. All given conditions must hold; a list matches any of its values. */
export interface Filter {
  readonly session?: string | readonly string[];
  readonly agent?: string | readonly string[];
  readonly role?: Role | readonly Role[];
  readonly kind?: Kind | readonly Kind[];
  readonly tier?: Tier | readonly Tier[];
  /** `occurredAt` at or after `from`, and before `to`. */
  readonly from?: Instant;
  readonly to?: Instant;
  /** Exact values by key; a dotted key reaches into objects; a list matches any of its values. */
  readonly metadata?: { readonly [key: string]: Scalar | readonly Scalar[] };
}
export type Scalar = string | number | boolean | null;

export type Order = "asc" | "desc";

/** The answer to an add: what was written, and where. */
export interface Added {
  readonly ids: readonly string[];
  /** Session sequences of the messages, in the order given; empty outside a session. */
  readonly sequences: readonly number[];
  /** True when this is a retry and nothing new was written. */
  readonly repeated: boolean;
}

/**
 * The kind of vectors. Only vectors of one space can be compared; a store refuses vectors of another instead of mixing
 * them.
 */
export interface VectorSpace {
  readonly model: string;
  /** What computed them, if that makes a difference. */
  readonly runtime: string;
  readonly dimensions: number;
}

/**
 * round: embedded for this query, because its batch was not due yet · hybrid: embedded but not yet written (the
 * HybridBuffer's VectorCache) · store: from the store, by words or by meaning.
 */
export type Level = "round" | "hybrid" | "store";

/** An item that was found. */
export interface Hit extends Item {
  readonly score: number;
  /** Which level of the hierarchy answered; the newest, if several did. */
  readonly level: Level;
  /** Whether the item belongs to the caller's session. */
  readonly scope: "in_session" | "cross_session";
  /** The components of the score; with `explain`. */
  readonly why?: Why;
}

/** The components of a score: each arm's own score, and its share of the total after scaling over all candidates. */
export interface Why {
  /** BM25 over the item's words and, with less weight, those of the messages around it. */
  readonly words?: { readonly score: number; readonly share: number };
  /** The cosine of its best chunk. */
  readonly meaning?: { readonly score: number; readonly share: number };
  /** The bonus for containing identifiers of the question; larger than all others together. */
  readonly exact: number;
  /** The bonuses for role, date, session and recency. */
  readonly role: number;
  readonly date: number;
  readonly session: number;
  readonly recency: number;
}

/** query: cached answers · round, hybrid: RAM · words, meaning: the store · index: an external vector index. */
export type Source = "query" | "round" | "hybrid" | "words" | "meaning" | "index";

/** What one source was asked and returned. A source that could add nothing is not asked, and `why` says so. */
export interface SourceReport {
  readonly source: Source;
  readonly asked: boolean;
  readonly why?: string;
  readonly found: number;
  readonly ms: number;
}

/** How an answer was found. */
export interface Explanation {
  /** How the question was interpreted. */
  readonly question: {
    readonly text: string;
    /** The words that were searched. */
    readonly terms: readonly string[];
    /** The text that was embedded. A question about one speaker is rephrased in that speaker's voice. */
    readonly embedded?: string;
    /** The times that the question names. */
    readonly dates?: readonly { readonly from: number; readonly to: number }[];
    /** Whether it asks for what the assistant said. */
    readonly refersBack: boolean;
  };
  readonly sources: readonly SourceReport[];
  /** The number of items that were ranked. */
  readonly candidates: number;
  /** Requested items that are not among the hits, each with the reason. */
  readonly missing: readonly { readonly id: string; readonly why: string }[];
}

/** The hits of a query, best first, and the quality of the answer. */
export interface Hits extends ReadonlyArray<Hit> {
  /** True if something was left out to keep a deadline: some items were searched by words only. */
  readonly partial: boolean;
  /** Why the question was answered by words alone, if it was. */
  readonly degraded?: string;
  /** With `explain`. */
  readonly explanation?: Explanation;
}

export interface Page<T> {
  readonly items: readonly T[];
  /** Pass it as `cursor` to get the next page; absent on the last one. */
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
  /** How long items of this space are kept, counted from `recordedAt`; absent if for ever. */
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

/** What a forget removed, and what it left. */
export interface ForgetReceipt {
  /** Items removed, with their words. */
  readonly items: number;
  readonly sessions: number;
  readonly entries: number;
  readonly blocks: number;
  /** Facts removed: those requested, and those without any other source. */
  readonly facts: number;
  /** Points removed: vectors of callers' own. */
  readonly points: number;
  /** Requested ids that do not exist (any more). */
  readonly missing: readonly string[];
  /** True if the bytes were verified to be gone from the file and its log. */
  readonly purged: boolean;
  /** What remains on purpose or for now, each with its reason. */
  readonly left: readonly { readonly what: string; readonly why: string }[];
}
