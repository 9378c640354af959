/** The registry on one connection: spaces (users, agents, teams) and sessions by name. */
import { HoldfastError } from "../../errors.js";
import { newId } from "../../ids.js";
import type { Entry, SessionEntry, SpaceKind, SpaceRef } from "../../types.js";
import { readEntry, readSession, spaceCode, spaceParts } from "./codec.js";
import type { Database, Row, Statement } from "./driver.js";
import { readSpace, type SpaceRow } from "./filter.js";

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
  readonly #findSession: Statement;
  readonly #insertSpace: Statement;
  readonly #insertSession: Statement;
  readonly #spaceEntry: Statement;
  readonly #sessionEntry: Statement;
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
    this.#findSpace = database.prepare("SELECT * FROM space WHERE kind = ? AND name = ?");
    this.#findSession = database.prepare("SELECT key, next_seq FROM session WHERE space = ? AND name = ?");
    this.#insertSpace = database.prepare(
      "INSERT INTO space (id, kind, name, description, created_at, updated_at, version, items, terms) VALUES (?, ?, ?, ?, ?, ?, 0, 0, 0)",
    );
    this.#insertSession = database.prepare(
      "INSERT INTO session (id, space, agent, name, created_at, updated_at, next_seq) VALUES (?, ?, ?, ?, ?, ?, 1)",
    );
    this.#spaceEntry = database.prepare("SELECT * FROM space WHERE key = ?");
    this.#sessionEntry = database.prepare(`${SESSION_SELECT} WHERE session.key = ?`);
  }

  findSpace(ref: SpaceRef): SpaceRow | undefined {
    const [, code, name] = spaceParts(ref);
    const row = this.#findSpace.get(code, name);
    return row && readSpace(row);
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

  createSpace(kind: SpaceKind, name: string, description: string | undefined, now: number): number {
    const id = newId(now);
    return Number(this.#insertSpace.run(id, spaceCode(kind), name, description ?? null, now, now).lastInsertRowid);
  }

  ensureSpace(ref: SpaceRef, now: number): number {
    const [kind, , name] = spaceParts(ref);
    return this.findSpace(ref)?.key ?? this.createSpace(kind, name, undefined, now);
  }

  createSession(space: number, name: string, agent: number | null, now: number): SessionRow {
    const { lastInsertRowid } = this.#insertSession.run(newId(now), space, agent, name, now, now);
    return { key: Number(lastInsertRowid), nextSequence: 1 };
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
