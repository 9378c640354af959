/**
 * Found items by reference: what ranking needs to know of them, and no text.
 *
 * They are read a hundred at a time, for every question. As one JSON text and without joins that takes a third of the time
 * that rows take: names of spaces are few, and ids of sessions never change, so those are kept.
 */
import { LRUCache } from "lru-cache";
import type { SpaceRef } from "../../types.js";
import type { Scored } from "../store.js";
import { roleOf, spaceRef } from "./codec.js";
import type { Condition } from "./filter.js";
import type { Statements } from "./statements.js";

const SESSIONS_KEPT = 10_000;

/** All of a found item but its score. */
export type Reference = Omit<Scored, "score"> & { readonly spaceKey: number };

type ReferenceRow = readonly [
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
      `SELECT json_group_array(json_array(item.key, item.space, item.id, item.version, item.role, item.occurred_at,
         item.recorded_at, item.expires_at, item.session)) AS rows
       FROM json_each(?) AS wanted CROSS JOIN item ON item.key = wanted.value WHERE ${condition.sql}`,
    );
    const read = statement.get(JSON.stringify(keys), ...condition.values)?.["rows"];
    const rows = JSON.parse(String(read)) as ReferenceRow[];
    const homes = this.#homes(new Set(rows.map(([, space]) => space)));
    this.#readSessions(rows);
    return rows.map((row) => this.#reference(row, homes));
  }

  #reference(row: ReferenceRow, homes: ReadonlyMap<number, Home>): Reference {
    const [key, space, id, version, role, occurredAt, recordedAt, expiresAt, session] = row;
    const home = homes.get(space) as Home; // an item's space exists in the same snapshot
    const until = Math.min(expiresAt ?? Infinity, recordedAt + home.retentionMs);
    const sessionId = session === null ? undefined : this.#sessions.get(session);
    return {
      space: home.ref,
      spaceKey: space,
      key,
      id,
      version,
      ...(role !== null && { role: roleOf(role) }),
      occurredAt,
      ...(sessionId !== undefined && { sessionId }),
      ...(until !== Infinity && { until }),
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

  #readSessions(rows: readonly ReferenceRow[]): void {
    const unknown = new Set<number>();
    for (const row of rows) if (row[8] !== null && !this.#sessions.has(row[8])) unknown.add(row[8]);
    const statement = this.#statements.get("SELECT id FROM session WHERE key = ?");
    for (const key of unknown) this.#sessions.set(key, String(statement.get(key)?.["id"]));
  }
}
