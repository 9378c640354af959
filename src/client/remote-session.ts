/** Session through a server: the same calls as in process, with the same results. */
import type { Blocks } from "../blocks/session-blocks.js";
import { joinAdded } from "../buffers/answers.js";
import { Turn } from "../buffers/turn.js";
import type { Context } from "../context/context.js";
import type { MemoryConfig } from "../conversation/memory-config.js";
import { SessionConversation } from "../conversation/session-conversation.js";
import { HoldfastError } from "../errors.js";
import type { Facts } from "../facts/session-facts.js";
import {
  parseUpdateOptions,
  parseWriteOptions,
  splitKey,
  type UpdateOptions,
  type WriteOptions,
} from "../input/call.js";
import type { ContextOptions } from "../input/context.js";
import { Grants, type SessionOptions } from "../input/grants.js";
import { parseIdentity } from "../input/identity.js";
import type { ListOptions } from "../input/list.js";
import type { PageOptions } from "../input/page.js";
import type { PromoteOptions } from "../input/promotion.js";
import type { QueryOptions } from "../input/query.js";
import { type ParsedScope, parseScope } from "../input/scope.js";
import type { Points } from "../points/session-points.js";
import type { Session } from "../session.js";
import type { FlushReport } from "../stats.js";
import type { ParkedItem } from "../stores/indexing.js";
import type { Ledger } from "../stores/ledger.js";
import type { Promotion } from "../stores/promotions.js";
import type { Added, ForgetReceipt, Hits, Item, ItemPatch, NewItem, NewMessage, Page, Scope } from "../types.js";
import { hitsOf } from "./hits.js";
import { entryOf, roundOf, turnOf, withFilter, withTimes } from "./outgoing.js";
import { RemoteBlocks } from "./remote-blocks.js";
import { RemoteFacts } from "./remote-facts.js";
import { RemotePoints } from "./remote-points.js";
import type { Transport } from "./transport.js";

/** The options of a session behind a server. */
export interface RemoteSessionOptions extends SessionOptions {
  /** Aborts the calls of this session; they reject with the signal's reason. */
  readonly signal?: AbortSignal;
}

const NOTHING_ADDED: Added = Object.freeze({ ids: [], sequences: [], repeated: false });

export class RemoteSession implements Session {
  readonly scope: Scope;
  readonly blocks: Blocks;
  readonly facts: Facts;
  readonly points: Points;
  readonly #transport: Transport;
  readonly #place: ParsedScope;
  readonly #grants: Grants;

  constructor(transport: Transport, scope: Scope, options: RemoteSessionOptions = {}) {
    const { signal, ...rest } = options ?? {};
    this.#place = parseScope(scope);
    this.#transport = transport.under(signal);
    this.#grants = new Grants(scope, rest);
    this.scope = Object.freeze({ ...scope });
    this.blocks = new RemoteBlocks(this.#transport, this.scope);
    this.facts = new RemoteFacts(this.#transport, this.scope, this.#grants);
    this.points = new RemotePoints(this.#transport, this.scope, this.#grants);
  }

  async add(messages: readonly NewMessage[], options?: WriteOptions): Promise<Added> {
    const body = { messages: roundOf(messages, "messages") };
    return this.#transport.call("add", { scope: this.scope, body, ...keyOf(options) });
  }

  async addBatch(rounds: readonly (readonly NewMessage[])[], options?: WriteOptions): Promise<readonly Added[]> {
    const body = { rounds: Array.isArray(rounds) ? rounds.map((round) => roundOf(round, "messages")) : rounds };
    return this.#transport.call("addBatch", { scope: this.scope, body, ...keyOf(options) });
  }

  async addItems(items: readonly NewItem[], options?: WriteOptions): Promise<Added> {
    const body = { items: roundOf(items, "items") };
    return this.#transport.call("addItems", { scope: this.scope, body, ...keyOf(options) });
  }

  async flush(): Promise<FlushReport> {
    return this.#transport.call("flush", { scope: this.scope });
  }

  async parked({ limit, cursor }: PageOptions = {}): Promise<Page<ParkedItem>> {
    return this.#transport.call("parked", { scope: this.scope, query: { limit, cursor } });
  }

  async replay(ids?: readonly string[]): Promise<number> {
    return (await this.#transport.call("replay", { scope: this.scope, body: { ids } })).replayed;
  }

  async query(text: string, options: QueryOptions = {}): Promise<Hits> {
    this.#grants.check(options?.spaces);
    const body = { ...withFilter(options), query: text };
    return hitsOf(await this.#transport.call("query", { scope: this.scope, body }));
  }

  async anticipate(text: string, options?: QueryOptions): Promise<void> {
    this.#grants.check(options?.spaces);
    const body = { ...withFilter(options ?? {}), query: text };
    await this.#transport.call("anticipate", { scope: this.scope, body });
  }

  /** With `dryRun` nothing is written to the ledger, so a read-only key suffices. */
  async context(options: ContextOptions = {}): Promise<Context> {
    this.#grants.check(options?.spaces);
    const isRead = options?.dryRun === true || options?.fresh === true;
    const { key, rest } = splitKey(options);
    return this.#transport.call(isRead ? "previewContext" : "context", {
      scope: this.scope,
      body: withTimes(rest),
      idempotencyKey: key,
    });
  }

  async windowReset(options?: WriteOptions): Promise<void> {
    await this.#transport.call("windowReset", { scope: this.scope, ...keyOf(options) });
  }

  async ledger(): Promise<Ledger> {
    return this.#transport.call("ledger", { scope: this.scope });
  }

  async conversation(config?: Partial<MemoryConfig>): Promise<SessionConversation> {
    if (this.scope.session === undefined) {
      throw new HoldfastError("invalid_input", "the scope names no session", {
        hint: "a conversation is that of one session",
      });
    }
    return SessionConversation.open(this, config, this.#transport.endpoint.clock);
  }

  async promote(ids: readonly string[], options: PromoteOptions): Promise<readonly string[]> {
    if (options?.to !== undefined) this.#grants.checkOne(options.to, "options.to");
    const { key, rest } = splitKey(options);
    const body = { ...rest, ids };
    return (await this.#transport.call("promote", { scope: this.scope, body, idempotencyKey: key })).ids;
  }

  async promotions(options: PageOptions = {}): Promise<Page<Promotion>> {
    return this.#transport.call("promotions", { scope: this.scope, query: { ...options } });
  }

  async get(ids: readonly string[]): Promise<readonly Item[]> {
    return this.#transport.call("get", { scope: this.scope, body: { ids } });
  }

  async list(options: ListOptions = {}): Promise<Page<Item>> {
    return this.#transport.call("list", { scope: this.scope, body: withFilter(options) });
  }

  async update(id: string, patch: ItemPatch, options: UpdateOptions = {}): Promise<number> {
    const params = { id: parseIdentity(id, "id") };
    const { key, rest } = splitKey(options);
    const body = { ...entryOf({ ...patch }, "patch"), ...parseUpdateOptions(rest) };
    return (await this.#transport.call("update", { scope: this.scope, params, body, idempotencyKey: key })).version;
  }

  async delete(ids: readonly string[]): Promise<ForgetReceipt> {
    return this.#transport.call("delete", { scope: this.scope, body: { ids } });
  }

  async forget(): Promise<ForgetReceipt> {
    return this.#transport.call("forget", { scope: this.scope });
  }

  turn(capacity?: number): Turn {
    return new Turn(capacity, this.#place);
  }

  /** If it fails, the turn keeps its writes. A retry under the same key writes nothing twice. */
  async commit(turn: Turn, options?: WriteOptions): Promise<Added> {
    const key = parseWriteOptions(options);
    Turn.bind(turn, this.#place);
    const added: Added[] = [];
    while (!turn.isEmpty) {
      const batch = turn.take(this.#transport.endpoint.clock.now(), key);
      try {
        const call = { scope: this.scope, body: turnOf(batch.writes), idempotencyKey: batch.key };
        added.push(await this.#transport.call("commitTurn", call));
      } catch (error) {
        turn.giveBack(batch);
        throw error;
      }
    }
    return added.length === 0 ? NOTHING_ADDED : joinAdded(added);
  }
}

/** The caller's idempotency key, if there is one. */
const keyOf = (options: WriteOptions | undefined) => ({ idempotencyKey: parseWriteOptions(options) });
