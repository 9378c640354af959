/** The registry as callers see it: users, agents, teams and sessions by name. */
import { HoldfastError } from "./errors.js";
import { parseIdentity } from "./input/identity.js";
import { parseInteger } from "./input/integer.js";
import { type PageOptions, parsePage } from "./input/page.js";
import { parseSpace } from "./input/scope.js";
import type { BufferService } from "./service.js";
import type { AmendWrite, RegisterWrite } from "./stores/store.js";
import { repairText } from "./text.js";
import type { Entry, ForgetReceipt, Page, SessionEntry, SpaceKind, SpaceRef } from "./types.js";

/** Users, agents or teams as callers see them, here or behind a server. */
export type Entries = Pick<LocalEntries, keyof LocalEntries>;

export class LocalEntries {
  readonly #service: BufferService;
  readonly #kind: SpaceKind;

  constructor(service: BufferService, kind: SpaceKind) {
    this.#service = service;
    this.#kind = kind;
  }

  /** In the order of their making. */
  list(options: PageOptions = {}): Promise<Page<Entry>> {
    return this.#service.store.entries({ kind: this.#kind, ...parsePage(options) });
  }

  async get(name: string): Promise<Entry | undefined> {
    const page = await this.#service.store.entries({ kind: this.#kind, name: this.#name(name), limit: 1 });
    return page.items[0];
  }

  async byId(id: string): Promise<Entry | undefined> {
    const page = await this.#service.store.entries({ kind: this.#kind, id: parseIdentity(id, "id"), limit: 1 });
    return page.items[0];
  }

  /** Registers a name; `conflict` if it is taken. */
  create(name: string, description?: string): Promise<Entry> {
    const about = description === undefined ? {} : { description: repairText(description) };
    return this.#register({
      op: "register",
      create: "new",
      entry: { kind: this.#kind, name: this.#name(name), ...about },
    });
  }

  /** The entry of this name, registered if it is new. */
  ensure(name: string): Promise<Entry> {
    return this.#register({ op: "register", create: "ensure", entry: { kind: this.#kind, name: this.#name(name) } });
  }

  rename(name: string, to: string): Promise<Entry> {
    return this.#amend(name, { name: this.#name(to) });
  }

  describe(name: string, description: string | null): Promise<Entry> {
    return this.#amend(name, { description: description === null ? null : repairText(description) });
  }

  /** Keeps items of this space for so long after they were recorded; null: for ever. */
  retain(name: string, retentionMs: number | null): Promise<Entry> {
    if (retentionMs !== null) parseInteger(retentionMs, "retentionMs", 1, Number.MAX_SAFE_INTEGER);
    return this.#amend(name, { retentionMs });
  }

  /** Forgets the entry with everything in its space. */
  delete(name: string): Promise<ForgetReceipt> {
    return this.#service.forget({ [this.#kind]: this.#name(name) });
  }

  async #register(write: RegisterWrite): Promise<Entry> {
    const done = await this.#service.write(write);
    if (done.op === "register") return done.entry as Entry;
    throw new HoldfastError("store_failed", "the store gave another answer than was asked for");
  }

  async #amend(name: string, change: Omit<AmendWrite, "op" | "entry">): Promise<Entry> {
    const entry = { kind: this.#kind, name: this.#name(name) };
    const done = await this.#service.write({ op: "amend", entry, ...change });
    if (done.op === "amend") return done.entry as Entry;
    throw new HoldfastError("store_failed", "the store gave another answer than was asked for");
  }

  #name(name: string): string {
    return parseIdentity(name, "name");
  }
}

export interface SessionQuery extends PageOptions {
  readonly space?: SpaceRef;
  readonly agent?: string;
}

/** Sessions as callers see them; their names are unique in their space. */
export type Sessions = Pick<LocalSessions, keyof LocalSessions>;

export class LocalSessions {
  readonly #service: BufferService;

  constructor(service: BufferService) {
    this.#service = service;
  }

  list({ space, agent, ...page }: SessionQuery = {}): Promise<Page<SessionEntry>> {
    return this.#service.store.sessions({
      kind: "session",
      ...parsePage(page),
      ...(space !== undefined && { space: parseSpace(space) }),
      ...(agent !== undefined && { agent: parseIdentity(agent, "agent") }),
    });
  }

  async get(space: SpaceRef, name: string): Promise<SessionEntry | undefined> {
    const request = { kind: "session", space: parseSpace(space), name: parseIdentity(name, "name"), limit: 1 } as const;
    return (await this.#service.store.sessions(request)).items[0];
  }

  async byId(id: string): Promise<SessionEntry | undefined> {
    const page = await this.#service.store.sessions({ kind: "session", id: parseIdentity(id, "id"), limit: 1 });
    return page.items[0];
  }

  /** Registers a session before its first message; `conflict` if the name is taken. */
  async create(space: SpaceRef, name: string, agent?: string): Promise<SessionEntry> {
    const entry = {
      kind: "session",
      space: parseSpace(space),
      name: parseIdentity(name, "name"),
      ...(agent !== undefined && { agent: parseIdentity(agent, "agent") }),
    } as const;
    const done = await this.#service.write({ op: "register", create: "new", entry });
    if (done.op === "register") return done.entry as SessionEntry;
    throw new HoldfastError("store_failed", "the store gave another answer than was asked for");
  }

  async rename(space: SpaceRef, name: string, to: string): Promise<SessionEntry> {
    const entry = { kind: "session", space: parseSpace(space), name: parseIdentity(name, "name") } as const;
    const done = await this.#service.write({ op: "amend", entry, name: parseIdentity(to, "to") });
    if (done.op === "amend") return done.entry as SessionEntry;
    throw new HoldfastError("store_failed", "the store gave another answer than was asked for");
  }

  /** Forgets the session with all its items. */
  delete(space: SpaceRef, name: string): Promise<ForgetReceipt> {
    return this.#service.forget({ ...parseSpace(space), session: parseIdentity(name, "name") });
  }
}
