/** The registry of users, agents, teams and sessions, through a server. */
import { parseWriteOptions, type WriteOptions } from "../input/call.js";
import { parseIdentity } from "../input/identity.js";
import type { PageOptions } from "../input/page.js";
import { parseSpace } from "../input/scope.js";
import type { Entries, EntryChange, SessionQuery, Sessions } from "../registry.js";
import type { Entry, ForgetReceipt, Page, Scope, SessionEntry, SpaceRef } from "../types.js";
import type { Transport } from "./transport.js";

export class RemoteEntries implements Entries {
  readonly #transport: Transport;
  readonly #kind: "users" | "agents" | "teams";

  constructor(transport: Transport, kind: "users" | "agents" | "teams") {
    this.#transport = transport;
    this.#kind = kind;
  }

  async list({ limit, cursor }: PageOptions = {}): Promise<Page<Entry>> {
    return this.#transport.call("listEntries", { ...this.#all(), query: { limit, cursor } });
  }

  async get(name: string): Promise<Entry | undefined> {
    return this.#first({ name: parseIdentity(name, "name") });
  }

  async byId(id: string): Promise<Entry | undefined> {
    return this.#first({ id: parseIdentity(id, "id") });
  }

  async create(name: string, description?: string, options?: WriteOptions): Promise<Entry> {
    const idempotencyKey = parseWriteOptions(options);
    return this.#transport.call("createEntry", { ...this.#all(), body: { name, description }, idempotencyKey });
  }

  async ensure(name: string): Promise<Entry> {
    return this.#transport.call("createEntry", { ...this.#all(), body: { name, ensure: true } });
  }

  async amend(name: string, change: EntryChange, options?: WriteOptions): Promise<Entry> {
    const to = change.name === undefined ? {} : { name: parseIdentity(change.name, "name") };
    const body = { ...change, ...to };
    return this.#transport.call("amendEntry", {
      ...this.#one(name),
      body,
      idempotencyKey: parseWriteOptions(options),
    });
  }

  async rename(name: string, to: string, options?: WriteOptions): Promise<Entry> {
    return this.amend(name, { name: parseIdentity(to, "name") }, options);
  }

  async describe(name: string, description: string | null, options?: WriteOptions): Promise<Entry> {
    return this.amend(name, { description }, options);
  }

  async retain(name: string, retentionMs: number | null, options?: WriteOptions): Promise<Entry> {
    return this.amend(name, { retentionMs }, options);
  }

  async delete(name: string): Promise<ForgetReceipt> {
    return this.#transport.call("deleteEntry", this.#one(name));
  }

  async #first(query: { readonly name?: string; readonly id?: string }): Promise<Entry | undefined> {
    return (await this.#transport.call("listEntries", { ...this.#all(), query })).items[0];
  }

  #all() {
    return { params: { kind: this.#kind } };
  }

  #one(name: string) {
    return { params: { kind: this.#kind, name: parseIdentity(name, "name") } };
  }
}

export class RemoteSessions implements Sessions {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /**
   * The query string can name an agent only beside a user or a team. Otherwise sessions of other agents are filtered out of
   * the page here, which may leave fewer than `limit`.
   */
  async list({ space, agent, order, limit, cursor }: SessionQuery = {}): Promise<Page<SessionEntry>> {
    const where = space && parseSpace(space);
    const asked = agent === undefined ? undefined : parseIdentity(agent, "agent");
    const hasPlace = asked !== undefined && where !== undefined && !("agent" in where);
    const scope = where && { ...scopeOf(where), ...(hasPlace && { agent: asked }) };
    const page = await this.#transport.call("listSessions", { scope, query: { order, limit, cursor } });
    if (asked === undefined || hasPlace) return page;
    return { ...page, items: page.items.filter((session) => session.agent === asked) };
  }

  async get(space: SpaceRef, name: string): Promise<SessionEntry | undefined> {
    const query = { name: parseIdentity(name, "name") };
    return (await this.#transport.call("listSessions", { scope: scopeOf(parseSpace(space)), query })).items[0];
  }

  async byId(id: string): Promise<SessionEntry | undefined> {
    return (await this.#transport.call("listSessions", { query: { id: parseIdentity(id, "id") } })).items[0];
  }

  async create(space: SpaceRef, name: string, agent?: string, options?: WriteOptions): Promise<SessionEntry> {
    const idempotencyKey = parseWriteOptions(options);
    return this.#transport.call("createSession", { body: { space, name, agent }, idempotencyKey });
  }

  async rename(space: SpaceRef, name: string, to: string, options?: WriteOptions): Promise<SessionEntry> {
    const idempotencyKey = parseWriteOptions(options);
    return this.#transport.call("renameSession", { body: { space, name, to }, idempotencyKey });
  }

  async delete(space: SpaceRef, name: string): Promise<ForgetReceipt> {
    const scope = { ...scopeOf(parseSpace(space)), session: parseIdentity(name, "name") };
    return this.#transport.call("forget", { scope });
  }
}

const scopeOf = (space: SpaceRef): Scope => ({ ...space });
