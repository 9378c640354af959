/** The registry on one connection: spaces (users, agents, teams) and sessions by name. */
import { newId } from "../../../ids.js";
import type { Entry, Order, SessionEntry, SpaceKind, SpaceRef } from "../../../types.js";
import { Cursors } from "../../cursors.js";
import type { SpaceVersion } from "../../store.js";
import type { Database, Row, Statement } from "../file/driver.js";
import { readEntry, readSession, readSpace, type SpaceRow, spaceCode, spaceParts } from "./codec.js";
import type { Transaction } from "./transaction.js";

const SESSION_SELECT = `
  SELECT session.key, session.id, session.name, session.created_at, session.updated_at, session.next_seq,
    space.kind AS space_kind, space.name AS space_name, agent.name AS agent_name
  FROM session JOIN space ON space.key = session.space LEFT JOIN space AS agent ON agent.key = session.agent`;

export interface SessionRow {
  readonly key: number;
  readonly nextSequence: number;
}

export class Registry {
  readonly #findSpace: Statement;
  readonly #versionOf: Statement;
  readonly #findSession: Statement;
  readonly #insertSpace: Statement;
  readonly #insertSession: Statement;
  readonly #spaceEntry: Statement;
  readonly #sessionEntry: Statement;
  readonly #notePresence: Statement;
  readonly #presence: Statement;
  readonly #database: Database;
  #cursors: Cursors | undefined;

  constructor(database: Database) {
    this.#database = database;
    this.#findSpace = database.prepare(
      "SELECT key, id, retention_ms, version, items, terms FROM space WHERE kind = ? AND name = ?",
    );
    this.#versionOf = database.prepare("SELECT id, version FROM space WHERE kind = ? AND name = ?");
    this.#findSession = database.prepare("SELECT key, next_seq FROM session WHERE space = ? AND name = ?");
    this.#insertSpace = database.prepare(
      "INSERT INTO space (id, kind, name, description, created_at, updated_at) VALUES (?, ?, ?, ?, ?, ?)",
    );
    this.#insertSession = database.prepare(
      "INSERT INTO session (id, space, agent, name, created_at, updated_at, next_seq) VALUES (?, ?, ?, ?, ?, ?, 1)",
    );
    this.#notePresence = database.prepare("INSERT OR IGNORE INTO presence (agent, space) VALUES (?, ?)");
    // The spaces that still name the agent. A space in `presence` named it once, but those items or sessions may be
    // gone.
    this.#presence = database.prepare(
      `SELECT space FROM presence WHERE agent = ? AND EXISTS (SELECT 1 FROM space WHERE space.key = presence.space) AND (
         EXISTS (SELECT 1 FROM session WHERE session.space = presence.space AND session.agent = presence.agent)
         OR EXISTS (SELECT 1 FROM item WHERE item.space = presence.space AND item.agent = presence.agent))`,
    );
    this.#spaceEntry = database.prepare("SELECT * FROM space WHERE key = ?");
    this.#sessionEntry = database.prepare(`${SESSION_SELECT} WHERE session.key = ?`);
  }

  /** The cursors of this file, for all lists. */
  get cursors(): Cursors {
    this.#cursors ??= new Cursors(
      this.#database.prepare("SELECT cursors FROM secret").get()?.["cursors"] as Uint8Array,
    );
    return this.#cursors;
  }

  findSpace(ref: SpaceRef): SpaceRow | undefined {
    const [, code, name] = spaceParts(ref);
    const row = this.#findSpace.get(code, name);
    return row && readSpace(row, ref);
  }

  versionOf(ref: SpaceRef): SpaceVersion | undefined {
    const [, code, name] = spaceParts(ref);
    const row = this.#versionOf.get(code, name);
    return row && { id: String(row["id"]), version: Number(row["version"]) };
  }

  findSpaces(refs: readonly SpaceRef[]): SpaceRow[] {
    const rows = new Map<number, SpaceRow>();
    for (const ref of refs) {
      const row = this.findSpace(ref);
      if (row) rows.set(row.key, row);
    }
    return [...rows.values()];
  }

  findSession(space: number, name: string): SessionRow | undefined {
    const row = this.#findSession.get(space, name);
    return row && { key: Number(row["key"]), nextSequence: Number(row["next_seq"]) };
  }

  /** The keys of all sessions with these names in these spaces. */
  sessionKeys(spaces: readonly SpaceRow[], names: readonly string[]): number[] {
    return spaces.flatMap(({ key }) => names.flatMap((name) => this.findSession(key, name)?.key ?? []));
  }

  agentKeys(names: readonly string[]): number[] {
    return names.flatMap((agent) => this.findSpace({ agent })?.key ?? []);
  }

  createSpace(kind: SpaceKind, name: string, description: string | undefined, transaction: Transaction): number {
    const { now } = transaction;
    const row = [newId(now), spaceCode(kind), name, description ?? null, now, now];
    const key = Number(this.#insertSpace.run(...row).lastInsertRowid);
    transaction.touch(key);
    return key;
  }

  ensureSpace(ref: SpaceRef, transaction: Transaction): number {
    const found = this.findSpace(ref);
    if (found) {
      transaction.startFrom(found.key, found);
      return found.key;
    }
    const [kind, , name] = spaceParts(ref);
    return this.createSpace(kind, name, undefined, transaction);
  }

  createSession(space: number, name: string, agent: number | null, transaction: Transaction): SessionRow {
    const { now } = transaction;
    const { lastInsertRowid } = this.#insertSession.run(newId(now), space, agent, name, now, now);
    transaction.touch(space);
    if (agent !== null) this.noteAgent(agent, space);
    return { key: Number(lastInsertRowid), nextSequence: 1 };
  }

  /** Records that something in the space names the agent. */
  noteAgent(agent: number, space: number): void {
    this.#notePresence.run(agent, space);
  }

  /** Marks all spaces whose results name the agent as changed. */
  touchWhereNamed(agent: number, transaction: Transaction): void {
    for (const row of this.#presence.all(agent)) transaction.touch(Number(row["space"]));
  }

  entry(key: number): Entry {
    return readEntry(this.#spaceEntry.get(key) as Row);
  }

  sessionEntry(key: number): SessionEntry {
    return readSession(this.#sessionEntry.get(key) as Row);
  }

  /** Entries by creation. */
  page<T extends Entry | SessionEntry>(
    table: "space" | "session",
    conditions: readonly { readonly sql: string; readonly value: string | number }[],
    limit: number,
    cursor: string | undefined,
    order: Order = "asc",
  ): { readonly items: T[]; readonly next?: string } {
    const list = [table, order, ...conditions.flatMap(({ sql, value }) => [sql, value])] as const;
    const [comparison, first] = order === "asc" ? [">", 0] : ["<", Number.MAX_SAFE_INTEGER];
    const [after] = cursor === undefined ? [first] : this.cursors.open(list, cursor);
    const where = [`key ${comparison} ?`, ...conditions.map(({ sql }) => sql)]
      .map((sql) => `${table}.${sql}`)
      .join(" AND ");
    const select = table === "space" ? "SELECT * FROM space" : SESSION_SELECT;
    const rows = this.#database
      .prepare(`${select} WHERE ${where} ORDER BY ${table}.key ${order} LIMIT ?`)
      .all(after, ...conditions.map(({ value }) => value), limit + 1);
    const read: (row: Row) => Entry | SessionEntry = table === "space" ? readEntry : readSession;
    const items = rows.slice(0, limit).map((row) => read(row) as T);
    return rows.length > limit
      ? { items, next: this.cursors.seal(list, [Number(rows[limit - 1]?.["key"])]) }
      : { items };
  }
}
