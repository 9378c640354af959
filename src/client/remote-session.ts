/** A scope of a memory behind a server: the same calls as in the process, with the same answers. */
import type { Blocks } from "../blocks/session-blocks.js";
import { Turn } from "../buffers/turn.js";
import type { Context } from "../context/context.js";
import type { MemoryConfig } from "../conversation/memory-config.js";
import { SessionConversation } from "../conversation/session-conversation.js";
import { HoldfastError } from "../errors.js";
import type { Facts } from "../facts/session-facts.js";
import { newId } from "../ids.js";
import { type AddOptions, parseAddOptions, parseUpdateOptions, type UpdateOptions } from "../input/call.js";
import type { ContextOptions } from "../input/context.js";
import { Grants, type SessionOptions } from "../input/grants.js";
import { parseIdentity } from "../input/identity.js";
import type { ListOptions } from "../input/list.js";
import type { PageOptions } from "../input/page.js";
import type { PromoteOptions } from "../input/promotion.js";
import type { QueryOptions } from "../input/query.js";
import { parseScope } from "../input/scope.js";
import type { FlushReport } from "../reports.js";
import type { Session } from "../session.js";
import type { ParkedItem } from "../stores/indexing.js";
import type { Ledger } from "../stores/ledger.js";
import type { Promotion } from "../stores/promotions.js";
import type { Added, ForgetReceipt, Hits, Item, ItemPatch, NewItem, NewMessage, Page, Scope } from "../types.js";
import { hitsOf } from "./hits.js";
import { entryOf, roundOf, turnOf, withId, withTimes } from "./outgoing.js";
import { RemoteBlocks } from "./remote-blocks.js";
import { RemoteFacts } from "./remote-facts.js";
import type { Transport } from "./transport.js";

export interface RemoteSessionOptions extends SessionOptions {
  /** Ends what this session has asked for: what is under way rejects with the signal's reason. */
  readonly signal?: AbortSignal;
}

const NOTHING_ADDED: Added = Object.freeze({ ids: [], sequences: [], commit: 0, repeated: false });

export class RemoteSession implements Session {
  readonly scope: Scope;
  readonly blocks: Blocks;
  readonly facts: Facts;
  readonly #transport: Transport;
  readonly #grants: Grants;

  constructor(transport: Transport, scope: Scope, options: RemoteSessionOptions = {}) {
    const { signal, ...rest } = options ?? {};
    parseScope(scope);
    this.#transport = transport.under(signal);
    this.#grants = new Grants(scope, rest);
    this.scope = Object.freeze({ ...scope });
    this.blocks = new RemoteBlocks(this.#transport, this.scope);
    this.facts = new RemoteFacts(this.#transport, this.scope, this.#grants);
  }

  async add(messages: readonly NewMessage[], options?: AddOptions): Promise<Added> {
    const body = { messages: roundOf(messages, "messages") };
    return this.#transport.call("add", { scope: this.scope, body, ...this.#key(options) });
  }

  async addBatch(rounds: readonly (readonly NewMessage[])[], options?: AddOptions): Promise<readonly Added[]> {
    const body = { rounds: Array.isArray(rounds) ? rounds.map((round) => roundOf(round, "messages")) : rounds };
    return this.#transport.call("addBatch", { scope: this.scope, body, ...this.#key(options) });
  }

  async addItems(items: readonly NewItem[], options?: AddOptions): Promise<Added> {
    const body = { items: roundOf(items, "items") };
    return this.#transport.call("addItems", { scope: this.scope, body, ...this.#key(options) });
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
    const body = { ...withTimes(options), query: text };
    return hitsOf(await this.#transport.call("query", { scope: this.scope, body }));
  }

  /** What notes nothing in the ledger is a read, which a key for reading may do. */
  async context(options: ContextOptions = {}): Promise<Context> {
    this.#grants.check(options?.spaces);
    const isRead = options?.dryRun === true || options?.fresh === true;
    return this.#transport.call(isRead ? "previewContext" : "context", {
      scope: this.scope,
      body: withTimes(options),
    });
  }

  async windowReset(): Promise<void> {
    await this.#transport.call("windowReset", { scope: this.scope });
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
    return (await this.#transport.call("promote", { scope: this.scope, body: { ...options, ids } })).ids;
  }

  async promotions(options: PageOptions = {}): Promise<Page<Promotion>> {
    return this.#transport.call("promotions", { scope: this.scope, query: { ...options } });
  }

  async get(ids: readonly string[]): Promise<readonly Item[]> {
    return this.#transport.call("get", { scope: this.scope, body: { ids } });
  }

  async list(options: ListOptions = {}): Promise<Page<Item>> {
    return this.#transport.call("list", { scope: this.scope, body: withTimes(options) });
  }

  async update(id: string, patch: ItemPatch, options: UpdateOptions = {}): Promise<number> {
    const params = { id: parseIdentity(id, "id") };
    const body = { ...entryOf({ ...patch }, "patch"), ...parseUpdateOptions(options) };
    return (await this.#transport.call("update", { scope: this.scope, params, body })).version;
  }

  async delete(ids: readonly string[]): Promise<ForgetReceipt> {
    return this.#transport.call("delete", { scope: this.scope, body: { ids } });
  }

  async forget(): Promise<ForgetReceipt> {
    return this.#transport.call("forget", { scope: this.scope });
  }

  turn(capacity?: number): Turn {
    return new Turn(capacity);
  }

  /** If it fails, the turn keeps its writes for another try, which adds no message twice. */
  async commit(turn: Turn): Promise<Added> {
    const now = this.#transport.endpoint.clock.now();
    const writes = turn.drain().map((write) => withId(write, now));
    if (writes.length === 0) return NOTHING_ADDED;
    try {
      const repeatable = writes.every(({ op }) => op !== "edit_block");
      return await this.#transport.call("commitTurn", { scope: this.scope, body: turnOf(writes), repeatable });
    } catch (error) {
      turn.restore(writes);
      throw error;
    }
  }

  /** With a key of its own an add may be repeated; nobody needs one that never is. */
  #key(options: AddOptions | undefined): { readonly idempotencyKey?: string } {
    const { retries, clock } = this.#transport.endpoint;
    const idempotencyKey = parseAddOptions(options) ?? (retries > 0 ? newId(clock.now()) : undefined);
    return idempotencyKey === undefined ? {} : { idempotencyKey };
  }
}
