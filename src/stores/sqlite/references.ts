/**
 * Found items by reference: what ranking needs to know of them, and no text.
 *
 * They are read a hundred at a time, for every question. As one JSON text and without joins that takes a third of the time
 * that rows take: names of spaces are few, and ids of sessions never change, so those are kept.
 */
import { LRUCache } from "lru-cache";
import type { Mutable } from "../../mutable.js";
import type { SpaceRef } from "../../types.js";
import type { Scored } from "../store.js";
import { roleOf, spaceRef } from "./codec.js";
import type { Condition, SpaceRow } from "./filter.js";
import type { Member } from "./roster.js";
import type { Statements } from "./statements.js";

const SESSIONS_KEPT = 10_000;

/** A found item, to which only its score is missing. */
export interface Reference {
  readonly key: number;
  readonly spaceKey: number;
  /** With this score; no longer than `until`, if that is before the item ends by itself. */
  scored(score: number, until?: number): Scored;
}

/** What a reference is made of. */
type Referred = Pick<Member, "key" | "id" | "version" | "role" | "occurredAt" | "recordedAt" | "expiresAt" | "session">;

/** The columns that a reference is read from, as a JSON array of them in SQL. */
export const REFERENCE_ROW = `json_array(item.key, item.space, item.id, item.version, item.role, item.occurred_at,
  item.recorded_at, item.expires_at, item.session)`;

export type ReferenceRow = readonly [
  key: number,
  space: number,
  id: string,
  version: number,
  role: number | null,
  occurredAt: number,
  recordedAt: number,
  expiresAt: number | null,
  session: number | null,
];

interface Home {
  readonly ref: SpaceRef;
  readonly retentionMs: number;
}

export class References {
  readonly #statements: Statements;
  readonly #sessions = new LRUCache<number, string>({ max: SESSIONS_KEPT });

  constructor(statements: Statements) {
    this.#statements = statements;
  }

  /** Those of the items that meet the condition, in no order. Requires a snapshot. */
  read(keys: readonly number[], condition: Condition): Reference[] {
    if (keys.length === 0) return [];
    const statement = this.#statements.get(
      `SELECT json_group_array(${REFERENCE_ROW}) AS rows
       FROM json_each(?) AS wanted CROSS JOIN item ON item.key = wanted.value WHERE ${condition.sql}`,
    );
    const read = statement.get(JSON.stringify(keys), ...condition.values)?.["rows"];
    return this.from(JSON.parse(String(read)) as ReferenceRow[]);
  }

  /** References from rows that were read already, in their order. Requires the snapshot that they were read on. */
  from(rows: readonly ReferenceRow[]): Reference[] {
    const homes = this.#homes(new Set(rows.map(([, space]) => space)));
    this.#readSessions(rows.map((row) => row[8]));
    return rows.map(([key, space, id, version, role, occurredAt, recordedAt, expiresAt, session]) => {
      const item = { key, id, version, role, occurredAt, recordedAt, expiresAt, session };
      return this.#reference(item, space, homes.get(space) as Home); // an item's space exists in the same snapshot
    });
  }

  /** References to members of a space. Requires the snapshot that they belong to. */
  of(members: readonly Referred[], { key, ref, retentionMs }: SpaceRow): Reference[] {
    this.#readSessions(members.map(({ session }) => session));
    return members.map((member) => this.#reference(member, key, { ref, retentionMs: retentionMs ?? Infinity }));
  }

  #reference(item: Referred, spaceKey: number, { ref: space, retentionMs }: Home): Reference {
    const { key, id, version, role, occurredAt, recordedAt, expiresAt, session } = item;
    const ends = Math.min(expiresAt ?? Infinity, recordedAt + retentionMs);
    const sessionId = session === null ? undefined : this.#sessions.get(session);
    return {
      key,
      spaceKey,
      scored: (score, until = Infinity) => {
        const scored: Mutable<Scored> = { space, key, id, version, score, occurredAt };
        if (role !== null) scored.role = roleOf(role);
        if (sessionId !== undefined) scored.sessionId = sessionId;
        if (Math.min(ends, until) !== Infinity) scored.until = Math.min(ends, until);
        return scored;
      },
    };
  }

  #homes(keys: ReadonlySet<number>): ReadonlyMap<number, Home> {
    const statement = this.#statements.get("SELECT kind, name, retention_ms FROM space WHERE key = ?");
    const homes = new Map<number, Home>();
    for (const key of keys) {
      const row = statement.get(key);
      if (!row) continue;
      const retentionMs = row["retention_ms"] === null ? Infinity : Number(row["retention_ms"]);
      homes.set(key, { ref: spaceRef(row["kind"], row["name"]), retentionMs });
    }
    return homes;
  }

  #readSessions(keys: readonly (number | null)[]): void {
    const unknown = new Set<number>();
    for (const key of keys) if (key !== null && !this.#sessions.has(key)) unknown.add(key);
    const statement = this.#statements.get("SELECT id FROM session WHERE key = ?");
    for (const key of unknown) this.#sessions.set(key, String(statement.get(key)?.["id"]));
  }
}
