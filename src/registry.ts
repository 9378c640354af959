/** The registry: users, agents, teams and sessions by name. */
import { parseWriteOptions, type WriteOptions } from "./input/call.js";
import { parseIdentity } from "./input/identity.js";
import { parseInteger } from "./input/integer.js";
import { onceOf } from "./input/once.js";
import { type PageOptions, parsePage } from "./input/page.js";
import { objectWith, parseChoice, wrongType } from "./input/refusal.js";
import { parseSpace } from "./input/scope.js";
import { ORDERS } from "./options.js";
import type { BufferService } from "./service.js";
import { namedSpace } from "./space-key.js";
import type { OnceWrite } from "./stores/receipts.js";
import type { AmendWrite, RegisterWrite } from "./stores/store.js";
import { repairText } from "./text.js";
import type { Entry, ForgetReceipt, Order, Page, SessionEntry, SpaceKind, SpaceRef } from "./types.js";

/** Changes to a user, an agent or a team. Omitted keys stay unchanged. */
export interface EntryChange {
  /** The new name. */
  readonly name?: string;
  /** null removes it. */
  readonly description?: string | null;
  /** How long items of its space are kept after they were recorded; null keeps them forever. */
  readonly retentionMs?: number | null;
}

/** Users, agents or teams, in process or through a server. */
export type Entries = Pick<LocalEntries, keyof LocalEntries>;

export class LocalEntries {
  readonly #service: BufferService;
  readonly #kind: SpaceKind;

  constructor(service: BufferService, kind: SpaceKind) {
    this.#service = service;
    this.#kind = kind;
  }

  /** In order of creation. */
  async list(options: PageOptions = {}): Promise<Page<Entry>> {
    return this.#service.store.entries({ kind: this.#kind, ...parsePage(options) });
  }

  /** The entry with this name; undefined if there is none. */
  async get(name: string): Promise<Entry | undefined> {
    const page = await this.#service.store.entries({ kind: this.#kind, name: this.#name(name), limit: 1 });
    return page.items[0];
  }

  /** The entry with this id; undefined if there is none. */
  async byId(id: string): Promise<Entry | undefined> {
    const page = await this.#service.store.entries({ kind: this.#kind, id: parseIdentity(id, "id"), limit: 1 });
    return page.items[0];
  }

  /** Registers a name; `conflict` if it is taken. */
  async create(name: string, description?: string, options?: WriteOptions): Promise<Entry> {
    const entry = {
      kind: this.#kind,
      name: this.#name(name),
      ...(description !== undefined && { description: parseDescription(description) }),
    };
    const once = onceOf(parseWriteOptions(options), { space: this.#space(name) }, "entries.create", description);
    return this.#write({ op: "register", create: "new", entry }, once);
  }

  /** The entry with this name. Registers it if it is new. */
  ensure(name: string): Promise<Entry> {
    return this.#write({ op: "register", create: "ensure", entry: { kind: this.#kind, name: this.#name(name) } });
  }

  /** Changes several properties in one commit. */
  async amend(name: string, change: EntryChange, options?: WriteOptions): Promise<Entry> {
    const { name: to, description, retentionMs } = objectWith(change, CHANGE_KEYS, "change") as EntryChange;
    if (retentionMs !== undefined && retentionMs !== null)
      parseInteger(retentionMs, "retentionMs", 1, Number.MAX_SAFE_INTEGER);
    const write: AmendWrite = {
      op: "amend",
      entry: { kind: this.#kind, name: this.#name(name) },
      ...(to !== undefined && { name: this.#name(to) }),
      ...(description !== undefined && { description: description === null ? null : parseDescription(description) }),
      ...(retentionMs !== undefined && { retentionMs }),
    };
    return this.#write(write, await this.#amendingOnce(parseWriteOptions(options), name, change));
  }

  /** A retry of a rename finds the entry under its new name, with the same id. */
  async #amendingOnce(key: string | undefined, name: string, change: EntryChange): Promise<OnceWrite | undefined> {
    if (key === undefined) return undefined;
    const { name: to = name } = change;
    const entry = (await this.get(name)) ?? (await this.get(to));
    return onceOf(key, { space: this.#space(to) }, "entries.amend", entry?.id, change);
  }

  /** Renames it. Everything in its space stays. */
  rename(name: string, to: string, options?: WriteOptions): Promise<Entry> {
    return this.amend(name, { name: to }, options);
  }

  /** Sets its description; null removes it. */
  describe(name: string, description: string | null, options?: WriteOptions): Promise<Entry> {
    return this.amend(name, { description }, options);
  }

  /** Keeps items of this space for this long after they were recorded; null keeps them forever. */
  retain(name: string, retentionMs: number | null, options?: WriteOptions): Promise<Entry> {
    return this.amend(name, { retentionMs }, options);
  }

  /** Forgets the entry and everything in its space. */
  delete(name: string): Promise<ForgetReceipt> {
    return this.#service.forget({ [this.#kind]: this.#name(name) });
  }

  async #write(write: RegisterWrite | AmendWrite, once?: OnceWrite): Promise<Entry> {
    return (await this.#service.write(write, once)).entry as Entry;
  }

  #space(name: string): SpaceRef {
    return namedSpace(this.#kind, name);
  }

  #name(name: string): string {
    return parseIdentity(name, "name");
  }
}

const CHANGE_KEYS = new Set(["name", "description", "retentionMs"]);
const QUERY_KEYS = new Set(["space", "agent", "order", "limit", "cursor"]);

function parseDescription(description: unknown): string {
  if (typeof description !== "string") throw wrongType("description", "a string", description);
  return repairText(description);
}

/** Which sessions to list. */
export interface SessionQuery extends PageOptions {
  /** Only sessions of this space. */
  readonly space?: SpaceRef;
  /** Only sessions of this agent. */
  readonly agent?: string;
  /** By creation. Default: asc. */
  readonly order?: Order;
}

/** Sessions, in process or through a server. Names are unique within a space. */
export type Sessions = Pick<LocalSessions, keyof LocalSessions>;

export class LocalSessions {
  readonly #service: BufferService;

  constructor(service: BufferService) {
    this.#service = service;
  }

  /** A page of sessions. */
  async list(query: SessionQuery = {}): Promise<Page<SessionEntry>> {
    const { space, agent, order, ...page } = objectWith(query, QUERY_KEYS, "options") as SessionQuery;
    return this.#service.store.sessions({
      kind: "session",
      ...parsePage(page),
      ...(space !== undefined && { space: parseSpace(space) }),
      ...(agent !== undefined && { agent: parseIdentity(agent, "agent") }),
      ...(order !== undefined && { order: parseChoice(order, ORDERS, "options.order") }),
    });
  }

  /** The session with this name; undefined if there is none. */
  async get(space: SpaceRef, name: string): Promise<SessionEntry | undefined> {
    const request = { kind: "session", space: parseSpace(space), name: parseIdentity(name, "name"), limit: 1 } as const;
    return (await this.#service.store.sessions(request)).items[0];
  }

  /** The session with this id; undefined if there is none. */
  async byId(id: string): Promise<SessionEntry | undefined> {
    const page = await this.#service.store.sessions({ kind: "session", id: parseIdentity(id, "id"), limit: 1 });
    return page.items[0];
  }

  /** Registers a session before its first message; `conflict` if the name is taken. */
  async create(space: SpaceRef, name: string, agent?: string, options?: WriteOptions): Promise<SessionEntry> {
    const place = { space: parseSpace(space), session: parseIdentity(name, "name") };
    const entry = {
      kind: "session",
      space: place.space,
      name,
      ...(agent !== undefined && { agent: parseIdentity(agent, "agent") }),
    } as const;
    const once = onceOf(parseWriteOptions(options), place, "sessions.create", agent);
    return this.#write({ op: "register", create: "new", entry }, once);
  }

  /** Renames a session. Its messages stay. */
  async rename(space: SpaceRef, name: string, to: string, options?: WriteOptions): Promise<SessionEntry> {
    const place = { space: parseSpace(space), session: parseIdentity(to, "to") };
    const entry = { kind: "session", space: place.space, name: parseIdentity(name, "name") } as const;
    const once = onceOf(parseWriteOptions(options), place, "sessions.rename", name);
    return this.#write({ op: "amend", entry, name: to }, once);
  }

  /** Forgets the session and all its items. */
  delete(space: SpaceRef, name: string): Promise<ForgetReceipt> {
    return this.#service.forget({ ...parseSpace(space), session: parseIdentity(name, "name") });
  }

  async #write(write: RegisterWrite | AmendWrite, once: OnceWrite | undefined): Promise<SessionEntry> {
    return (await this.#service.write(write, once)).entry as SessionEntry;
  }
}
