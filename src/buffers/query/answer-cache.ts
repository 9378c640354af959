/**
 * AnswerCache: caches the rankings of questions and the answers built from them.
 *
 * Two levels, both LRU: L1 holds rankings with finished answers; the victim cache behind it holds rankings that L1
 * evicted. A hit in the victim cache moves the entry back to L1. There is one entry per question. It is valid only for
 * the space versions at which it was computed; a newer entry replaces it. Both levels together stay within `maxBytes`,
 * and victims are evicted before answers.
 */
import { LRUCache } from "lru-cache";
import type { Question } from "../../input/question.js";
import { SingleFlight } from "../../single-flight.js";
import { spaceKey } from "../../space-key.js";
import type { Hits } from "../../types.js";
import type { Ranking } from "./retriever.js";

/** Rankings need a fraction of the memory that answers need. */
const VICTIMS_PER_ENTRY = 4;
/** A single entry larger than this share would evict too many others. */
const ENTRY_SHARE_MAX = 0.25;
/** Answers per entry: one question has several pages, sort orders and asking sessions. */
const ANSWERS_MAX = 8;
/** Estimated memory of an entry without its contents. */
const ENTRY_BYTES = 1_024;
const HIT_BYTES = 512;
const FOUND_BYTES = 400;
const OBJECT_BYTES = 64;
const VALUE_BYTES = 16;

/** An answer, and the number of ranked items that had changed by the time they were read. */
export interface Answered {
  readonly hits: Hits;
  readonly dropped: number;
}

export interface RankedQuestion {
  readonly key: string;
  /** The versions of the question's spaces, read before the search. */
  readonly versions: string;
  /** The sequence number of the search that produced it. */
  readonly order: number;
  readonly question: Question;
  readonly ranking: Ranking;
}

export class AnswerEntry {
  readonly key: string;
  readonly versions: string;
  readonly order: number;
  /** The keys of the question's spaces. */
  readonly spaces: ReadonlySet<string>;
  readonly ranking: Ranking;
  /** The depth that this entry can answer; Infinity if the ranking holds everything that was found. */
  readonly reach: number;
  /**
   * Whether the same question gets the same answer until something is written. This does not hold for partial
   * answers, or for those that depend on the clock or on the contents of buffers.
   */
  readonly isKeepable: boolean;
  /** Answers that are currently being read. */
  readonly reading = new SingleFlight<Answered>();
  readonly #answers = new Map<string, { readonly hits: Hits; readonly bytes: number }>();
  readonly #ownBytes: number;
  #bytes: number;

  constructor({ key, versions, order, question, ranking }: RankedQuestion) {
    this.key = key;
    this.versions = versions;
    this.order = order;
    this.spaces = new Set(question.spaces.map(spaceKey));
    this.ranking = ranking;
    const expires = ranking.found.some(({ until }) => until !== undefined);
    const isWhole = !ranking.partial && ranking.degraded === undefined;
    this.isKeepable = isWhole && !ranking.isClockBound && !expires && !question.bufferOnly;
    this.reach = ranking.found.length < question.depth ? Infinity : ranking.found.length;
    this.#ownBytes = ENTRY_BYTES + bytesOfText(key) + bytesOfText(versions) + bytesOfFound(ranking.found);
    this.#bytes = this.#ownBytes;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Whether it answers a question of this depth at these versions. */
  isFor(versions: string, depth: number): boolean {
    return this.versions === versions && this.reach >= depth;
  }

  answer(page: string): Hits | undefined {
    return this.#answers.get(page)?.hits;
  }

  /** Adds a finished answer and evicts the oldest one if there are too many. */
  put(page: string, hits: Hits, bytes = bytesOfAnswer(page, hits)): void {
    this.#remove(page);
    this.#answers.set(page, { hits, bytes });
    this.#bytes += bytes;
    const [oldest] = this.#answers.keys();
    if (this.#answers.size > ANSWERS_MAX && oldest !== undefined) this.#remove(oldest);
  }

  /** Drops all answers and keeps the ranking. */
  strip(): void {
    this.#answers.clear();
    this.#bytes = this.#ownBytes;
  }

  #remove(page: string): void {
    this.#bytes -= this.#answers.get(page)?.bytes ?? 0;
    this.#answers.delete(page);
  }
}

export interface FoundEntry {
  readonly entry: AnswerEntry;
  readonly level: "kept" | "victim";
}

export interface AnswerCacheStats {
  readonly kept: number;
  readonly victims: number;
  /** Evictions by level. */
  readonly evictions: { readonly kept: number; readonly victims: number };
  readonly bytes: number;
  /** The upper bounds on entries of L1, and on memory. */
  readonly maxEntries: number;
  readonly maxBytes: number;
}

export class AnswerCache {
  #maxBytes: number;
  readonly #kept: LRUCache<string, AnswerEntry>;
  readonly #victims: LRUCache<string, AnswerEntry>;
  #bytes = 0;
  readonly #evictions = { kept: 0, victims: 0 };

  /** Requires `size` ≥ 1. */
  constructor(size: number, maxBytes: number) {
    this.#maxBytes = maxBytes;
    this.#victims = new LRUCache({
      max: size * VICTIMS_PER_ENTRY,
      dispose: (entry, _key, reason) => {
        this.#bytes -= entry.bytes;
        if (reason === "evict") this.#evictions.victims++;
      },
    });
    this.#kept = new LRUCache({
      max: size,
      dispose: (entry, _key, reason) => {
        this.#bytes -= entry.bytes;
        if (reason !== "evict") return;
        this.#evictions.kept++;
        this.#retire(entry);
      },
    });
  }

  /** The entry for exactly these versions, if it is deep enough. A victim moves back to L1. */
  find(key: string, versions: string, depth: number): FoundEntry | undefined {
    const kept = this.#kept.get(key);
    if (kept) return kept.isFor(versions, depth) ? { entry: kept, level: "kept" } : undefined;
    const victim = this.#victims.get(key);
    if (!victim?.isFor(versions, depth)) return undefined;
    this.keep(victim);
    return { entry: victim, level: "victim" };
  }

  /** Puts an entry into L1, unless the entry already there is newer or deeper. */
  keep(entry: AnswerEntry): void {
    const { key, versions, order } = entry;
    if (entry.bytes > this.#maxBytes * ENTRY_SHARE_MAX) return;
    const other = this.#kept.peek(key);
    if (other && (other.versions === versions ? other.reach >= entry.reach : other.order > order)) return;
    this.#victims.delete(key);
    this.#kept.set(key, entry);
    this.#bytes += entry.bytes;
    this.#trim();
  }

  /** Adds an answer to an entry, if the entry is still in L1 and has room for it. */
  put(entry: AnswerEntry, page: string, hits: Hits): void {
    if (this.#kept.peek(entry.key) !== entry) return;
    const before = entry.bytes;
    const bytes = bytesOfAnswer(page, hits);
    if (before + bytes > this.#maxBytes * ENTRY_SHARE_MAX) return;
    entry.put(page, hits, bytes);
    this.#bytes += entry.bytes - before;
    this.#trim();
  }

  drop(entry: AnswerEntry): void {
    if (this.#kept.peek(entry.key) === entry) this.#kept.delete(entry.key);
    if (this.#victims.peek(entry.key) === entry) this.#victims.delete(entry.key);
  }

  /** Drops the entries of a space, or all entries. */
  forget(space?: string): void {
    for (const entries of [this.#kept, this.#victims]) {
      for (const [key, { spaces }] of [...entries.entries()])
        if (space === undefined || spaces.has(space)) entries.delete(key);
    }
  }

  /** Changes the upper bound on memory. */
  resize(maxBytes: number): void {
    this.#maxBytes = maxBytes;
    this.#trim();
  }

  get stats(): AnswerCacheStats {
    const evictions = { ...this.#evictions };
    const [maxEntries, maxBytes] = [this.#kept.max, this.#maxBytes];
    return { kept: this.#kept.size, victims: this.#victims.size, evictions, bytes: this.#bytes, maxEntries, maxBytes };
  }

  #retire(entry: AnswerEntry): void {
    entry.strip();
    this.#victims.set(entry.key, entry);
    this.#bytes += entry.bytes;
  }

  /** Evicts victims first, then moves the least recently used entries of L1 to the victim cache. */
  #trim(): void {
    while (this.#bytes > this.#maxBytes) if (!this.#victims.pop()) this.#kept.pop();
  }
}

/** Strings take one or two bytes per UTF-16 unit; this assumes two. */
const bytesOfText = (text: string | undefined): number => 2 * (text?.length ?? 0);

const bytesOfAnswer = (page: string, hits: Hits): number => bytesOfText(page) + bytesOfHits(hits);

function bytesOfFound(found: readonly { readonly id: string }[]): number {
  return found.reduce((bytes, { id }) => bytes + FOUND_BYTES + bytesOfText(id), OBJECT_BYTES);
}

function bytesOfHits(hits: Hits): number {
  return hits.reduce((bytes, { content, parts, metadata, ...hit }) => {
    const names = bytesOfText(hit.id) + bytesOfText(hit.session) + bytesOfText(hit.agent) + bytesOfText(hit.name);
    return bytes + HIT_BYTES + names + bytesOfText(content) + bytesOfJson(parts) + bytesOfJson(metadata);
  }, OBJECT_BYTES);
}

function bytesOfJson(value: unknown): number {
  if (typeof value === "string") return VALUE_BYTES + bytesOfText(value);
  if (typeof value !== "object" || value === null) return VALUE_BYTES;
  return Object.entries(value).reduce(
    (bytes, [key, part]) => bytes + bytesOfText(key) + bytesOfJson(part),
    OBJECT_BYTES,
  );
}
