/**
 * BufferService: the two paths, to be read aloud.
 *
 *   add    validate → WriteBuffer (group commit: rows, words, sequences, versions) → durable and searchable → answer
 *   query  validate → words of the question → the store's candidates, scored → content read at the end → answer
 *
 * Everything else a memory can do stands below them. A method parses, moves, answers; parts decide, the service moves.
 */
import { mergeAdded } from "./buffers/answers.js";
import type { Turn } from "./buffers/turn.js";
import { turnUnit, withId } from "./buffers/turn-unit.js";
import { laneOf, NOTHING_ADDED, WriteBuffer, type WriteBufferStats } from "./buffers/write.js";
import { HoldfastError } from "./errors.js";
import {
  type AddOptions,
  parseAddOptions,
  parseIds,
  parseRounds,
  parseUpdateOptions,
  type UpdateOptions,
} from "./input/call.js";
import { parseIdentity } from "./input/identity.js";
import { type ListOptions, parseList } from "./input/list.js";
import { parseItems, parseMessages } from "./input/message.js";
import { parsePatch } from "./input/patch.js";
import { type ParsedQuery, parseQuery, type QueryOptions } from "./input/query.js";
import { type ParsedScope, parseScope } from "./input/scope.js";
import { Keeper } from "./keeper.js";
import type { ResolvedOptions } from "./options.js";
import { analyse } from "./retrieval/words/analyse.js";
import type { Done, ForgetWrite, Store, StoreStats, Write } from "./stores/store.js";
import type {
  Added,
  ForgetReceipt,
  Hit,
  Hits,
  Item,
  ItemPatch,
  NewItem,
  NewMessage,
  Page,
  Scope,
  SpaceRef,
} from "./types.js";

export interface ServiceStats {
  readonly write: WriteBufferStats;
  readonly store: StoreStats;
}

/** What `close` has to say: everything accepted was written. */
export interface CloseReport {
  readonly commit: number;
  readonly items: number;
}

/** How long a forget waits for other readers of the file before it says that the log still holds the text. */
const PURGE_WAIT_MS = 5_000;

export class BufferService {
  readonly #store: Store;
  readonly #options: ResolvedOptions;
  readonly #writes: WriteBuffer;
  readonly #keeper: Keeper;
  #closing: Promise<CloseReport> | undefined;

  /** Requires a store that is open. */
  constructor(store: Store, options: ResolvedOptions) {
    this.#store = store;
    this.#options = options;
    this.#writes = new WriteBuffer({ store, clock: options.clock, ...options.buffer.writeBuffer });
    this.#keeper = new Keeper(options.clock, store, () => this.#forget({ expired: true }));
  }

  // The write path.

  /** Adds messages to the scope's session, in order. When it resolves they are durable and searchable. */
  async add(scope: Scope, messages: readonly NewMessage[], options: AddOptions = {}): Promise<Added> {
    return this.#writes.add(parseScope(scope), parseMessages(messages, this.#now()), parseAddOptions(options));
  }

  /** Adds items of other kinds: knowledge, facts, overflow. */
  async addItems(scope: Scope, items: readonly NewItem[], options: AddOptions = {}): Promise<Added> {
    return this.#writes.add(parseScope(scope), parseItems(items, this.#now()), parseAddOptions(options));
  }

  /**
   * Adds several rounds, each all or nothing, in order. If some fail, the error names them (`details.failed`) and the
   * answers of the others (`details.added`).
   */
  async addBatch(
    scope: Scope,
    rounds: readonly (readonly NewMessage[])[],
    options: AddOptions = {},
  ): Promise<readonly Added[]> {
    return this.#writes.addBatch(parseScope(scope), parseRounds(rounds, this.#now()), parseAddOptions(options));
  }

  /** Commits what a turn has gathered, in one transaction. If that fails, the turn keeps all of it for another try. */
  async commit(scope: Scope, turn: Turn): Promise<Added> {
    const place = parseScope(scope);
    const now = this.#now();
    const writes = turn.drain().map((write) => withId(write, now));
    try {
      const sized = turnUnit(place, writes, now);
      if (!sized) return NOTHING_ADDED;
      return mergeAdded(await this.#writes.write({ lane: laneOf(place), units: [sized], stepwise: true }), 1);
    } catch (error) {
      turn.restore(writes);
      throw error;
    }
  }

  // The read path.

  /** Finds what the scope's space (or the spaces named) holds on a question, best first. */
  async query(scope: Scope, text: string, options: QueryOptions = {}): Promise<Hits> {
    const place = parseScope(scope);
    const question = parseQuery(text, options, this.#options.buffer.query);
    const request = {
      spaces: question.spaces ?? [place.space],
      terms: [...analyse(question.text).keys()],
      filter: narrow(question, place),
      limit: question.topK,
    };
    for (let attempt = 1; ; attempt++) {
      const now = this.#now();
      const found = await this.#store.searchWords({ ...request, now });
      const items = await this.#readFound(found, now);
      // What was edited or forgotten between search and read is dropped, and its place is filled by another search.
      const hits = found.flatMap(({ space, id, version, score }): Hit[] => {
        const item = items.get(keyOf(space, id));
        if (item?.version !== version) return [];
        const scope =
          place.session !== undefined &&
          item.session === place.session &&
          keyOf(item.space, "") === keyOf(place.space, "");
        return [{ ...item, score, level: "store", scope: scope ? "in_session" : "cross_session" }];
      });
      if (hits.length === found.length || attempt === 3) return answer(hits, question);
    }
  }

  async #readFound(found: readonly { space: SpaceRef; id: string }[], now: number): Promise<Map<string, Item>> {
    const spaces = [...new Map(found.map(({ space }) => [keyOf(space, ""), space])).values()];
    const items = await this.#store.get(spaces, [...new Set(found.map(({ id }) => id))], now);
    return new Map(items.map((item) => [keyOf(item.space, item.id), item]));
  }

  // Items by id and by page.

  /** The items of these ids in the scope's space, in the order asked for; absent ones are left out. */
  async get(scope: Scope, ids: readonly string[]): Promise<readonly Item[]> {
    const { space } = parseScope(scope);
    const wanted = parseIds(ids);
    const items = new Map((await this.#store.get([space], wanted, this.#now())).map((item) => [item.id, item]));
    return wanted.flatMap((id) => items.get(id) ?? []);
  }

  /** A page of the session's items, or of the whole space if the scope names no session. */
  async list(scope: Scope, options: ListOptions = {}): Promise<Page<Item>> {
    const { space, session } = parseScope(scope);
    const { filter, ...request } = parseList(options);
    const sessions = filter.sessions ?? (session === undefined ? undefined : [session]);
    const narrowed = sessions ? { ...filter, sessions } : filter;
    return this.#store.list({ ...request, spaces: [space], filter: narrowed, now: this.#now() });
  }

  /** Edits an item and returns its new version number; the old text is in no later answer. */
  async update(scope: Scope, id: string, patch: ItemPatch, options: UpdateOptions = {}): Promise<number> {
    const place = parseScope(scope);
    const done = await this.#writeOne(laneOf(place), {
      op: "update",
      space: place.space,
      id: parseIdentity(id, "id"),
      patch: parsePatch(patch),
      ...parseUpdateOptions(options),
    });
    return done.op === "update" ? done.version : 0;
  }

  // Forgetting.

  /** Deletes items by id. */
  async delete(scope: Scope, ids: readonly string[]): Promise<ForgetReceipt> {
    const { space } = parseScope(scope);
    const wanted = parseIds(ids);
    const existing = new Set((await this.#store.get([space], wanted, this.#now())).map(({ id }) => id));
    const receipt = await this.#forget({ space, ids: wanted });
    return { ...receipt, missing: wanted.filter((id) => !existing.has(id)) };
  }

  /** Forgets the scope's session if it names one, else all of its space, with the registry entry. */
  async forget(scope: Scope): Promise<ForgetReceipt> {
    const { space, session } = parseScope(scope);
    const target = session === undefined ? { space, entry: true } : { space, session, entry: true };
    const receipt = await this.#forget(target);
    if (session !== undefined || !("agent" in space) || receipt.entries === 0) return receipt;
    const left = {
      what: "items in other spaces",
      why: "they belong to users and teams; they no longer name the agent",
    };
    return { ...receipt, left: [...receipt.left, left] };
  }

  async #forget(target: ForgetWrite["target"]): Promise<ForgetReceipt> {
    const sum = { items: 0, sessions: 0, entries: 0 };
    for (let remaining = true; remaining; ) {
      const done = await this.#writeOne(FORGET_LANE, { op: "forget", target });
      if (done.op !== "forget") break;
      sum.items += done.items;
      sum.sessions += done.sessions;
      sum.entries += done.entries;
      remaining = done.remaining;
    }
    const touched = sum.items + sum.sessions + sum.entries > 0;
    const purge = touched ? await this.#store.purge(PURGE_WAIT_MS) : { purged: true, left: [] };
    const { commit } = await this.#store.stats();
    return { ...sum, missing: [], ...purge, commit };
  }

  // The rest.

  /** Commits one write and returns what it did. */
  async write(write: Write): Promise<Done> {
    return this.#writeOne(REGISTRY_LANE, write);
  }

  async #writeOne(lane: string, write: Write): Promise<Done> {
    const units = [{ unit: [write], messages: 1, bytes: 1024 }];
    const [result] = await this.#writes.write({ lane, units, stepwise: true });
    if (!result?.ok) throw result?.error ?? new HoldfastError("store_failed", "the store gave no answer");
    return result.done[0] as Done;
  }

  get store(): Pick<Store, "entries" | "sessions" | "versions" | "changes"> {
    return this.#store;
  }

  /** Resolves when everything accepted so far is durable. */
  async flush(): Promise<void> {
    await this.#writes.flushAll();
  }

  async stats(): Promise<ServiceStats> {
    return { write: this.#writes.stats(), store: await this.#store.stats() };
  }

  /** Removes what has expired now instead of within a minute. */
  async sweep(): Promise<void> {
    await this.#keeper.sweep();
  }

  /** Stops intake, writes what was accepted, syncs, and lets go of the file. */
  close(): Promise<CloseReport> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<CloseReport> {
    await this.#keeper.stop();
    await this.#writes.close();
    const { commit, items } = await this.#store.stats();
    await this.#store.close();
    return { commit, items };
  }

  #now(): number {
    if (this.#closing) throw new HoldfastError("closed", "the memory is closed", { hint: "open it again" });
    return this.#options.clock.now();
  }
}

const FORGET_LANE = "forget";
const REGISTRY_LANE = "registry";

const keyOf = (space: SpaceRef, id: string): string => JSON.stringify([space, id]);

function narrow({ filter, within }: ParsedQuery, { session, agent }: ParsedScope): ParsedQuery["filter"] {
  if (within === "space") return filter;
  const own = within === "session" ? session : agent;
  if (own === undefined) {
    throw new HoldfastError("invalid_input", `within "${within}" needs a ${within} in the scope`, {
      hint: `name the ${within} when you make the session object`,
    });
  }
  return within === "session" ? { ...filter, sessions: [own] } : { ...filter, agents: [own] };
}

/** The hits that score best, in the order asked for; frozen, because answers are shared. */
function answer(hits: readonly Hit[], { sortBy, order }: ParsedQuery): Hits {
  const sorted = sortBy === "timestamp" ? [...hits].sort((a, b) => b.occurredAt - a.occurredAt) : [...hits];
  if (order === "asc") sorted.reverse();
  return Object.freeze(Object.assign(sorted.map(Object.freeze) as Hit[], { partial: false }));
}
