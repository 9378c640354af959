/** The data model: spaces, the registry, items, messages, and the results of reads and writes. */

export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };
/** A JSON object to store with an item; queries can filter by it. */
export type Metadata = { readonly [key: string]: Json };

/** The unit of isolation. An item belongs to exactly one space, and every read names the spaces that it may see. */
export type SpaceRef = { readonly user: string } | { readonly agent: string } | { readonly team: string };
/** What a space belongs to. */
export type SpaceKind = "user" | "agent" | "team";

/**
 * A caller's position. The item space is the user's if there is a user, else the team's, else the agent's, unless
 * `space` names one. Agent and session are attributes of items.
 */
export interface Scope {
  /** The user whose memory it is. */
  readonly user?: string;
  /** The agent that acts; without user and team, it owns the memory. */
  readonly agent?: string;
  /** The team; without a user, it owns the memory. */
  readonly team?: string;
  /** The conversation. */
  readonly session?: string;
  /** Which of user, agent and team owns the memory, if several are given. */
  readonly space?: SpaceKind;
}

export const ROLES = ["user", "assistant", "system", "tool"] as const;
/** Who speaks. */
export type Role = (typeof ROLES)[number];

/** working: the task at hand · episodic: what happened (the default) · semantic: what is known. */
export const TIERS = ["working", "episodic", "semantic"] as const;
/** Which kind of memory an item belongs to. */
export type Tier = (typeof TIERS)[number];

/** message: said in a session · knowledge: given by the host · fact: derived · overflow: cut from a block. */
export const KINDS = ["message", "knowledge", "fact", "overflow"] as const;
/** What kind of item it is. */
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
  /** Who speaks. */
  readonly role: Role;
  /** The speaker, if the role is not enough. */
  readonly name?: string;
  /** The text, or a list of parts. */
  readonly content: string | readonly Part[];
  /** When it was said; the time of the call by default. It does not affect order. */
  readonly occurredAt?: Instant;
  /** A JSON object to store with it; queries can filter by it. */
  readonly metadata?: Metadata;
  /** Which kind of memory it belongs to. */
  readonly tier?: Tier;
  /** From this moment on the message is in no answer; soon after, its bytes are gone. */
  readonly expiresAt?: Instant;
}

/** An item to add that is not a message. */
export interface NewItem extends Omit<NewMessage, "role"> {
  /** What kind of item it is. */
  readonly kind: Exclude<Kind, "message">;
  /** Who spoke, if anyone did. */
  readonly role?: Role;
}

/** One searchable unit, as stored. Times are epoch milliseconds. */
export interface Item {
  /** The id of the item, unique in its space. */
  readonly id: string;
  /** What kind of item it is. */
  readonly kind: Kind;
  /** The user, agent or team that owns it. */
  readonly space: SpaceRef;
  /** The session's name and registry id; absent for items outside any session. */
  readonly session?: string;
  /** The registry id of the session, which stays the same when it is renamed. */
  readonly sessionId?: string;
  /** The agent that the scope named when it was added. */
  readonly agent?: string;
  /** The position in the session: 1, 2, 3… without collisions, assigned inside the transaction. */
  readonly sequence?: number;
  /** The sequence of the first message of the same add call. */
  readonly round?: number;
  /** Who spoke; absent for items that are not messages. */
  readonly role?: Role;
  /** The speaker's name, if one was given. */
  readonly name?: string;
  /** The text; of a message with parts, their texts and descriptions. */
  readonly content: string;
  /** The parts as they were added; absent if the content was a text. */
  readonly parts?: readonly Part[];
  /** The JSON object stored with it. */
  readonly metadata: Metadata;
  /** Which kind of memory it belongs to. */
  readonly tier: Tier;
  /** When it was said, in epoch milliseconds. */
  readonly occurredAt: number;
  /** When it was added, in epoch milliseconds. */
  readonly recordedAt: number;
  /** When it was last changed, in epoch milliseconds. */
  readonly updatedAt: number;
  /** From when on it is in no answer, in epoch milliseconds. */
  readonly expiresAt?: number;
  /** 1 when added, incremented by each edit. */
  readonly version: number;
  /** Whether meaning finds it; in lists with `embedding`. */
  readonly embedding?: EmbeddingState;
}

/** Whether the text of an item is embedded. Words find the item in any case. */
export interface EmbeddingState {
  /**
   * waiting: not yet, or by another process that has not written its vectors · embedded: its vectors are in memory and
   * not yet written · stored: its vectors are written, or it has no text to embed · parked: it could not be embedded ·
   * off: not embedded, and this process has no embedding model.
   */
  readonly state: "waiting" | "embedded" | "stored" | "parked" | "off";
  /** Of a parked item: the embedder's message. Never content. */
  readonly error?: string;
  /** Of a parked item: how often it was tried. */
  readonly attempts?: number;
  /** When a parked item is retried automatically, in epoch milliseconds. */
  readonly retryAt?: number;
}

/** The editable fields of an item. `null` removes an optional field. */
export interface ItemPatch {
  /** The new text or parts. The item is embedded again. */
  readonly content?: string | readonly Part[];
  /** Who spoke. */
  readonly role?: Role;
  /** The speaker's name; null removes it. */
  readonly name?: string | null;
  /** Replaces the whole metadata object. */
  readonly metadata?: Metadata;
  /** Which kind of memory it belongs to. */
  readonly tier?: Tier;
  /** When it was said. */
  readonly occurredAt?: Instant;
  /** When to forget it; null keeps it. */
  readonly expiresAt?: Instant | null;
}

/** Narrows a read. All given conditions must hold; a list matches any of its values. */
export interface Filter {
  /** Only items of this session, or of one of these. */
  readonly session?: string | readonly string[];
  /** Only items of this agent, or of one of these. */
  readonly agent?: string | readonly string[];
  /** Only messages of this role, or of one of these. */
  readonly role?: Role | readonly Role[];
  /** Only items of this kind, or of one of these. */
  readonly kind?: Kind | readonly Kind[];
  /** Only items of this tier, or of one of these. */
  readonly tier?: Tier | readonly Tier[];
  /** `occurredAt` at or after `from`, and before `to`. */
  readonly from?: Instant;
  /** Only items whose `occurredAt` is before this time. */
  readonly to?: Instant;
  /** Exact values by key; a dotted key reaches into objects; a list matches any of its values. */
  readonly metadata?: { readonly [key: string]: Scalar | readonly Scalar[] };
}
export type Scalar = string | number | boolean | null;

/** asc: ascending · desc: descending. */
export type Order = "asc" | "desc";

/** The answer to an add: what was written, and where. */
export interface Added {
  /** The ids of the messages, in the order given. */
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
  /** The name of the model. */
  readonly model: string;
  /** What computed them, if that makes a difference. */
  readonly runtime: string;
  /** The length of a vector. */
  readonly dimensions: number;
}

/**
 * round: embedded for this query, because its batch was not due yet · hybrid: embedded but not yet written (the
 * HybridBuffer's VectorCache) · store: from the store, by words or by meaning.
 */
export type Level = "round" | "hybrid" | "store";

/** An item that was found. */
export interface Hit extends Item {
  /**
   * The rank of the hit as a number: higher is better. It compares hits of one answer and says nothing about relevance
   * across questions.
   */
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
  /** The bonus for having been said at a time that the question names. */
  readonly date: number;
  /** The bonus for a conversation with several good hits. */
  readonly session: number;
  /** The bonus for being recent; 0 unless the query asks for it. */
  readonly recency: number;
}

/** query: cached answers · round, hybrid: RAM · words, meaning: the store · index: an external vector index. */
export type Source = "query" | "round" | "hybrid" | "words" | "meaning" | "index";

/** What one source was asked and returned. A source that could add nothing is not asked, and `why` says so. */
export interface SourceReport {
  /** Which source it is. */
  readonly source: Source;
  /** Whether it was asked. */
  readonly asked: boolean;
  /** Why it was not asked. */
  readonly why?: string;
  /** Number of results. */
  readonly found: number;
  /** How long it took, in milliseconds. */
  readonly ms: number;
}

/**
 * Where an answer came from. answers: a finished answer in the cache · rankings: a cached ranking, only content was read ·
 * victims: a ranking that the cache had evicted · ahead: an answer made ahead of time · shared: the search of an equal
 * question that was under way · misses: a search of its own.
 */
export type Origin = "answers" | "rankings" | "victims" | "ahead" | "shared" | "misses";

/** An item that was asked about and is not among the hits. */
export interface MissingItem {
  /** Its id. */
  readonly id: string;
  /** Why it is not among the hits. */
  readonly why: string;
  /** Its place in the ranking, from 1, with its score and the components of it; absent if it was not ranked. */
  readonly ranked?: { readonly place: number; readonly score: number; readonly why: Why };
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
  /** Where the ranking came from. Never `answers`: finished answers carry no explanation. */
  readonly origin: Origin;
  /** What each source was asked and returned. */
  readonly sources: readonly SourceReport[];
  /** The number of items that were ranked. */
  readonly candidates: number;
  /** Requested items that are not among the hits, each with the reason. */
  readonly missing: readonly MissingItem[];
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

/** One page of a list. */
export interface Page<T> {
  /** The items of this page. */
  readonly items: readonly T[];
  /** Pass it as `cursor` to get the next page; absent on the last one. */
  readonly next?: string;
}

/** A registered user, agent or team. */
export interface Entry {
  /** The id of the entry, which stays the same when it is renamed. */
  readonly id: string;
  /** Whether it is a user, an agent or a team. */
  readonly kind: SpaceKind;
  /** Its name, unique among entries of its kind. */
  readonly name: string;
  /** A description, as set by a caller. */
  readonly description?: string;
  /** Epoch milliseconds. */
  readonly createdAt: number;
  /** Epoch milliseconds of the last change of the entry itself. */
  readonly updatedAt: number;
  /** How long items of this space are kept, counted from `recordedAt`; absent if for ever. */
  readonly retentionMs?: number;
}

/** A registered session; its name is unique in its space. */
export interface SessionEntry {
  /** The id of the session, which stays the same when it is renamed. */
  readonly id: string;
  /** Its name, unique in its space. */
  readonly name: string;
  /** The space that it belongs to. */
  readonly space: SpaceRef;
  /** The agent that it was created with. */
  readonly agent?: string;
  /** Epoch milliseconds. */
  readonly createdAt: number;
  /** Epoch milliseconds of the last change of the entry itself. */
  readonly updatedAt: number;
}

/** What a forget removed, and what it left. */
export interface ForgetReceipt {
  /** Items removed, with their words. */
  readonly items: number;
  /** Sessions removed. */
  readonly sessions: number;
  /** Users, agents or teams removed. */
  readonly entries: number;
  /** Blocks removed, with their histories. */
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
