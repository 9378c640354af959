/** The rows of facts inside a write transaction: the record, its spans and its sources. Does not handle items. */

import type { HeldSpan, Standing } from "../../fact-rules.js";
import { FACT_STATES } from "../../facts.js";
import type { Database, Row, Statement } from "../file/driver.js";

export const stateCode = (state: Standing["state"]): number => FACT_STATES.indexOf(state);

export interface FactRecord extends Standing {
  readonly key: number;
  readonly space: number;
  readonly id: string;
  readonly category: string;
  readonly content: string;
  readonly keptFrom: number;
  readonly expiresAt: number | null;
}

/** A source of a fact: a message by id or a session by key. If neither is given, the source is the host itself. */
export interface SourceRow {
  readonly message?: string;
  readonly session?: number;
}

export class FactRecords {
  readonly #find: Statement;
  readonly #exists: Statement;
  readonly #any: Statement;
  readonly #spans: Statement;
  readonly #insert: Statement;
  readonly #update: Statement;
  readonly #touch: Statement;
  readonly #delete: Statement;
  readonly #deleteSpans: Statement;
  readonly #insertSpan: Statement;
  readonly #hasSource: Statement;
  readonly #insertSource: Statement;
  readonly #sourcesLeft: Statement;
  readonly #deleteSources: Statement;
  readonly #takeMessage: Statement;
  readonly #takeSession: Statement;
  readonly #circle: Statement;
  readonly #byKey: Statement;

  constructor(database: Database) {
    const select = "SELECT * FROM fact WHERE";
    this.#find = database.prepare(`${select} id = ? AND space = ?`);
    this.#byKey = database.prepare(`${select} key = ?`);
    this.#exists = database.prepare("SELECT 1 FROM fact WHERE id = ? AND space = ?");
    this.#any = database.prepare("SELECT 1 FROM fact WHERE space = ? LIMIT 1");
    this.#spans = database.prepare("SELECT * FROM fact_span WHERE fact = ? ORDER BY start");
    this.#insert = database.prepare(
      `INSERT INTO fact
         (space, id, category, content, confidence, pinned, state, recorded_at, updated_at, kept_from, version)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?8, ?8, ?8, 1)`,
    );
    this.#update = database.prepare(
      `UPDATE fact SET confidence = ?, pinned = ?, state = ?, updated_at = ?, kept_from = ?, expires_at = ?,
         version = version + 1 WHERE key = ?`,
    );
    this.#touch = database.prepare("UPDATE fact SET updated_at = ?, version = version + 1 WHERE key = ?");
    this.#delete = database.prepare("DELETE FROM fact WHERE key = ?");
    this.#deleteSpans = database.prepare("DELETE FROM fact_span WHERE fact = ?");
    this.#insertSpan = database.prepare(
      'INSERT INTO fact_span (fact, start, "end", superseded_by) VALUES (?, ?, ?, ?)',
    );
    this.#hasSource = database.prepare("SELECT 1 FROM fact_source WHERE fact = ? AND message IS ? AND session IS ?");
    this.#insertSource = database.prepare(
      "INSERT INTO fact_source (fact, space, message, session) VALUES (?, ?, ?, ?)",
    );
    this.#sourcesLeft = database.prepare("SELECT 1 FROM fact_source WHERE fact = ? LIMIT 1");
    this.#deleteSources = database.prepare("DELETE FROM fact_source WHERE fact = ?");
    this.#takeMessage = database.prepare("DELETE FROM fact_source WHERE message = ? AND space = ? RETURNING fact");
    this.#takeSession = database.prepare("DELETE FROM fact_source WHERE session = ? AND fact = ?");
    this.#circle = database.prepare(
      `WITH RECURSIVE rests (id) AS (
         SELECT ?1 UNION
         SELECT fact_source.message FROM rests
           JOIN fact ON fact.id = rests.id AND fact.space = ?2
           JOIN fact_source ON fact_source.fact = fact.key
           WHERE fact_source.message IS NOT NULL
       ) SELECT 1 FROM rests WHERE id = ?3`,
    );
  }

  /** The fact with this id, even if it has expired. */
  find(id: string, space: number): FactRecord | undefined {
    const row = this.#find.get(id, space);
    return row && this.#read(row);
  }

  /** Requires that the fact exists. */
  get(key: number): FactRecord {
    return this.#read(this.#byKey.get(key) as Row);
  }

  exists(id: string, space: number): boolean {
    return this.#exists.get(id, space) !== undefined;
  }

  anyIn(space: number): boolean {
    return this.#any.get(space) !== undefined;
  }

  #read(row: Row): FactRecord {
    const key = Number(row["key"]);
    return {
      key,
      space: Number(row["space"]),
      id: String(row["id"]),
      category: String(row["category"]),
      content: String(row["content"]),
      confidence: Number(row["confidence"]),
      pinned: row["pinned"] === 1,
      state: FACT_STATES[Number(row["state"])] ?? "ended",
      spans: this.#spans.all(key).map(readHeld),
      keptFrom: Number(row["kept_from"]),
      expiresAt: row["expires_at"] === null ? null : Number(row["expires_at"]),
    };
  }

  /** Returns the key of the new fact. */
  insert(
    fact: Pick<FactRecord, "space" | "id" | "category" | "content">,
    { confidence, pinned, state, spans }: Standing,
    now: number,
  ): number {
    const texts = [fact.space, fact.id, fact.category, fact.content] as const;
    const { lastInsertRowid } = this.#insert.run(...texts, confidence, pinned ? 1 : 0, stateCode(state), now);
    const key = Number(lastInsertRowid);
    this.#writeSpans(key, spans);
    return key;
  }

  /** Writes the next version of the fact. */
  update(
    known: FactRecord,
    { confidence, pinned, state, spans }: Standing,
    kept: Pick<FactRecord, "keptFrom" | "expiresAt">,
    now: number,
  ): void {
    const { key } = known;
    this.#update.run(confidence, pinned ? 1 : 0, stateCode(state), now, kept.keptFrom, kept.expiresAt, key);
    if (spans === known.spans) return;
    this.#deleteSpans.run(key);
    this.#writeSpans(key, spans);
  }

  #writeSpans(key: number, spans: readonly HeldSpan[]): void {
    for (const { from, to = null, by = null } of spans) this.#insertSpan.run(key, from, to, by);
  }

  /** Increments the version after a change of the sources. */
  touch(key: number, now: number): void {
    this.#touch.run(now, key);
  }

  remove(key: number): void {
    this.#deleteSources.run(key);
    this.#deleteSpans.run(key);
    this.#delete.run(key);
  }

  hasSource(key: number, { message = null, session = null }: Nullable<SourceRow>): boolean {
    return this.#hasSource.get(key, message, session) !== undefined;
  }

  addSource(key: number, space: number, { message = null, session = null }: Nullable<SourceRow>): void {
    this.#insertSource.run(key, space, message, session);
  }

  restsOnAnything(key: number): boolean {
    return this.#sourcesLeft.get(key) !== undefined;
  }

  /** Removes this message from the sources of all facts. Returns the keys of those facts. */
  takeMessage(id: string, space: number): number[] {
    return this.#takeMessage.all(id, space).map((row) => Number(row["fact"]));
  }

  takeSession(session: number, fact: number): void {
    this.#takeSession.run(session, fact);
  }

  /** Whether the message is this fact, or depends on it through other facts. */
  isCircular(message: string, space: number, id: string): boolean {
    return this.#circle.get(message, space, id) !== undefined;
  }
}

type Nullable<T> = { readonly [Key in keyof T]?: T[Key] | null };

function readHeld(row: Row): HeldSpan {
  const { end, superseded_by: by } = row;
  return {
    from: Number(row["start"]),
    ...(end !== null && { to: Number(end) }),
    ...(by !== null && { by: Number(by) }),
  };
}

/** Whether a fact without an item is still retained: neither its expiry nor the space's retention has passed. */
export function isKept({ keptFrom, expiresAt }: FactRecord, retentionMs: number | undefined, now: number): boolean {
  if (expiresAt !== null && expiresAt <= now) return false;
  return retentionMs === undefined || keptFrom + retentionMs > now;
}
