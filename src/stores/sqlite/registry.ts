/** The registry on one connection: spaces (users, agents, teams) and sessions by name. */
import { HoldfastError } from "../../errors.js";
import { newId } from "../../ids.js";
import type { Entry, SessionEntry, SpaceKind, SpaceRef } from "../../types.js";
import { readEntry, readSession, spaceCode, spaceParts } from "./codec.js";
import type { Database, Row, Statement } from "./driver.js";
import { readSpace, type SpaceRow } from "./filter.js";
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

  constructor(database: Database) {
    this.#database = database;
    this.#findSpace = database.prepare(
      "SELECT key, retention_ms, items, terms, version FROM space WHERE kind = ? AND name = ?",
    );
    this.#versionOf = database.prepare("SELECT version FROM space WHERE kind = ? AND name = ?");
    this.#findSession = database.prepare("SELECT key, next_seq FROM session WHERE space = ? AND name = ?");
    this.#insertSpace = database.prepare(
      "INSERT INTO space (id, kind, name, description, created_at, updated_at, version, items, terms) VALUES (?, ?, ?, ?, ?, ?, 0, 0, 0)",
    );
    this.#insertSession = database.prepare(
      "INSERT INTO session (id, space, agent, name, created_at, updated_at, next_seq) VALUES (?, ?, ?, ?, ?, ?, 1)",
    );
    this.#notePresence = database.prepare("INSERT OR IGNORE INTO presence (agent, space) VALUES (?, ?)");
    // Where it was named once, and still is: what named it may be gone.
    this.#presence = database.prepare(
      `SELECT space FROM presence WHERE agent = ? AND EXISTS (SELECT 1 FROM space WHERE space.key = presence.space) AND (
         EXISTS (SELECT 1 FROM session WHERE session.space = presence.space AND session.agent = presence.agent)
         OR EXISTS (SELECT 1 FROM item WHERE item.space = presence.space AND item.agent = presence.agent))`,
    );
    this.#spaceEntry = database.prepare("SELECT * FROM space WHERE key = ?");
    this.#sessionEntry = database.prepare(`${SESSION_SELECT} WHERE session.key = ?`);
  }

  findSpace(ref: SpaceRef): SpaceRow | undefined {
    const [, code, name] = spaceParts(ref);
    const row = this.#findSpace.get(code, name);
    return row && readSpace(row, ref);
  }

  /** 0 if there is no such space. */
  versionOf(ref: SpaceRef): number {
    const [, code, name] = spaceParts(ref);
    return Number(this.#versionOf.get(code, name)?.["version"] ?? 0);
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

  /** The keys of every session of these names in these spaces. */
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
    if (found) return found.key;
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

  /** Remembers that something in the space names the agent. */
  noteAgent(agent: number, space: number): void {
    this.#notePresence.run(agent, space);
  }

  /** The spaces whose answers name the agent change. */
  touchWhereNamed(agent: number, transaction: Transaction): void {
    for (const row of this.#presence.all(agent)) transaction.touch(Number(row["space"]));
  }

  entry(key: number): Entry {
    return readEntry(this.#spaceEntry.get(key) as Row);
  }

  sessionEntry(key: number): SessionEntry {
    return readSession(this.#sessionEntry.get(key) as Row);
  }

  /** Entries in the order of their making. */
  page<T extends Entry | SessionEntry>(
    table: "space" | "session",
    conditions: readonly { readonly sql: string; readonly value: string | number }[],
    limit: number,
    cursor: string | undefined,
  ): { readonly items: T[]; readonly next?: string } {
    const after = cursor === undefined ? 0 : parseCursor(cursor);
    const where = ["key > ?", ...conditions.map(({ sql }) => sql)].map((sql) => `${table}.${sql}`).join(" AND ");
    const select = table === "space" ? "SELECT * FROM space" : SESSION_SELECT;
    const rows = this.#database
      .prepare(`${select} WHERE ${where} ORDER BY ${table}.key LIMIT ?`)
      .all(after, ...conditions.map(({ value }) => value), limit + 1);
    const read: (row: Row) => Entry | SessionEntry = table === "space" ? readEntry : readSession;
    const items = rows.slice(0, limit).map((row) => read(row) as T);
    return rows.length > limit ? { items, next: String(rows[limit - 1]?.["key"]) } : { items };
  }
}

function parseCursor(cursor: string): number {
  const key = Number(cursor);
  if (!Number.isSafeInteger(key) || key < 0) throw badCursor(cursor);
  return key;
}

export function badCursor(cursor: string): HoldfastError {
  return new HoldfastError("invalid_input", `"${cursor.slice(0, 40)}" is not a cursor of this list`, {
    hint: "give back `next` of the page before, with the same order",
  });
}
