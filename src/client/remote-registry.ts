/** The registry behind a server: users, agents, teams and sessions by name. */
import { parseIdentity } from "../input/identity.js";
import type { PageOptions } from "../input/page.js";
import { parseSpace } from "../input/scope.js";
import type { Entries, SessionQuery, Sessions } from "../registry.js";
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

  async create(name: string, description?: string): Promise<Entry> {
    return this.#transport.call("createEntry", { ...this.#all(), body: { name, description } });
  }

  async ensure(name: string): Promise<Entry> {
    return this.#transport.call("createEntry", { ...this.#all(), body: { name, ensure: true }, repeatable: true });
  }

  async rename(name: string, to: string): Promise<Entry> {
    return this.#transport.call("amendEntry", { ...this.#one(name), body: { name: parseIdentity(to, "name") } });
  }

  async describe(name: string, description: string | null): Promise<Entry> {
    return this.#transport.call("amendEntry", { ...this.#one(name), body: { description } });
  }

  async retain(name: string, retentionMs: number | null): Promise<Entry> {
    return this.#transport.call("amendEntry", { ...this.#one(name), body: { retentionMs } });
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
   * An agent is asked for beside a user or a team, where the query string has a place for it. Elsewhere the sessions of
   * others are taken out of the page here, which may leave fewer than `limit`.
   */
  async list({ space, agent, limit, cursor }: SessionQuery = {}): Promise<Page<SessionEntry>> {
    const where = space && parseSpace(space);
    const asked = agent === undefined ? undefined : parseIdentity(agent, "agent");
    const hasPlace = asked !== undefined && where !== undefined && !("agent" in where);
    const scope = where && { ...scopeOf(where), ...(hasPlace && { agent: asked }) };
    const page = await this.#transport.call("listSessions", { scope, query: { limit, cursor } });
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

  async create(space: SpaceRef, name: string, agent?: string): Promise<SessionEntry> {
    return this.#transport.call("createSession", { body: { space, name, agent } });
  }

  async rename(space: SpaceRef, name: string, to: string): Promise<SessionEntry> {
    return this.#transport.call("renameSession", { body: { space, name, to } });
  }

  async delete(space: SpaceRef, name: string): Promise<ForgetReceipt> {
    const scope = { ...scopeOf(parseSpace(space)), session: parseIdentity(name, "name") };
    return this.#transport.call("forget", { scope });
  }
}

const scopeOf = (space: SpaceRef): Scope => ({ ...space });
